from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tenue

# in a process of its own: a fork of the one that runs the tests would copy its threads' locks
SCRIPT = """
import os
from tenue.ledger.fork import watch

class Thing:
    def __init__(self): self.calls = []
    def before_fork(self): self.calls.append("before")
    def after_fork_in_parent(self): self.calls.append("parent")
    def after_fork_in_child(self): self.calls.append("child")

thing, forgotten = Thing(), Thing()
watch(thing)
watch(forgotten)
calls = forgotten.calls
del forgotten
for turn in (1, 2):
    child = os.fork()
    if child == 0:
        os._exit(0 if thing.calls[-2:] == ["before", "child"] else 1)
    assert os.waitpid(child, 0)[1] == 0
assert thing.calls == ["before", "parent"] * 2, thing.calls
assert calls == []
"""


@pytest.mark.any_draw("draws nothing")
def test_what_is_watched_is_told_on_both_sides() -> None:
    subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "PYTHONPATH": str(Path(tenue.__file__).parents[1])},
        check=True,
        timeout=60,
    )
