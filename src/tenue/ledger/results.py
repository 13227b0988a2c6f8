"""The results of a ledger: reservations, balances, verifications, debits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ..privacy import Neighbours
from ..privacy.loss import EpsilonDelta
from ..text import exactly, html_table, paragraphs
from .composition import Column
from .facts import (
    Answered,
    Asked,
    Entry,
    ReleaseRegistered,
    ReleaseSaved,
    ReleaseWithdrawn,
    Reserved,
    Returned,
    RowsReleased,
    Unanswered,
)
from .totals import EVERYONE, Account, Dataset


@dataclass(frozen=True, slots=True)
class Reservation:
    """A price already paid; the right to draw noise once.

    If `answer` is None, read the rows, draw, and `commit`. If it has bytes, the key or the question
    was answered before, this is its answer, nothing was debited now, and nothing may be drawn.
    """

    dataset: str
    analyst: str
    key: str | None
    sequence: int
    owner: str
    nano: int
    answer: bytes | None = None

    @property
    def cost(self) -> Fraction:
        """The epsilon that was debited now, in the ledger's adjacency; 0 for a replay."""
        return EpsilonDelta(self.nano).epsilon


@dataclass(frozen=True, slots=True)
class Quota:
    """What one analyst has spent. The budget of the data set limits every quota."""

    analyst: str
    total: Fraction | None
    spent: Fraction
    individual: Fraction

    @property
    def remaining(self) -> Fraction | None:
        return None if self.total is None else max(Fraction(0), self.total - self.spent)

    def __str__(self) -> str:
        of = "" if self.total is None else f" of {exactly(self.total)}"
        return f"{self.analyst}: epsilon {exactly(self.spent)}{of} spent"


@dataclass(frozen=True, slots=True, repr=False)
class Balance:
    """What a data set has spent and what remains, in exact epsilon, in columns that never add up.

    `spent` is `statistical` plus `persons`, the largest sum of questions about one person.
    `remaining` is 0 where the cap was lowered below what was spent.
    """

    dataset: str
    neighbours: Neighbours
    total: Fraction
    spent: Fraction
    statistical: Fraction
    persons: Fraction
    total_delta: Fraction
    spent_delta: Fraction
    individual: Fraction
    total_individual: Fraction | None
    releases: int
    analysts: tuple[Quota, ...]
    schema_digest: str
    data_version: str
    protocol: str = ""

    @property
    def remaining(self) -> Fraction:
        return max(Fraction(0), self.total - self.spent)

    @property
    def remaining_delta(self) -> Fraction:
        return max(Fraction(0), self.total_delta - self.spent_delta)

    @property
    def remaining_individual(self) -> Fraction | None:
        """None if the individual column has no cap."""
        total = self.total_individual
        return None if total is None else max(Fraction(0), total - self.individual)

    def __str__(self) -> str:
        spent, total = exactly(self.spent), exactly(self.total)
        summary = f"epsilon {spent} of {total} spent, {exactly(self.remaining)} remains"
        if not (self.total or self.spent):
            summary = "no budget, so nothing may be asked"
        lines = [f"protocol: {self.protocol}"] if self.protocol else []
        if self.total_delta:
            lines.append(f"delta {exactly(self.spent_delta)} of {exactly(self.total_delta)} spent")
        if self._has_individual:
            cap = self.total_individual
            of = "" if cap is None else f" of {exactly(cap)}"
            lines.append(
                f"individual epsilon {exactly(self.individual)}{of} spent, which is not "
                "differential privacy and is not part of the above"
            )
        if self.releases:
            lines.append(f"releases registered: {self.releases}")
        lines += map(str, self.analysts)
        return "\n  ".join([f"{self.dataset} ({self.neighbours}): {summary}", *lines])

    __repr__ = __str__

    @property
    def _has_individual(self) -> bool:
        return bool(self.individual) or self.total_individual is not None

    def _repr_html_(self) -> str:
        rows = [[f"{self.dataset} ({self.neighbours})", "spent", "of", "remains"]]
        rows.append(_amounts("epsilon", self.spent, self.total, self.remaining))
        if self.total_delta:
            rows.append(_amounts("delta", self.spent_delta, self.total_delta, self.remaining_delta))
        if self._has_individual:
            name = "individual epsilon, which is not differential privacy and is counted apart"
            left = self.remaining_individual
            rows.append(_amounts(name, self.individual, self.total_individual, left))
        rows += [_amounts(q.analyst, q.spent, q.total, q.remaining) for q in self.analysts]
        notes = [f"protocol: {self.protocol}"] if self.protocol else []
        notes += [f"releases registered: {self.releases}"] if self.releases else []
        return html_table(rows, after=notes)

    def seen_by(self, analyst: str) -> Balance:
        """The balance without the quotas of other analysts."""
        return replace(self, analysts=tuple(q for q in self.analysts if q.analyst == analyst))


def _amounts(
    name: str, spent: Fraction, total: Fraction | None, left: Fraction | None
) -> list[str]:
    shown = ("no limit" if total is None else exactly(total), "" if left is None else exactly(left))
    return [name, exactly(spent), *shown]


