"""Calls objects before and after a fork, because a child must not use its parent's connections."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable


class Forkable:
    """An object that is called around every fork, once it is watched."""

    def _before_fork(self) -> None:
        """In the parent."""

    def _after_fork_in_parent(self) -> None:
        """In the parent, also where the fork failed."""

    def _after_fork_in_child(self) -> None:
        """In the child, which has no other thread."""


_watched: weakref.WeakSet[Forkable] = weakref.WeakSet()
_forking: list[Forkable] = []
_turn = threading.Lock()


def watch(thing: Forkable) -> None:
    """Calls `thing` around every fork that Python makes, without keeping it alive."""
    with _turn:
        _watched.add(thing)


def _before() -> None:
    _turn.acquire()
    _forking[:] = list(_watched)
    for thing in _forking:
        thing._before_fork()


def _after(call: Callable[[Forkable], None]) -> None:
    for thing in _forking:
        call(thing)
    _forking.clear()
    _turn.release()


os.register_at_fork(
    before=_before,
    after_in_parent=lambda: _after(lambda thing: thing._after_fork_in_parent()),
    after_in_child=lambda: _after(lambda thing: thing._after_fork_in_child()),
)
