"""A ledger that is forgotten with its process: for tests and for trying things out."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import TypeVar

from ..errors import LedgerFault, Refused
from .contract import Ledger, Rows, closed
from .fact import Entry, Reserved
from .proof import chain
from .proof.anchor import Anchor
from .proof.inspection import Line, Stored, inspect
from .record import Verification
from .row import ANSWERED, OPEN, RETURNED, Account, Dataset, Person, Ticket
from .transaction.journal import Journal

T = TypeVar("T")
_numbers = count(1)


class _Dictionaries:
    """The rows of a ledger in plain dictionaries."""

    def __init__(self) -> None:
        self.entries: list[tuple[int, str, bytes]] = []
        self._datasets: dict[str, Dataset] = {}
        self._accounts: dict[tuple[str, str], Account] = {}
        self._persons: dict[tuple[str, str, str], Person] = {}
        self._questions: dict[tuple[str, str], int] = {}
        self._releases: dict[tuple[str, str], int] = {}
        self._protocols: dict[str, str] = {}
        self._tickets: dict[int, Ticket] = {}
        self._answers: dict[int, bytes] = {}
        self._names: dict[bytes, int] = {}
        self._caches: dict[bytes, int] = {}
        self._open: dict[int, Ticket] = {}

    def head(self) -> tuple[int, bytes]:
        return (self.entries[-1][0], self.entries[-1][2]) if self.entries else (0, chain.GENESIS)

    def datasets(self) -> list[str]:
        return sorted(self._datasets)

    def dataset(self, name: str) -> Dataset | None:
        return self._datasets.get(name)

    def account(self, dataset: str, analyst: str) -> Account | None:
        return self._accounts.get((dataset, analyst))

    def accounts(self, dataset: str) -> dict[str, Account]:
        return {who: kept for (name, who), kept in self._accounts.items() if name == dataset}

    def person(self, dataset: str, analyst: str, person: str) -> Person | None:
        return self._persons.get((dataset, analyst, person))

    def persons(self, dataset: str, analyst: str) -> dict[str, Person]:
        return {
            person: kept
            for (name, who, person), kept in self._persons.items()
            if name == dataset and who == analyst
        }

    def most(self, dataset: str, analyst: str, besides: Iterable[str]) -> Person:
        out = set(besides)
        kept = [each for who, each in self.persons(dataset, analyst).items() if who not in out]
        return Person(
            max((each.nano for each in kept), default=0),
            max((each.atto for each in kept), default=0),
        )

    def times(self, dataset: str, question_name: str) -> int:
        return self._questions.get((dataset, question_name), 0)

    def releases(self, dataset: str) -> dict[str, int]:
        return {digest: at for (name, digest), at in self._releases.items() if name == dataset}

    def protocol(self, dataset: str) -> str:
        return self._protocols.get(dataset, "")

    def ticket(self, sequence: int) -> Ticket | None:
        return self._tickets.get(sequence)

    def ticket_named(self, name: bytes) -> Ticket | None:
        sequence = self._names.get(name)
        return None if sequence is None else self._tickets[sequence]

    def open_tickets(self) -> list[Ticket]:
        return list(self._open.values())

    def cached(self, cache: bytes) -> int | None:
        return self._caches.get(cache)

    def reserved(self, sequence: int) -> Reserved:
        fact = chain.read(sequence, self.entries[sequence - 1][1])[1]
        if not isinstance(fact, Reserved):
            raise LedgerFault(f"there is no reservation {sequence}")
        return fact

    def answer(self, sequence: int) -> bytes:
        return self._answers[sequence]

    def take(self, journal: Journal) -> None:
        """Takes over what a transaction wrote."""
        totals = journal.totals
        self.entries.extend(journal.written)
        self._datasets.update(totals.datasets)
        self._accounts.update(totals.accounts)
        self._persons.update(totals.persons)
        self._questions.update(totals.questions)
        self._releases.update(totals.releases)
        self._protocols.update(totals.protocols)
        self._answers.update(totals.answers)
        for sequence, ticket in totals.tickets.items():
            self._tickets[sequence] = ticket
            self._open.pop(sequence, None)
            if ticket.outcome == OPEN:
                self._open[sequence] = ticket
            if ticket.name is not None:
                if ticket.outcome != RETURNED:
                    self._names[ticket.name] = sequence
                elif self._names.get(ticket.name) == sequence:
                    del self._names[ticket.name]
            if ticket.outcome == ANSWERED and ticket.cache and ticket.settled:
                self._caches[ticket.cache] = max(ticket.settled, self._caches.get(ticket.cache, 0))

    def lines(self) -> Iterator[Line]:
        for sequence, text, link in self.entries:
            ticket = self._tickets.get(sequence) or (None,) * 6
            yield (sequence, text, link, *ticket, self._answers.get(sequence))

    def totals(self) -> Stored:
        return Stored(
            self._datasets,
            self._accounts,
            self._persons,
            self._questions,
            self._releases,
            self._protocols,
            len(self._tickets),
            len(self._answers),
        )


class Memory(Ledger):
    """A ledger in memory: the whole contract but durability.

    A child process after a fork would hold a copy of the budget and could spend it once more, so
    there it refuses every use.

    Example
        >>> ledger = Memory()
        >>> _ = ledger.open_dataset("census", total=5, neighbours="replace")
        >>> print(ledger.balance())
        census (replace): epsilon 0 of 5 spent, 5 remains
    """

    def __init__(self) -> None:
        self._rows = _Dictionaries()
        self._turn = threading.RLock()
        self._closed = False
        self._process = os.getpid()
        self._owner = f"memory-{next(_numbers)}"

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

    def _read(self, look: Callable[[Rows], T]) -> T:
        self._usable()
        with self._turn:
            return look(self._rows)

    def _entries(self) -> Iterator[Entry]:
        self._usable()
        for sequence, text, link in list(self._rows.entries):
            yield chain.entry(sequence, text, link)

    def _inspect(self, anchor: Anchor | None) -> Verification:
        self._usable()
        with self._turn:
            return inspect(self._rows.lines(), self._rows.totals(), anchor)

    def _hold_to(self, anchor: Anchor) -> None:
        with self._turn:
            entries = self._rows.entries
            at = anchor.entries
            link = chain.GENESIS if at == 0 else entries[at - 1][2] if at <= len(entries) else None
            missed = anchor.missed_by(len(entries), link)
        if missed:
            raise LedgerFault(missed)

    def close(self) -> None:
        self._closed = True

    def _usable(self) -> None:
        if self._closed:
            raise closed()
        if os.getpid() != self._process:
            raise LedgerFault("a ledger in memory cannot be shared with a child process")
