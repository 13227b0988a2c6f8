"""Single flight: whoever asks a question that is being answered waits for that answer.

Here is what one process knows of reservations in flight: which thread opened one, and whom to wake
when it ends. Other processes learn from the ledger that it ended, by looking again and again.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from itertools import repeat
from typing import NamedTuple

from ..fork import InChild

PATIENCE = 600.0
"""Seconds to wait for an answer that a living process owes, before the question is refused."""

LIVENESS = 0.5
"""Seconds after which a waiter asks again whether the process that owes the answer still lives."""

_FIRST, _LONGEST = 0.004, 0.1
_GOLDEN = 0.6180339887498949


class Flight(NamedTuple):
    """A reservation of a living owner that is not settled yet. No two ledgers share an owner."""

    owner: str
    sequence: int


class Flights:
    """The reservations in flight that this process opened or waits for."""

    def __init__(self) -> None:
        self._begin_anew()
        self._in_child = InChild(self._begin_anew)

    def opened(self, flight: Flight) -> None:
        """Says that the calling thread has reserved it."""
        self._openers[flight] = weakref.ref(threading.current_thread())

    def is_own(self, flight: Flight) -> bool:
        """Whether the calling thread has reserved it: to wait for it would be to wait for ever."""
        opener = self._openers.get(flight)
        return opener is not None and opener() is threading.current_thread()

    def ended(self, flight: Flight) -> None:
        """Wakes everybody in this process who waits for it."""
        self._openers.pop(flight, None)
        with self._turn:
            signal = self._signals.get(flight)
        if signal is not None:
            signal.set()

    def signal(self, flight: Flight) -> threading.Event:
        """Is set when this process ends the flight; kept for as long as somebody holds it."""
        with self._turn:
            found = self._signals.get(flight)
            if found is None:
                found = self._signals[flight] = threading.Event()
            return found

    def _begin_anew(self) -> None:
        """In a forked child: what its parent opened is another owner's."""
        self._turn = threading.Lock()
        self._openers: dict[Flight, weakref.ref[threading.Thread]] = {}
        self._signals: weakref.WeakValueDictionary[Flight, threading.Event] = (
            weakref.WeakValueDictionary()
        )


FLIGHTS = Flights()


def pauses() -> Iterator[float]:
    """Seconds between looks: short at first, then longer; threads that begin together spread."""
    spread = 0.5 + threading.get_native_id() * _GOLDEN % 1
    pause = _FIRST
    while pause < _LONGEST:
        yield pause * spread
        pause *= 1.5
    yield from repeat(_LONGEST * spread)
