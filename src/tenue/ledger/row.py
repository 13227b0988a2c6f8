"""The rows that the running totals are kept in, and where they rest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from ..promise import Neighbours
from ..promise.loss import NOTHING, EpsilonDelta
from .fact import Caps, Reserved

EVERYONE = ""
"""The data set's own account, and the marks of all data sets; no name is ever empty."""

OPEN, ANSWERED, RETURNED, UNANSWERED = range(4)


class Dataset(NamedTuple):
    """What is in force for a data set."""

    neighbours: Neighbours
    total: int
    total_delta: int
    per_analyst: int | None
    schema_digest: str
    data_version: str
    repriced: int = 0  # the entry that last changed the neighbours
    widest: int = 0  # the largest epsilon ever charged together with a delta
    individual: int | None = None  # the cap of the individual column
    unit: str = ""  # who is protected, in words; empty if nobody said

    @property
    def caps(self) -> Caps:
        return self.total, self.total_delta, self.per_analyst

    @property
    def budget(self) -> EpsilonDelta:
        """What may be spent in all."""
        return EpsilonDelta(self.total, self.total_delta)

    @property
    def quota(self) -> EpsilonDelta | None:
        """What each analyst may spend of it; the delta of all is each one's. None for no quota."""
        each = self.per_analyst
        return None if each is None else EpsilonDelta(each, self.total_delta)

    @property
    def individual_budget(self) -> EpsilonDelta | None:
        """What may be spent of individual differential privacy; None for no cap."""
        return None if self.individual is None else EpsilonDelta(self.individual)

    @property
    def widest_loss(self) -> EpsilonDelta:
        """The largest epsilon ever charged together with a delta."""
        return EpsilonDelta(self.widest)


class Source(NamedTuple):
    """By what the files of a data set are known that its holder opened last: digests."""

    mark: str
    reading: str
    digest: str


class Account(NamedTuple):
    """What the data set, or one analyst, has spent: nano-epsilon and atto-delta."""

    statistical: int = 0
    most: int = 0  # the maximum over persons
    delta: int = 0
    most_delta: int = 0
    individual: int = 0

    @classmethod
    def of(
        cls, table: EpsilonDelta, persons: EpsilonDelta, individual: EpsilonDelta = NOTHING
    ) -> Account:
        """The row of what answers about the table cost, those about one person at most, and
        individual differential privacy."""
        return cls(table.nano, persons.nano, table.atto, persons.atto, individual.nano)

    @property
    def table(self) -> EpsilonDelta:
        """What answers about the whole table have cost together."""
        return EpsilonDelta(self.statistical, self.delta)

    @property
    def persons(self) -> EpsilonDelta:
        """What questions about one person have cost: the maximum over persons."""
        return EpsilonDelta(self.most, self.most_delta)

    @property
    def spent(self) -> EpsilonDelta:
        return self.table + self.persons

    @property
    def individual_spent(self) -> EpsilonDelta:
        return EpsilonDelta(self.individual)


class Person(NamedTuple):
    """What questions about one person have cost."""

    nano: int = 0
    atto: int = 0

    @property
    def spent(self) -> EpsilonDelta:
        return EpsilonDelta(self.nano, self.atto)


class Ticket(NamedTuple):
    """Where a reservation stands."""

    sequence: int
    name: bytes | None
    cache: bytes | None
    owner: str
    outcome: int = OPEN
    settled: int | None = None


@dataclass
class Books:
    """The running totals of everything."""

    datasets: dict[str, Dataset] = field(default_factory=dict)
    accounts: dict[tuple[str, str], Account] = field(default_factory=dict)
    persons: dict[tuple[str, str, str], Person] = field(default_factory=dict)
    questions: dict[tuple[str, str], int] = field(default_factory=dict)
    releases: dict[tuple[str, str], int] = field(default_factory=dict)
    protocols: dict[str, str] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)


class Stored(NamedTuple):
    """Every running total, as stored, and how many tickets and answers there are."""

    books: Books
    tickets: int
    answers: int


Line = tuple[
    int,
    str,
    bytes,
    int | None,
    bytes | None,
    bytes | None,
    str | None,
    int | None,
    int | None,
    bytes | None,
]
"""An entry's number, text and hash; the ticket it opened, if any, field by field; its answer."""


def ticket_name(dataset: str, analyst: str, key: str | None) -> bytes | None:
    """An idempotency key in its scope. No name holds a NUL, so no two scopes collide."""
    if key is None:
        return None
    return hashlib.sha256(f"{dataset}\0{analyst}\0{key}".encode()).digest()


def cache_name(dataset: str, cache_key: str | None) -> bytes | None:
    """A cache key in its scope, the data set."""
    return (
        None if cache_key is None else hashlib.sha256(f"{dataset}\0{cache_key}".encode()).digest()
    )


def standing(releases: Mapping[str, int]) -> dict[str, int]:
    """Those that were not withdrawn; what withdrew the others is kept as a number below 0."""
    return {digest: at for digest, at in releases.items() if at > 0}


class Shelf(Protocol):
    """Where rows rest between transactions."""

    def datasets(self) -> list[str]: ...
    def dataset(self, name: str) -> Dataset | None: ...
    def account(self, dataset: str, analyst: str) -> Account | None: ...
    def accounts(self, dataset: str) -> dict[str, Account]: ...
    def person(self, dataset: str, analyst: str, person: str) -> Person | None: ...
    def persons(self, dataset: str, analyst: str) -> dict[str, Person]: ...
    def most(self, dataset: str, analyst: str, besides: Iterable[str]) -> Person: ...
    def times(self, dataset: str, question_name: str) -> int: ...
    def releases(self, dataset: str) -> dict[str, int]: ...
    def protocol(self, dataset: str) -> str: ...
    def source(self, dataset: str) -> Source | None: ...
    def ticket(self, sequence: int) -> Ticket | None: ...
    def ticket_named(self, name: bytes) -> Ticket | None: ...
    def open_tickets(self) -> list[Ticket]: ...
    def tickets_cached(self, cache: bytes) -> list[Ticket]: ...
    def reserved(self, sequence: int) -> Reserved: ...
    def answer(self, sequence: int) -> bytes: ...
