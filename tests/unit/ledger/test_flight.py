"""One question is answered once, also after a fork."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from itertools import islice
from pathlib import Path

import pytest

import tenue
from tenue.ledger.transactions.flight import Flight, Flights, pauses

# in a process of its own: a fork of the one that runs the tests would copy its threads' locks
SCRIPT = """
import os
from tenue.ledger.fork import watch

class Thing:
    def __init__(self): self.calls = []
    def _before_fork(self): self.calls.append("before")
    def _after_fork_in_parent(self): self.calls.append("parent")
    def _after_fork_in_child(self): self.calls.append("child")

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


# -- What one process knows of flights: who opened one, and who is woken when it ends --------------

ONE, TWO = Flight("a", 1), Flight("b", 1)


def test_a_flight_is_its_threads_own_until_it_ends() -> None:
    flights = Flights()
    assert not flights.is_own(ONE)
    flights.opened(ONE)
    assert flights.is_own(ONE)
    assert not flights.is_own(TWO)  # of another owner
    seen: list[bool] = []
    other = threading.Thread(target=lambda: seen.append(flights.is_own(ONE)))
    other.start()
    other.join()
    assert seen == [False]
    flights.ended(ONE)
    assert not flights.is_own(ONE)


def test_a_thread_that_ended_owns_nothing() -> None:
    """The wrong one that knows threads by number takes a later thread of that number for it."""
    flights = Flights()
    numbers: list[int] = []
    for turn in range(50):
        seen: list[bool] = []

        def work(turn: int = turn, seen: list[bool] = seen) -> None:
            numbers.append(threading.get_ident())
            seen.append(flights.is_own(ONE))
            if turn == 0:
                flights.opened(ONE)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert seen == [False]
    assert numbers.count(numbers[0]) > 1


def test_who_waits_is_woken_and_nothing_is_kept() -> None:
    flights = Flights()
    signal = flights.signal(ONE)
    assert flights.signal(ONE) is signal
    assert flights.signal(TWO) is not signal
    flights.ended(ONE)
    assert signal.is_set()
    del signal
    gc.collect()
    assert not flights.signal(ONE).is_set()
    flights.ended(TWO)  # of which nobody heard
    assert len(flights._signals) == 0
    assert flights._openers == {}


def test_a_child_begins_anew() -> None:
    flights = Flights()
    flights.opened(ONE)
    flights._turn.acquire()  # another thread of the parent had it
    flights._after_fork_in_child()
    assert not flights.is_own(ONE)
    assert not flights.signal(ONE).is_set()


def test_looks_become_rarer_and_never_rare() -> None:
    found = list(islice(pauses(), 40))
    assert found == sorted(found)
    assert 0.002 <= found[0] <= 0.006
    assert 0.05 <= found[-1] == found[-2] <= 0.15