def balances_in_html(balances: Sequence[Balance], note: str) -> str:
    """A row for each data set, without questions and analysts."""
    header = ["data set", "neighbours", "epsilon", "spent", "remains", "releases"]
    rows = [
        [one.dataset, one.neighbours]
        + [exactly(amount) for amount in (one.total, one.spent, one.remaining)]
        + [str(one.releases)]
        for one in balances
    ]
    return (html_table([header, *rows]) if rows else "") + paragraphs([note])


def balance_of(
    name: str, dataset: Dataset, accounts: Mapping[str, Account], releases: int, protocol: str = ""
) -> Balance:
    """The balance of a data set, from its rows."""
    whole = accounts.get(EVERYONE, Account())
    quota, cap = dataset.quota, dataset.individual_budget
    each = None if quota is None else quota.epsilon
    return Balance(
        dataset=name,
        neighbours=dataset.neighbours,
        total=dataset.budget.epsilon,
        spent=whole.spent.epsilon,
        statistical=whole.table.epsilon,
        persons=whole.persons.epsilon,
        total_delta=dataset.budget.delta,
        spent_delta=whole.spent.delta,
        individual=whole.individual_spent.epsilon,
        total_individual=None if cap is None else cap.epsilon,
        releases=releases,
        analysts=tuple(
            Quota(analyst, each, account.spent.epsilon, account.individual_spent.epsilon)
            for analyst, account in sorted(accounts.items())
            if analyst != EVERYONE
        ),
        schema_digest=dataset.schema_digest,
        data_version=dataset.data_version,
        protocol=protocol,
    )


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether the ledger is intact: truthy if every check passed.

    first_bad: the first entry that is wrong; None if the damage is elsewhere (totals, answers, the
        file).
    """

    ok: bool
    entries: int
    head: str
    first_bad: int | None = None
    reason: str = ""

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.ok:
            return f"intact: {self.entries} entries, head {self.head}"
        where = "" if self.first_bad is None else f" at entry {self.first_bad}"
        return f"NOT INTACT{where}: {self.reason}"


# -- Releases and debits, as a data officer reads them ---------------------------------------------

_OUTCOMES: dict[type, str] = {
    Answered: "answered",
    Returned: "returned",
    Unanswered: "spent, not answered",
}


@dataclass(frozen=True)
class Debit:
    """One price that was paid.

    epsilon, delta: as the mechanism stated them.
    asked: the text of the question, if it was recorded.
    """

    sequence: int
    time: str
    dataset: str
    analyst: str
    column: Column
    epsilon: Fraction
    delta: Fraction
    asked: str | None
    outcome: str


def debits(entries: Iterable[Entry]) -> list[Debit]:
    """Every debit among the entries, in order."""
    paid: dict[int, tuple[Entry, Reserved]] = {}
    words: dict[int, str] = {}
    ends: dict[int, str] = {}
    for entry in entries:
        fact = entry.fact
        if isinstance(fact, Reserved):
            paid[entry.sequence] = entry, fact
        elif isinstance(fact, Asked):
            words[fact.reservation] = fact.text
        elif isinstance(fact, Answered | Returned | Unanswered):
            ends[fact.reservation] = _OUTCOMES[type(fact)]
    return [
        Debit(
            sequence=sequence,
            time=entry.time,
            dataset=fact.dataset,
            analyst=fact.analyst,
            column=fact.column,
            epsilon=fact.loss.epsilon,
            delta=fact.loss.delta,
            asked=words.get(sequence),
            outcome=ends.get(sequence, "being answered"),
        )
        for sequence, (entry, fact) in paid.items()
    ]


@dataclass(frozen=True)
class Released:
    """One release of a table.

    sequence, time: of its registration; of a private table, of the first time it was saved.
    method: with its options, in a few words.
    override: whether it was registered although the table had been released before.
    withdrawn: whether it never left.
    places: the folders into which it was saved, relative to that of the ledger's file.
    """

    sequence: int
    time: str
    dataset: str
    method: str
    digest: str
    override: bool = False
    withdrawn: bool = False
    places: tuple[str, ...] = ()


def released(entries: Iterable[Entry]) -> list[Released]:
    """Every release among the entries, in order."""
    found: dict[tuple[str, str], Released] = {}
    done: list[Released] = []
    for entry in entries:
        fact = entry.fact
        if not isinstance(fact, ReleaseRegistered | RowsReleased | ReleaseSaved | ReleaseWithdrawn):
            continue
        key = fact.dataset, fact.release_digest
        if isinstance(fact, ReleaseWithdrawn):
            if key in found:
                done.append(replace(found.pop(key), withdrawn=True))
            continue
        stands = found.setdefault(
            key, Released(entry.sequence, entry.time, fact.dataset, fact.method, key[1])
        )
        if isinstance(fact, ReleaseSaved):
            places = tuple(dict.fromkeys([*stands.places, fact.place]))
            found[key] = replace(stands, places=places)
        else:
            found[key] = replace(stands, override=fact.override)
    return sorted([*found.values(), *done], key=lambda one: one.sequence)
