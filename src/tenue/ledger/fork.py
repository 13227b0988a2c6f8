"""Calls objects before and after a fork, because a child must not use its parent's connections."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Protocol


class Forkable(Protocol):
    """An object that must change around a fork."""

    def before_fork(self) -> None: ...
    def after_fork_in_parent(self) -> None: ...
    def after_fork_in_child(self) -> None: ...


_watched: weakref.WeakSet[Forkable] = weakref.WeakSet()
_forking: list[Forkable] = []
_turn = threading.Lock()


def watch(thing: Forkable) -> None:
    """Calls `thing` around every fork that Python makes, without keeping it alive."""
    with _turn:
        _watched.add(thing)


class InChild:
    """Calls a method in a forked child, as long as both this and the method's object live."""

    def __init__(self, method: Callable[[], None]) -> None:
        self._method = weakref.WeakMethod(method)
        watch(self)

    def before_fork(self) -> None:
        pass

    def after_fork_in_parent(self) -> None:
        pass

    def after_fork_in_child(self) -> None:
        method = self._method()
        if method is not None:
            method()


def _before() -> None:
    _turn.acquire()
    _forking[:] = list(_watched)
    for thing in _forking:
        thing.before_fork()


def _after_in_parent() -> None:
    for thing in _forking:
        thing.after_fork_in_parent()
    _forking.clear()
    _turn.release()


def _after_in_child() -> None:
    for thing in _forking:
        thing.after_fork_in_child()
    _forking.clear()
    _turn.release()


os.register_at_fork(
    before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child
)
