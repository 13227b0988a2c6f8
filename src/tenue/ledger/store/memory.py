"""A ledger that ends with its process, for tests and experiments."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import count
from typing import TypeVar

from ...errors import LedgerFault, Refused
from .. import facts
from ..contract import Ledger, closed
from ..facts import Entry
from ..memory_store import Dictionaries
from ..results import Verification
from ..totals import Shelf
from ..transactions.journal import Journal
from ..verify import Anchor, inspect, new_secret

T = TypeVar("T")
_numbers = count(1)


class Memory(Ledger):
    """A ledger in memory: the whole contract except durability.

    A forked child process would have a copy of the budget and could spend it again, so every use
    is refused there.

    Example
        >>> ledger = Memory()
        >>> _ = ledger.open_dataset("census", total=5, neighbours="replace")
        >>> print(ledger.balance())
        census (replace): epsilon 0 of 5 spent, 5 remains
    """

    def __init__(self) -> None:
        self._rows = Dictionaries()
        self._turn = threading.RLock()
        self._closed = False
        self._process = os.getpid()
        self._owner = f"memory-{next(_numbers)}"

    @cached_property
    def _drawn_secret(self) -> bytes:
        return new_secret()

    def _secret(self) -> bytes:
        with self._turn:
            return self._drawn_secret

    def _write(self, work: Callable[[Journal], T]) -> T:
        self._usable()
        with self._turn:
            journal = Journal(
                self._rows, self._rows.head(), lambda: self._owner, self._owner.__eq__
            )
            try:
                result = work(journal)
            except Refused:
                self._rows.take(journal)
                raise
            self._rows.take(journal)
            return result

    def _read(self, look: Callable[[Shelf], T]) -> T:
        self._usable()
        with self._turn:
            return look(self._rows)

    def _entries(self) -> Iterator[Entry]:
        self._usable()
        for sequence, text, link in list(self._rows.entries):
            yield facts.entry(sequence, text, link)

    def _inspect(self, anchor: Anchor | None) -> Verification:
        self._usable()
        with self._turn:
            return inspect(self._rows.lines(), self._rows.totals(), anchor)

    def close(self) -> None:
        self._closed = True

    def _usable(self) -> None:
        if self._closed:
            raise closed()
        if os.getpid() != self._process:
            raise LedgerFault("a ledger in memory cannot be shared with a child process")
