"""A shelf of plain dictionaries, for ledgers in memory and for recounts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import TYPE_CHECKING

from ..errors import LedgerFault
from ..privacy.loss import NOTHING
from . import facts
from .facts import Reserved
from .totals import (
    ANSWERED,
    OPEN,
    RETURNED,
    Account,
    Books,
    Dataset,
    Line,
    Person,
    Source,
    Stored,
    Ticket,
    within,
)

if TYPE_CHECKING:
    from .transactions.journal import Journal


class Dictionaries:
    """The rows of a ledger in plain dictionaries."""

    def __init__(self) -> None:
        self.entries: list[tuple[int, str, bytes]] = []
        self._books = Books()
        self._tickets: dict[int, Ticket] = {}
        self._answers: dict[int, bytes] = {}
        self._names: dict[bytes, int] = {}
        self._answered: dict[bytes, int] = {}  # the ticket answered last, by cache name
        self._open: dict[int, Ticket] = {}

    def head(self) -> tuple[int, bytes]:
        return (self.entries[-1][0], self.entries[-1][2]) if self.entries else (0, facts.GENESIS)

    def link(self, sequence: int) -> bytes | None:
        if sequence == 0:
            return facts.GENESIS
        return self.entries[sequence - 1][2] if sequence <= len(self.entries) else None

    def datasets(self) -> list[str]:
        return sorted(self._books.datasets)

    def dataset(self, name: str) -> Dataset | None:
        return self._books.datasets.get(name)

    def account(self, dataset: str, analyst: str) -> Account | None:
        return self._books.accounts.get((dataset, analyst))

    def accounts(self, dataset: str) -> dict[str, Account]:
        return within(self._books.accounts, dataset)

    def person(self, dataset: str, analyst: str, person: str) -> Person | None:
        return self._books.persons.get((dataset, analyst, person))

    def persons(self, dataset: str, analyst: str) -> dict[str, Person]:
        return within(self._books.persons, dataset, analyst)

    def most(self, dataset: str, analyst: str, besides: Iterable[str]) -> Person:
        most = NOTHING
        for who in self.persons(dataset, analyst).keys() - set(besides):
            most = most.most(self._books.persons[dataset, analyst, who].spent)
        return Person(*most.stored)

    def times(self, dataset: str, question_name: str) -> int:
        return self._books.questions.get((dataset, question_name), 0)

    def releases(self, dataset: str) -> dict[str, int]:
        return within(self._books.releases, dataset)

    def protocol(self, dataset: str) -> str:
        return self._books.protocols.get(dataset, "")

    def source(self, dataset: str) -> Source | None:
        return self._books.sources.get(dataset)

    def ticket(self, sequence: int) -> Ticket | None:
        return self._tickets.get(sequence)

    def ticket_named(self, name: bytes) -> Ticket | None:
        sequence = self._names.get(name)
        return None if sequence is None else self._tickets[sequence]

    def open_tickets(self) -> list[Ticket]:
        return list(self._open.values())

    def tickets_cached(self, cache: bytes) -> list[Ticket]:
        answered = self._answered.get(cache)
        found = [ticket for ticket in self._open.values() if ticket.cache == cache]
        return found if answered is None else [self._tickets[answered], *found]

    def text(self, sequence: int) -> str:
        return self.entries[sequence - 1][1]

    def texts_with(self, part: str) -> list[tuple[int, str]]:
        return [(sequence, text) for sequence, text, _ in self.entries if part in text]

    def reserved(self, sequence: int) -> Reserved:
        there = 0 < sequence <= len(self.entries)
        fact = facts.read(sequence, self.entries[sequence - 1][1])[1] if there else None
        if not isinstance(fact, Reserved):
            raise LedgerFault(f"there is no reservation {sequence}")
        return fact

    def answer(self, sequence: int) -> bytes:
        return self._answers[sequence]

    def take(self, journal: Journal) -> None:
        """Stores what a transaction wrote."""
        totals = journal.totals
        self.entries.extend(journal.written)
        for each in fields(Books):
            getattr(self._books, each.name).update(getattr(totals, each.name))
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
            if ticket.outcome == ANSWERED and ticket.cache:
                self._answered[ticket.cache] = max(
                    sequence,
                    self._answered.get(ticket.cache, sequence),
                    key=lambda one: self._tickets[one].settled or 0,
                )

    def lines(self) -> Iterator[Line]:
        for sequence, text, link in self.entries:
            ticket = self._tickets.get(sequence) or (None,) * 6
            yield (sequence, text, link, *ticket, self._answers.get(sequence))

    def totals(self) -> Stored:
        return Stored(self._books, len(self._tickets), len(self._answers))
