"""What decides the price of a question, and one way to answer it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from ...errors import refuse
from ...mechanism.part import Part
from ...number import NANO
from ...screen.number import exactly
from ..family.mode import Ballot
from ..family.rank import Choice, Span
from ..family.reading import Basic
from ..family.smooth import Smoothed
from ..question import Aggregate


@dataclass(frozen=True)
class Range:
    """What is public about a number column, in whole grid steps.

    per_unit: between which ends the sum of one person's values is cut, if the holder stated it.
    """

    low: int
    high: int
    grid: Fraction
    never_missing: bool
    per_unit: tuple[int, int] | None = None


@dataclass(frozen=True)
class Setting:
    """What decides the price of a question: neighbours, filter, groups, columns."""

    neighbours: str
    grouped: bool
    filtered: bool
    ranges: Mapping[str, Range] = field(hash=False)
    never_missing: frozenset[str] = frozenset()
    spans: Mapping[str, Span] = field(default_factory=dict, hash=False)
    categories: Mapping[str, int] = field(default_factory=dict, hash=False)
    rows_per_unit: int = 1
    groups_per_unit: int | None = None
    persons: bool = False
    cells: int = 1

    @property
    def halved(self) -> bool:
        """Whether each cell gets half: groups under replace."""
        return self.neighbours == "replace" and self.grouped

    @property
    def native_replace(self) -> bool:
        return self.neighbours == "replace" and not self.grouped

    @property
    def all_public(self) -> bool:
        """Whether the number of all rows that the question is about is public."""
        return self.native_replace and not self.filtered and not self.persons

    def rows_public(self, column: str) -> bool:
        """Whether the number of rows that have the column is public: soundness, notation."""
        return self.all_public and column in self.never_missing

    @property
    def scattered(self) -> bool:
        """Whether the rows of one unit may lie in several cells."""
        return self.grouped and self.rows_per_unit > 1 and self.groups_per_unit != 1

    @property
    def unit_cells(self) -> int:
        """In how many cells a unit's own sums may be.

        Such sums are over all rows of a unit, so that a limit of rows is none for them.
        """
        if not self.grouped:
            return 1
        return min(self.cells, self.groups_per_unit or self.cells)

    @property
    def cells_per_unit(self) -> int:
        """In how many cells one unit may be."""
        if not self.grouped:
            return 1
        return min(self.rows_per_unit, self.groups_per_unit or self.rows_per_unit)


@dataclass(frozen=True)
class Strategy:
    """One way to answer: parts whose prices add up, and how each aggregate is read off them.

    smoothed: the order statistic that is released instead of parts and choices.
    preferred: whether it may be chosen for its error; some answer is worse than asked alone if not.
    """

    name: str
    parts: tuple[Part, ...]
    readings: Mapping[Aggregate, Basic]
    choices: tuple[Choice | Ballot, ...] = ()
    smoothed: Smoothed | None = None
    preferred: bool = True

    @property
    def epsilon(self) -> Fraction:
        if self.smoothed is not None:
            return self.smoothed.epsilon
        paid = [*(part.epsilon for part in self.parts), *(c.epsilon for c in self.choices)]
        return sum(paid, start=Fraction(0))


def split(nano: int, shares: int) -> Fraction:
    """The price of one of several equal parts."""
    if nano < shares:
        raise refuse(
            "query.epsilon-is-to-be-shared-by-parts",
            fraction=exactly(Fraction(nano, NANO)),
            shares=shares,
        )
    return Fraction(nano // shares, NANO)
