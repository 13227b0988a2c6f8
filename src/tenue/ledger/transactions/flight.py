"""Single flight: a request for an answer that is being computed waits for it.

A process knows of its reservations in flight which thread opened one, and which threads to wake
when it ends. Other processes poll the ledger.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from itertools import repeat
from typing import NamedTuple

from ..fork import Forkable, watch

PATIENCE = 600.0
"""Seconds to wait for the answer of a living process, before the question is refused."""

LIVENESS = 0.5
"""Seconds after which a waiter checks again whether the answering process is alive."""

_FIRST, _LONGEST = 0.004, 0.1
_GOLDEN = 0.6180339887498949


class Flight(NamedTuple):
    """A reservation of a living owner that is not settled yet. No two ledgers share an owner."""

    owner: str
    sequence: int


class Flights(Forkable):
    """The reservations in flight that this process opened or waits for."""

    def __init__(self) -> None:
        self._after_fork_in_child()
        watch(self)

    def opened(self, flight: Flight) -> None:
        """Records that the calling thread has reserved it."""
        self._openers[flight] = weakref.ref(threading.current_thread())

    def is_own(self, flight: Flight) -> bool:
        """Whether the calling thread has reserved it, and so would wait for ever."""
        opener = self._openers.get(flight)
        return opener is not None and opener() is threading.current_thread()

    def ended(self, flight: Flight) -> None:
        """Wakes every thread of this process that waits for it."""
        self._openers.pop(flight, None)
        with self._turn:
            signal = self._signals.get(flight)
        if signal is not None:
            signal.set()

    def signal(self, flight: Flight) -> threading.Event:
        """An event that is set when this process ends the flight; kept while it is referenced."""
        with self._turn:
            found = self._signals.get(flight)
            if found is None:
                found = self._signals[flight] = threading.Event()
            return found

    def _after_fork_in_child(self) -> None:
        """Begins anew: the parent's flights belong to another owner."""
        self._turn = threading.Lock()
        self._openers: dict[Flight, weakref.ref[threading.Thread]] = {}
        self._signals: weakref.WeakValueDictionary[Flight, threading.Event] = (
            weakref.WeakValueDictionary()
        )


FLIGHTS = Flights()


def pauses() -> Iterator[float]:
    """Seconds between two polls, growing; they differ between threads that begin together."""
    spread = 0.5 + threading.get_native_id() * _GOLDEN % 1
    pause = _FIRST
    while pause < _LONGEST:
        yield pause * spread
        pause *= 1.5
    yield from repeat(_LONGEST * spread)
