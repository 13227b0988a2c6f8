"""What may have been cut from an answer about people: limits that its ± does not cover.

How much was cut is a fact about the rows, so it is in no error that is told. That something can be
cut is known from schema and question, and is said wherever the number is. How many persons are
above a limit can be bought (`cut.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from fractions import Fraction
from typing import Any, Literal

from ...engine.request import Contribution, People
from ...frozen import dataclass
from ...mechanism.part import Part
from ...number import Number, fraction_of_one
from ...schema import Schema
from ...screen.number import exactly
from ..family.draw import Draw
from ..family.reading import SHOWN_LEVEL
from ..family.strategy import Strategy
from ..question import Persons

NOT_COVERED = "± does not cover what that leaves out"
"""What is said wherever a limit is."""


@dataclass(frozen=True)
class Above:
    """How many persons are above a limit, with noise. It bounds persons cut, not rows.

    noisy: the count as it was drawn; others: that of those who are not above, if they were counted.
    """

    part: Part = field(repr=False)
    noisy: int
    others: int | None = None

    @property
    def value(self) -> int:
        """The count; never less than 0."""
        return max(0, self.noisy)

    def interval(self, level: Number) -> tuple[int, int]:
        """Where the true count lies with probability at least `level`."""
        return self._ends(self.noisy, fraction_of_one(level, "level"))

    @property
    def share(self) -> float | None:
        """The share of all persons in the question; None where they were not counted."""
        if self.others is None:
            return None
        return self.value / max(1, self.value + max(0, self.others))

    def share_interval(self, level: Number) -> tuple[float, float] | None:
        """Where the true share lies with probability at least `level`."""
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
    """One limit of what counts.

    kind: "rows" (at most so many of each person), "groups" (each person in at most so many), or
        "sum" (each person's sum is cut at two ends).
    unit: who is limited.
    most: how many; None for a sum.
    words: the limit, as it is said.
    above: how many persons are above it, if that was bought.
    measured: the number of each person that is above `most` just if the limit cuts something.
    """

    kind: Literal["rows", "groups", "sum"]
    unit: str
    most: int | None
    words: str
    above: Above | None = None
    measured: Contribution | None = field(default=None, repr=False, compare=False)

    def with_above(self, above: Above) -> Limit:
        """The same, and how many persons are above it."""
        return replace(self, above=above)

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
    """Every limit that can cut something; none if every record is a unit."""
    if people is None:
        return ()
    unit = schema.unit
    cuts = {words: cut for draw in strategy.draws for words, cut in draw.cuts(schema).items()}
    found = [Limit("sum", unit, None, words, measured=cut) for words, cut in cuts.items()]
    if counting := [draw for draw in strategy.draws if draw.counts_rows]:
        measured = Contribution("rows", columns=_required(counting))
        found.append(row_limit(people, measured))
    if people.groups is not None and people.groups < cells:
        groups = "1 group" if people.groups == 1 else f"{people.groups} groups"
        words = f"each {unit} counts in at most {groups}, chosen at random"
        measured = Contribution("cells", columns=_required(strategy.draws))
        found.append(Limit("groups", unit, people.groups, words, measured=measured))
    return tuple(found)


def person_limits(persons: Persons | None, schema: Schema) -> tuple[Limit, ...]:
    """Between which ends the values of each person count, where a question is about persons."""
    if persons is None:
        return ()
    found = []
    for value, grid in zip(persons.units.values, persons.grids, strict=True):
        low, high = exactly(value.low * grid), exactly(value.high * grid)
        words = f"`{value.name}` of each {schema.unit}, over all rows, counts from {low} to {high}"
        found.append(Limit("sum", schema.unit, None, words))
    return tuple(found)


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
