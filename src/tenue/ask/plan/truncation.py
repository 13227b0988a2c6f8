"""Contribution bounds: which rows and groups of each person count, which limits may truncate an
answer, and how many persons are above them.

The error of truncation is a fact about the rows, so no reported error contains it. Which limits can
truncate follows from schema and question, and every answer states them. A part of the price can
measure how many persons are above a limit.

That bounds how many persons were truncated, not how many of their rows: somebody above a limit
loses at least one row, group or part of a sum, and nobody else loses any.

Why it is private. One person more or less is above a limit or is not: each count moves by 1 at
most, under both kinds of neighbours, and k counts by k together. Under add-or-remove a person is on
one side of each limit, so that both sides together cost as much as one; under replace both sides
would cost twice, and the other side is not counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Any, Literal

from ...arguments import Number, fraction_of_one
from ...engine.computed_column import (
    All,
    Any_,
    Choice,
    Formula,
    Not,
    Predicate,
    Within,
    columns_of,
    parts_of,
)
from ...engine.contract import Engine
from ...engine.request import Contribution, ContributionRequest, People, Request, Window
from ...errors import refuse
from ...mechanism.additive_noise import Component, Part
from ...noise.discrete_laplace import DiscreteLaplace
from ...noise.joint import joint
from ...noise.source import SYSTEM, Source, require_safe
from ...privacy.loss import EpsilonDelta
from ...schema import Number as NumberColumn
from ...schema import Schema
from ...schema.table import RECORD
from ...text import exactly
from ..aggregates.reading import SHOWN_LEVEL
from ..aggregates.strategy import Draw, Setting, Strategy
from ..question import Aggregate, Persons, Question, seen_by

NOT_COVERED = "± does not cover what that leaves out"
"""The remark that follows every limit."""


WORTH = 2
"""Groups are not truncated where the noise is at most so many times larger without a limit."""


def check_limited(schema: Schema) -> None:
    """Refuses questions about people who may have any number of rows."""
    if schema.unit != RECORD and schema.rows_per_unit is None:
        raise refuse("ask.rows-per-unit-missing", name=schema.name, unit=schema.unit)


def check_reachable(question: Question, schema: Schema) -> None:
    """Refuses a condition that no value of a person meets, once it is clipped to its ends.

    The answer would be 0 with a narrow interval, whatever the rows: about limits, not about people.
    The parser has clipped every condition to the ends of its column: see `logic.written`.
    """
    if question.persons is None:
        return
    seen = seen_by(question, schema)
    formulas = {one.name: one.formula for one in question.computed}
    conditions = [] if question.where is None else [question.where]
    conditions += [c for formula in formulas.values() for c in _conditions_of(formula)]
    for name in chain.from_iterable(map(_never_met, conditions)):
        column = seen.column(name)
        if not isinstance(column, NumberColumn):
            continue
        base = set(columns_of(formulas[name])) if name in formulas else {name}
        limits = person_limits(question.persons, schema)
        values = zip(question.persons.units.values, limits, strict=True)
        raise refuse(
            "ask.condition-beyond-limit",
            name=column.name,
            low=exactly(column.low),
            high=exactly(column.high),
            limits="; ".join(limit.words for value, limit in values if value.name in base)
            or "; ".join(limit.words for limit in limits),
        )


def _conditions_of(formula: Formula) -> Iterator[Predicate]:
    """The conditions of every CASE in a formula."""
    if isinstance(formula, Choice):
        yield from (condition for condition, _ in formula.cases)
    for part in parts_of(formula):
        yield from _conditions_of(part)


def _never_met(condition: Predicate) -> Iterator[str]:
    """The columns of which a condition asks for no possible number."""
    if isinstance(condition, Not):
        yield from _never_met(condition.part)
    elif isinstance(condition, All | Any_):
        for part in condition.parts:
            yield from _never_met(part)
    elif isinstance(condition, Within):
        first, last = condition.first, condition.last
        if first is not None and last is not None and first > last:
            yield condition.column


def kept_rows(schema: Schema) -> People | None:
    """The contribution bounds that the schema states; None if every record is a unit."""
    if schema.unit == RECORD:
        return None
    return People(schema.unit, schema.rows_per_unit or 1, schema.groups_per_unit)


def people_of(question: Question, schema: Schema) -> People | None:
    """The contribution bounds at any price; None if every record is a unit.

    A limit of rows takes nothing from a person who counts once in each group. Where nothing limits
    groups, or only persons are counted, groups are not truncated if that at most doubles how far
    one person moves the counts; else the limit of rows serves as the limit of groups.
    """
    kept = kept_rows(schema)
    if kept is None or question.persons is not None:  # one value of a person needs no limit
        return None
    counts_people = [aggregate.kind == "units" for aggregate in question.aggregates()]
    if any(counts_people) and (kept.groups is None or all(counts_people)):
        limit = kept.groups or kept.rows
        return replace(kept, groups=None if question.cells <= WORTH * limit else limit)
    return kept


def ways_to_keep(question: Question, schema: Schema) -> list[People | None]:
    """The admissible contribution bounds: first all groups of a person, then as many as stated.

    `spares` decides between the two. One if no group can be truncated.
    """
    usual = people_of(question, schema)
    if usual is None:
        return [None]
    counts_people = any(aggregate.kind == "units" for aggregate in question.aggregates())
    limit = schema.groups_per_unit or (usual.rows if counts_people else None)
    if limit is None or question.cells <= limit:
        return [usual]
    return [replace(usual, groups=groups) for groups in (None, limit)]


def spares(
    complete: Mapping[Aggregate, float], truncated: Mapping[Aggregate, float], *, setting: Setting
) -> bool:
    """Whether counting all groups is worth its error: at most twice the error with truncation.

    Half a step of the answer is allowed besides, which rounding hides. Reported errors contain the
    noise and not the truncation, so noise is preferred.
    """

    def step(aggregate: Aggregate) -> Fraction:
        stated = setting.ranges.get(aggregate.column or "")
        return Fraction(1) if stated is None or aggregate.kind == "count" else stated.grid

    return all(size <= WORTH * truncated[a] + float(step(a) / 2) for a, size in complete.items())


# -- The limits that may truncate an answer --------------------------------------------------------


@dataclass(frozen=True)
class Above:
    """How many persons are above a limit, with noise.

    noisy: the count as it was drawn; others: the count of the persons below, if there is one.
    """

    part: Part = field(repr=False)
    noisy: int
    others: int | None = None

    @property
    def value(self) -> int:
        """The count; never less than 0."""
        return max(0, self.noisy)

    def interval(self, level: Number) -> tuple[int, int]:
        """A confidence interval for the true count at `level`."""
        return self._ends(self.noisy, fraction_of_one(level, "level"))

    @property
    def share(self) -> float | None:
        """The share of all persons in the question; None where they were not counted."""
        if self.others is None:
            return None
        return self.value / max(1, self.value + max(0, self.others))

    def share_interval(self, level: Number) -> tuple[float, float] | None:
        """A confidence interval for the true share at `level`."""
        if self.others is None:
            return None
        each = (1 + fraction_of_one(level, "level")) / 2  # both counts at once
        low, high = self._ends(self.noisy, each)
        least, most = self._ends(self.others, each)
        return low / max(1, low + most), 1.0 if least <= 0 else high / (high + least)

    def _ends(self, noisy: int, level: Fraction) -> tuple[int, int]:
        half = int(self.part.noise.half_width(0, level))
        return max(0, noisy - half), max(0, noisy + half)

    def to_dict(self) -> dict[str, Any]:
        shares = self.share_interval(SHOWN_LEVEL)
        return {
            "value": self.value,
            "interval_95": list(self.interval(SHOWN_LEVEL)),
            "share": self.share,
            "share_interval_95": None if shares is None else list(shares),
        }

    def __str__(self) -> str:
        low, high = self.interval(SHOWN_LEVEL)
        shares = self.share_interval(SHOWN_LEVEL)
        part = ""
        if shares is not None:
            least, most = (f"{100 * end:.0f}" for end in shares)
            part = f", {least} to {most} % of all"
        return f"{low:,} to {high:,} persons (95 %){part}"


@dataclass(frozen=True)
class Limit:
    """One contribution limit.

    kind: "rows" (at most so many of each person), "groups" (each person in at most so many), "sum"
        (each person's sum is clipped at two ends), or "unit" (rows of nobody do not count; whether
        there are any is the holder's to know).
    unit: who is limited.
    most: how many; None for a sum, and for rows of nobody.
    words: the limit as text.
    above: how many persons are above it, if that was measured.
    measured: the number of each person that is above `most` just if the limit truncates.
    """

    kind: Literal["rows", "groups", "sum", "unit"]
    unit: str
    most: int | None
    words: str
    above: Above | None = None
    measured: Contribution | None = field(default=None, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "unit": self.unit,
            "most": self.most,
            "words": self.words,
            "above": None if self.above is None else self.above.to_dict(),
        }

    def __str__(self) -> str:
        return self.words


def limits_of(
    strategy: Strategy, schema: Schema, people: People | None, cells: int
) -> tuple[Limit, ...]:
    """Every limit that can truncate; none if every record is a unit."""
    if people is None:
        return ()
    unit = schema.unit
    cuts = {words: cut for draw in strategy.draws for words, cut in draw.cuts(schema).items()}
    limits = [Limit("sum", unit, None, words, measured=cut) for words, cut in cuts.items()]
    if counting := [draw for draw in strategy.draws if draw.counts_rows]:
        limits.append(row_limit(people, Contribution("rows", columns=_required(counting))))
    if people.groups is not None and people.groups < cells:
        groups = "1 group" if people.groups == 1 else f"{people.groups} groups"
        words = f"each {unit} counts in at most {groups}, chosen at random"
        measured = Contribution("cells", columns=_required(strategy.draws))
        limits.append(Limit("groups", unit, people.groups, words, measured=measured))
    return tuple(limits)


def person_limits(persons: Persons | None, schema: Schema) -> tuple[Limit, ...]:
    """The ends at which the values of each person are clipped, if a question is about persons."""
    if persons is None:
        return ()
    limits = []
    for value, grid in zip(persons.units.values, persons.grids, strict=True):
        low, high = exactly(value.low * grid), exactly(value.high * grid)
        words = f"`{value.name}` of each {schema.unit}, over all rows, counts from {low} to {high}"
        limits.append(Limit("sum", schema.unit, None, words))
    return tuple(limits)


def unit_limit(question: Question, schema: Schema) -> tuple[Limit, ...]:
    """That rows without a unit do not count, if there may be any and SQL would count them."""
    if schema.unit == RECORD or schema.column(schema.unit).missing is not None:
        return ()
    of_rows = any(aggregate.kind != "units" for aggregate in question.aggregates())
    if question.persons is None and not of_rows:  # COUNT(DISTINCT …) skips missing values anyway
        return ()
    return (Limit("unit", schema.unit, None, f"rows without a `{schema.unit}` count nowhere"),)


def row_limit(people: People, measured: Contribution | None = None) -> Limit:
    """The limit of so many rows of each person."""
    rows = "1 row" if people.rows == 1 else f"{people.rows} rows"
    verb = "counts" if people.rows == 1 else "count"
    words = f"at most {rows} of each {people.unit} {verb}, chosen at random"
    return Limit("rows", people.unit, people.rows, words, measured=measured)


def _required(draws: Sequence[Draw]) -> tuple[str, ...]:
    """The columns of which a row must have one to use up a limit; empty if every row does."""
    names = [draw.required for draw in draws]
    return () if None in names else tuple(dict.fromkeys(name for name in names if name is not None))


# -- How many persons are above the limits of a question, measured with part of its price ----------

OFFERED = Fraction(1, 10)
"""The share of a price at which the counts are offered."""
_EVERYBODY = Window(b=1, a=0, c1=2**62, c2=-(2**62), reach=1)


@dataclass(frozen=True)
class CutCount:
    """Counts of persons above each limit, at their own part of the price.

    Guarantee
        `epsilon`-differential privacy for one person, under the neighbours it was made for.
    """

    limits: tuple[Limit, ...]
    request: Request
    neighbours: str
    share: Fraction
    price: EpsilonDelta

    @property
    def epsilon(self) -> Fraction:
        return self.price.epsilon

    @property
    def both_sides(self) -> bool:
        """Whether the persons who are not above a limit are counted too."""
        return self.neighbours == "add-or-remove"

    @cached_property
    def part(self) -> Part:
        """The noise of all counts together."""
        counts = len(self.limits) * (2 if self.both_sides else 1)
        components = (Component("units"),) * counts
        return Part("discrete Laplace", components, (self.law,) * counts, self.epsilon)

    @cached_property
    def law(self) -> DiscreteLaplace:
        """The noise of each count: one person moves all of them together by one for each limit."""
        return DiscreteLaplace(sensitivity=len(self.limits), epsilon=self.epsilon)

    @property
    def half_width(self) -> float:
        """The 95 % margin of error of a count."""
        return self.part.noise.half_width(0, SHOWN_LEVEL)

    @property
    def line(self) -> str:
        """Its description in a certificate."""
        sides = ", and how many are not" if self.both_sides else ""
        words = "; ".join(limit.words for limit in self.limits)
        return (
            f"discrete Laplace on how many persons are above each limit{sides} ({words}): "
            f"{joint(self.law).words}"
        )

    def release(self, engine: Engine, source: Source = SYSTEM) -> tuple[int, ...]:
        """The noisy counts: for each limit those above it and, on both sides, those who are not."""
        require_safe(source)
        truth = [count for limit in self.limits for count in self._counted(limit, engine)]
        (noise,) = self.part.draw(1, source)
        return tuple(value + extra for value, extra in zip(truth, noise, strict=True))

    def _counted(self, limit: Limit, engine: Engine) -> tuple[int, ...]:
        request, first = self.request, limit.most or 0
        assert limit.measured is not None and request.people is not None  # noqa: S101, PT018
        profile = engine.contributions(
            ContributionRequest(
                *(limit.measured, request.people.unit, (_EVERYBODY,), first, first + 1),
                *(request.where, request.keys, request.computed),
            )
        )
        above = sum(count for value, _, count in profile.values if value > first)
        return (above, profile.rows - above) if self.both_sides else (above,)

    def read(self, noisy: Sequence[int]) -> tuple[Limit, ...]:
        """The limits, each with how many persons are above it."""
        each = 2 if self.both_sides else 1
        return tuple(
            replace(limit, above=Above(self.part, *noisy[start : start + each]))
            for start, limit in zip(range(0, len(noisy), each), self.limits, strict=True)
        )


def cut_count(
    limits: tuple[Limit, ...],
    request: Request,
    neighbours: str,
    share: Fraction,
    price: EpsilonDelta,
) -> CutCount:
    """The counts at a share of the whole `price`; refused where nothing can be truncated."""
    if not limits or any(limit.measured is None for limit in limits):
        raise refuse("ask.nothing-truncated")
    paid = price.part(share)
    if not paid or not paid < price:
        raise refuse("ask.epsilon-share-too-small", fraction=exactly(price.epsilon), shares=2)
    return CutCount(limits, request, neighbours, share, paid)
