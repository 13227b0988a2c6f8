"""Draws, what determines their price, and how two strategies compare."""

from __future__ import annotations

import abc
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...engine.computed_column import Computed
from ...engine.contract import Profile
from ...engine.request import Contribution, Measure, Window
from ...errors import refuse
from ...mechanism.additive_noise import Part
from ...noise.criterion import Criterion
from ...noise.source import Source
from ...privacy.loss import EpsilonDelta
from ...schema import Schema
from ...text import exactly
from ..question import Aggregate
from .reading import Reading


class Rows(Protocol):
    """The true numbers of every declared cell that draws need, each read from the engine once."""

    @property
    def measured(self) -> Sequence[Mapping[Measure, int]]:
        """The measures of all draws; zeros where a cell has no rows."""

    def ranks(self, column: str) -> Sequence[Profile]:
        """The values of a column in the windows of all draws."""

    def votes(self, column: str, categories: int) -> Sequence[Sequence[int]]:
        """How many rows have each category."""

    def distinct(self, column: str) -> Sequence[int]:
        """How many different values of the column there are."""

    def overall(self, computed: Computed, window: Window) -> Profile:
        """The values of a computed column near some ranks, over all cells together."""

    def totals(self, computed: Computed) -> Sequence[tuple[int, int]]:
        """How many rows have a computed column, and the sum of its steps."""

    def steps(self, column: str) -> NDArray[np.int64]:
        """All values of a column without groups, in increasing order."""


class Draw(abc.ABC):
    """One paid draw, for all cells together.

    name: its mechanism. epsilon: its price. source: the publication that proves it.
    limits: what it does not promise, besides what no answer promises.
    caveat: what an answer states instead of a margin of error.
    chosen: whether it draws one number a cell, which stands in the last tuple of a released cell,
        with those of all such draws; they are drawn cell by cell. Others have a tuple of their own.
    for_interval: whether it pays for the end of an interval.
    counts_rows: whether a limit of rows per person applies to it.
    required: rows without a value there do not count towards a limit; None if every row counts.
    """

    name: str
    epsilon: Fraction
    limits: tuple[str, ...] = ()
    caveat = ""
    chosen = False
    for_interval = False

    @property
    @abc.abstractmethod
    def source(self) -> str: ...

    @property
    @abc.abstractmethod
    def line(self) -> str:
        """Its line in a certificate."""

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures of each cell that it needs."""
        return ()

    @property
    def windows(self) -> Mapping[str, tuple[Window, ...]]:
        """The ranks near which it needs values of columns."""
        return {}

    @property
    def counts_rows(self) -> bool:
        return True

    @property
    def required(self) -> str | None:
        return None

    def cuts(self, schema: Schema) -> Mapping[str, Contribution]:
        """The bounds of each person's sum: in words, and a contribution that is above 0 exactly if
        the person's sum was clipped."""
        return {}

    def read(self, rows: Rows) -> None:  # noqa: B027 - most draws need nothing beforehand
        """Reads what it needs, before any draw."""

    @abc.abstractmethod
    def check_draw(self, cells: int) -> None:
        """Refuses, for so many cells, whatever `released` would, and draws nothing.

        What passes is paid for; a later refusal would cost the price and give no answer.
        """

    @abc.abstractmethod
    def released(self, rows: Rows, cells: Sequence[int], source: Source) -> list[list[int]]:
        """The released numbers of each cell."""


_LEAST = 1e-300
SAME = 1 + 1e-6
"""Prices are whole billionths, so that strategies at the same price may differ by that little."""


@dataclass(frozen=True)
class Span:
    """The grid points of a bounded column: from `low` to `high` steps, `grid` apart."""

    low: int
    high: int
    grid: Fraction


@dataclass(frozen=True)
class Range:
    """The public facts about a number column, in whole grid steps.

    per_unit: the bounds of one person's sum, if the holder stated them.
    """

    low: int
    high: int
    grid: Fraction
    never_missing: bool
    per_unit: tuple[int, int] | None = None


