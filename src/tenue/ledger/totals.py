"""The running totals, the rows that store them, and how each fact changes them.

`Totals` is what one transaction has read and changed; a `Shelf` stores rows in between. The same
`post` updates the totals of every ledger and recounts them for verification, so the stored totals
are always the sum of the facts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

from ..errors import LedgerFault
from ..privacy import Neighbours
from ..privacy.loss import NOTHING, EpsilonDelta
from . import facts
from .composition import REPLACE

K = TypeVar("K", bound=tuple[str, ...])
V = TypeVar("V")

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
    unit: str = ""  # who is protected, in words; empty if not stated

    @classmethod
    def of(cls, fact: facts.DatasetOpened) -> Dataset:
        """What is in force for a new data set."""
        return cls(fact.neighbours, *fact.caps, fact.schema_digest, fact.data_version)

    @property
    def caps(self) -> facts.Caps:
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


class Source(NamedTuple):
    """Digests that identify the files of a data set that its holder opened last."""

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
    """The state of a reservation."""

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


Line = tuple[Any, ...]
"""An entry's number, text and hash; the ticket it opened, if any, field by field; its answer."""


def scoped(key: str | None, *scope: str) -> bytes | None:
    """An idempotency key of a data set's analyst, or a cache key of a data set; None for no key.

    No name holds a NUL, so no two scopes collide.
    """
    return None if key is None else hashlib.sha256("\0".join((*scope, key)).encode()).digest()


def within(rows: Mapping[K, V], *scope: str) -> dict[str, V]:
    """The rows whose key begins with `scope`, by the rest of it."""
    return {key[-1]: row for key, row in rows.items() if key[:-1] == scope}


def standing(releases: Mapping[str, int]) -> dict[str, int]:
    """The releases that were not withdrawn; a withdrawn one has the negative of an entry number."""
    return {digest: at for digest, at in releases.items() if at > 0}


class Shelf(Protocol):
    """Stores rows between transactions."""

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
    def reserved(self, sequence: int) -> facts.Reserved: ...
    def answer(self, sequence: int) -> bytes: ...
    def text(self, sequence: int) -> str: ...
    def texts_with(self, part: str) -> list[tuple[int, str]]: ...
    def head(self) -> tuple[int, bytes]: ...
    def link(self, sequence: int) -> bytes | None: ...


# -- The running totals, and how each fact changes them --------------------------------------------


