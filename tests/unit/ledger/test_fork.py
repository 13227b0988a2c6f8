from __future__ import annotations

import os

from tenue.ledger.fork import watch


class Thing:
    def __init__(self) -> None:
        self.calls: list[str] = []

    def before_fork(self) -> None:
        self.calls.append("before")

    def after_fork_in_parent(self) -> None:
        self.calls.append("parent")

    def after_fork_in_child(self) -> None:
        self.calls.append("child")


def test_what_is_watched_is_told_on_both_sides() -> None:
    thing, forgotten = Thing(), Thing()
    watch(thing)
    watch(forgotten)
    calls = forgotten.calls
    del forgotten
    child = os.fork()
    if child == 0:
        os._exit(0 if thing.calls == ["before", "child"] else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert thing.calls == ["before", "parent"]
    assert calls == []