@dataclass(frozen=True)
class Setting:
    """What determines the price of a question: neighbours, filter, groups, columns.

    groups_per_unit: how many cells of each unit count; None for all.
    """

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

    def law_epsilon(self, price: Fraction, *, native: bool) -> Fraction:
        """The epsilon of a law: half of the price where replace is remove and add."""
        return price / 2 if self.neighbours == "replace" and not native else price

    @cached_property
    def native_replace(self) -> bool:
        return self.neighbours == "replace" and not self.grouped

    @cached_property
    def all_public(self) -> bool:
        """Whether the number of all rows of the question is public."""
        return self.native_replace and not self.filtered and not self.persons

    def rows_public(self, column: str) -> bool:
        """Whether the number of rows that have the column is public."""
        return self.all_public and column in self.never_missing

    @cached_property
    def scattered(self) -> bool:
        """Whether the rows of one unit may lie in several cells."""
        return self.grouped and self.rows_per_unit > 1 and self.groups_per_unit != 1

    @cached_property
    def unit_cells(self) -> int:
        """In how many cells a unit, or its own sums, may be; a limit of rows does not matter there,
        because all rows of the unit count."""
        return min(self.cells, self.groups_per_unit or self.cells) if self.grouped else 1

    @cached_property
    def units_moved(self) -> int:
        """The sensitivity of all counts of units together: each moves by 1 at most, and a replaced
        unit leaves some cells and enters others."""
        both = 2 if self.neighbours == "replace" and self.grouped else 1
        return min(self.cells if self.grouped else 1, both * self.unit_cells)


@dataclass(frozen=True)
class Strategy:
    """Draws whose prices add up, and a reading for each aggregate.

    draws: those with a tuple of their own in a released cell, then those that share the last one.
    preferred: whether its error may make it the chosen one; if not, some answer is worse than when
        asked alone.
    """

    name: str
    draws: tuple[Draw, ...]
    readings: Mapping[Aggregate, Reading]
    preferred: bool = True

    @cached_property
    def epsilon(self) -> Fraction:
        return sum((draw.epsilon for draw in self.draws), start=Fraction(0))

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The draws that are noise on whole numbers: readings refer to them by their index."""
        return tuple([draw for draw in self.draws if isinstance(draw, Part)])


def sizes(strategy: Strategy, wanted: Criterion) -> dict[Aggregate, float]:
    """The error of each aggregate: in its own unit, in ranks or rows, or as 1 / epsilon where it
    depends on the rows; the same measure in every strategy for the same question."""
    parts = strategy.parts
    return {a: reading.size(parts, wanted) for a, reading in strategy.readings.items()}


def score_of(strategy: Strategy, wanted: Criterion) -> float:
    """The errors of all aggregates together, in a form that does not depend on their units."""
    return sum(math.log(max(size, _LEAST)) for size in sizes(strategy, wanted).values())


def no_worse(one: Mapping[Aggregate, float], other: Mapping[Aggregate, float]) -> bool:
    return all(size <= other[a] * SAME for a, size in one.items())


def merged(name: str, several: Sequence[Strategy]) -> Strategy:
    """Strategies for different aggregates, side by side; their prices add up."""
    draws: list[list[Draw]] = [[], []]
    readings: dict[Aggregate, Reading] = {}
    for one in several:
        before = [len(some) for some in draws]
        readings |= {a: reading.moved(*before) for a, reading in one.readings.items()}
        for draw in one.draws:
            draws[draw.chosen].append(draw)
    return Strategy(name, (*draws[0], *draws[1]), readings)


def split(price: EpsilonDelta, shares: int) -> EpsilonDelta:
    """The price of one of several equal parts."""
    each = price // shares
    if not each:
        raise refuse("ask.epsilon-share-too-small", fraction=exactly(price.epsilon), shares=shares)
    return each