class Totals(Books):
    """Rows read from a shelf, and the changes that posted facts made to them."""

    def __init__(self, shelf: Shelf) -> None:
        super().__init__()
        self.shelf = shelf
        self.tickets: dict[int, Ticket] = {}
        self.answers: dict[int, bytes] = {}
        self._reserved: dict[int, facts.Reserved] = {}
        self._names: dict[bytes, int] = {}
        self._caches: dict[bytes, list[int]] = {}
        # the rows that every request of a batch looks at are fetched once
        self._datasets_read: dict[str, Dataset | None] = {}
        self._accounts_read: dict[tuple[str, str], Account] = {}

    def dataset(self, name: str) -> Dataset | None:
        if name in self.datasets:
            return self.datasets[name]
        if name not in self._datasets_read:
            self._datasets_read[name] = self.shelf.dataset(name)
        return self._datasets_read[name]

    def account(self, dataset: str, analyst: str) -> Account:
        key = (dataset, analyst)
        account = self.accounts.get(key) or self._accounts_read.get(key)
        if account is None:
            account = self.shelf.account(dataset, analyst) or Account()
            self._accounts_read[key] = account
        return account

    def person(self, dataset: str, analyst: str, person: str) -> Person:
        return (
            self.persons.get((dataset, analyst, person))
            or self.shelf.person(dataset, analyst, person)
            or Person()
        )

    def times(self, dataset: str, question_name: str) -> int:
        known = self.questions.get((dataset, question_name))
        return self.shelf.times(dataset, question_name) if known is None else known

    def protocol(self, dataset: str) -> str:
        known = self.protocols.get(dataset)
        return self.shelf.protocol(dataset) if known is None else known

    def source(self, dataset: str) -> Source | None:
        return self.sources.get(dataset) or self.shelf.source(dataset)

    def releases_of(self, dataset: str) -> dict[str, int]:
        """Digests of releases and their entries; of EVERYONE, the marks of all data sets."""
        return standing(self.shelf.releases(dataset) | within(self.releases, dataset))

    def ticket(self, sequence: int) -> Ticket | None:
        return self.tickets.get(sequence) or self.shelf.ticket(sequence)

    def ticket_named(self, name: bytes) -> Ticket | None:
        """The ticket of this key; a refund frees the key."""
        sequence = self._names.get(name)
        if sequence is None:
            rested = self.shelf.ticket_named(name)
            sequence = None if rested is None else rested.sequence
        ticket = None if sequence is None else self.ticket(sequence)
        return None if ticket is None or ticket.outcome == RETURNED else ticket

    def open_tickets(self) -> list[Ticket]:
        known = {ticket.sequence: ticket for ticket in self.shelf.open_tickets()}
        known.update(self.tickets)
        return [ticket for ticket in known.values() if ticket.outcome == OPEN]

    def tickets_cached(self, cache: bytes) -> list[Ticket]:
        """The tickets under a cache name that are open or answered; of the latter perhaps only the
        last."""
        known = {ticket.sequence: ticket for ticket in self.shelf.tickets_cached(cache)}
        for sequence in {*known, *self._caches.get(cache, ())} & self.tickets.keys():
            known[sequence] = self.tickets[sequence]
        return [ticket for ticket in known.values() if ticket.outcome in (OPEN, ANSWERED)]

    def reserved(self, sequence: int) -> facts.Reserved:
        return self._reserved.get(sequence) or self.shelf.reserved(sequence)

    def answer(self, sequence: int) -> bytes:
        known = self.answers.get(sequence)
        return self.shelf.answer(sequence) if known is None else known

    def post(self, sequence: int, fact: facts.Fact) -> None:
        """Changes the totals by `fact`, entry number `sequence`."""
        match fact:
            case facts.Reserved():
                self._open(sequence, fact)
                self._charge(fact, +1)
            case facts.Asked():
                pass  # changes no total
            case facts.Answered():
                self._settle(sequence, fact.reservation, ANSWERED)
            case facts.Unanswered():
                self._settle(sequence, fact.reservation, UNANSWERED)
            case facts.Returned():
                self._settle(sequence, fact.reservation, RETURNED)
                # what was reserved before the neighbours changed was repriced with the rest and
                # stays spent: the exact share of that sum is no longer known
                if fact.reservation > self._known(fact.dataset).repriced:
                    self._charge(self.reserved(fact.reservation), -1)
            case facts.DatasetOpened():
                self.datasets[fact.dataset] = Dataset.of(fact)
            case facts.CapChanged():
                total, total_delta, each = fact.caps
                caps = {"total": total, "total_delta": total_delta, "per_analyst": each}
                self._change(fact.dataset, **caps)
            case facts.IndividualCapped():
                self._change(fact.dataset, individual=fact.cap)
            case facts.UnitStated():
                self._change(fact.dataset, unit=fact.unit)
            case facts.NeighboursChanged():
                self._reprice(sequence, fact)
            case facts.ProtocolChanged():
                self._known(fact.dataset)
                self.protocols[fact.dataset] = fact.protocol
            case facts.SchemaChanged():
                self._change(fact.dataset, schema_digest=fact.schema_digest)
            case facts.DataChanged():
                self._change(fact.dataset, data_version=fact.data_version)
            case facts.SourceValidated():
                self._known(fact.dataset)
                self.sources[fact.dataset] = Source(fact.mark, fact.reading, fact.digest)
            case facts.ReleaseRegistered():
                self.releases[fact.dataset, fact.release_digest] = sequence
            case facts.RowsReleased():
                self.releases[fact.dataset, fact.release_digest] = sequence
                self.releases[EVERYONE, f"{sequence} {fact.marks}"] = sequence
            case facts.ReleaseSaved():
                self._known(fact.dataset)
            case facts.ReleaseWithdrawn():
                self._withdraw(sequence, fact)

    def _withdraw(self, sequence: int, fact: facts.ReleaseWithdrawn) -> None:
        registered = self.releases_of(fact.dataset).get(fact.release_digest)
        if registered is None:
            raise LedgerFault("a release was withdrawn that is not registered")
        self.releases[fact.dataset, fact.release_digest] = -sequence
        for marks, at in self.releases_of(EVERYONE).items():
            if at == registered:
                self.releases[EVERYONE, marks] = -sequence

    def _change(self, name: str, **changes: Any) -> None:
        self.datasets[name] = self._known(name)._replace(**changes)

    def _known(self, name: str) -> Dataset:
        dataset = self.dataset(name)
        if dataset is None:
            raise LedgerFault(f"a fact speaks of `{name}`, which was never opened")
        return dataset

    def _open(self, sequence: int, fact: facts.Reserved) -> None:
        name = scoped(fact.key, fact.dataset, fact.analyst)
        cache = scoped(fact.cache_key, fact.dataset)
        self.tickets[sequence] = Ticket(sequence, name, cache, fact.owner)
        self._reserved[sequence] = fact
        if name is not None:
            self._names[name] = sequence
        if cache is not None:
            self._caches.setdefault(cache, []).append(sequence)

    def _settle(self, sequence: int, reservation: int, outcome: int) -> None:
        ticket = self.ticket(reservation)
        if ticket is None or ticket.outcome != OPEN:
            raise LedgerFault(f"entry {sequence} settles {reservation}, which is not open")
        self.tickets[reservation] = ticket._replace(outcome=outcome, settled=sequence)

    def _charge(self, fact: facts.Reserved, sign: int) -> None:
        name = fact.dataset
        dataset = self._known(name)
        if fact.column == "individual":
            if fact.question_name is not None:
                times = self.times(name, fact.question_name)
                self.questions[name, fact.question_name] = times + sign
            for analyst in (EVERYONE, fact.analyst):
                account = self.account(name, analyst)
                individual = account.individual_spent + sign * fact.loss
                self.accounts[name, analyst] = Account.of(
                    account.table, account.persons, individual
                )
            return
        loss = fact.loss
        price = loss.under(fact.neighbours, dataset.neighbours)
        if sign < 0:
            price *= sign
        if not loss.pure and loss.units > dataset.widest:
            self.datasets[name] = dataset._replace(widest=loss.units)
        for analyst in (EVERYONE, fact.analyst):
            account = self.account(name, analyst)
            table, most = account.table, account.persons
            if fact.person is None:
                table += price
            else:
                before = self.person(name, analyst, fact.person)
                now = before.spent + price
                self.persons[name, analyst, fact.person] = Person(*now.stored)
                most = most.most(now) if sign > 0 else self._most(name, analyst)
            self.accounts[name, analyst] = Account.of(table, most, account.individual_spent)

    def _most(self, dataset: str, analyst: str) -> EpsilonDelta:
        """The maximum over persons, computed again: only a refund can lower it."""
        changed = within(self.persons, dataset, analyst)
        most = self.shelf.most(dataset, analyst, changed).spent
        for person in changed.values():
            most = most.most(person.spent)
        return most

    def _reprice(self, sequence: int, fact: facts.NeighboursChanged) -> None:
        """Under replace, every past answer proved under add-or-remove counts twice.

        Sound because each past answer is priced anew by `Loss.under_replace`: epsilon doubles,
        which commutes with sums and maxima, and delta * (1 + e**epsilon) is at most
        delta * (1 + e**widest). Back to add-or-remove nothing is given back.
        """
        name, dataset = fact.dataset, self._known(fact.dataset)
        self.datasets[name] = dataset._replace(neighbours=fact.neighbours, repriced=sequence)
        if fact.neighbours != REPLACE or dataset.neighbours == REPLACE:
            return
        widest = EpsilonDelta(dataset.widest)
        accounts = self.shelf.accounts(name) | within(self.accounts, name)
        for analyst, account in accounts.items():
            table, most = (one.under_replace(widest) for one in (account.table, account.persons))
            self.accounts[name, analyst] = Account.of(table, most, account.individual_spent)
            persons = self.shelf.persons(name, analyst) | within(self.persons, name, analyst)
            for person, spent in persons.items():
                again = spent.spent.under_replace(widest)
                self.persons[name, analyst, person] = Person(*again.stored)
