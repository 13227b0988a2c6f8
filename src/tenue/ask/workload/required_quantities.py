"""Which quantities the questions need, and how an answer follows from their estimates.

The noisy numbers of a cell are the estimates of its components, in parts 1/FINE of a step, and then
the number of the cell and a bound of the rounding error of its estimates.

Every count and sum of a question, and every pair of sums for a mean, is a slice of a block. The
count and the sum of its column follow from a pair too, so that one noise may serve all three.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ...mechanism.additive_noise import Error, Term
from ...noise.laplace_sum_tail import LaplaceCombination, Reals, relative
from ...schema import Number, Schema
from ..aggregates.mean import PairMean
from ..aggregates.reading import Interval, Linear, Noisy, Parts, Reading
from ..question import Aggregate, Question
from .grid import Slice
from .level import Places
from .measured_quantity import FINE, Block, Quantity

_CLOSE = 2.0**-24
_SHARES = 128
"""Errors of means are computed at so many shares of a range, and bounded between them."""
_HIDDEN = Fraction(1, 1024)
"""The fraction of the miss probability for the bound between two of them."""


@dataclass(frozen=True, eq=False)
class Components:
    """The block, the slice of it, and the side of each component of a question."""

    blocks: tuple[Block, ...]
    places: tuple[tuple[int, int, int], ...]
    cells: int

    def row(self, component: int, cell: int) -> tuple[int, int, int]:
        """The block, the side and the row of a component in a cell."""
        block, index, side = self.places[component]
        return block, side, self.blocks[block].offsets[index] + cell

    def combination(self, cell: int, terms: Sequence[Term]) -> LaplaceCombination:
        """The law of the error of a weighted sum of components, in the unit of the weights."""
        rows = [(self.row(t.component, cell), float(t.weight * FINE)) for t in terms]
        if len({place[:2] for place, _ in rows}) == len(rows):
            # one row of each noise: then all cells with rows of the same law have the same error
            rows = [((b, side, int(self.blocks[b].first_like[r])), w) for (b, side, r), w in rows]
        return combination_of(self.blocks, tuple(rows))

    def variance(self, cell: int, terms: Sequence[Term]) -> float:
        if len(terms) == 1:
            block, _, row = self.row(terms[0].component, cell)
            return float(self.blocks[block].variances[row] * float(terms[0].weight * FINE) ** 2)
        return self.combination(cell, terms).variance

    def worst(self, terms: Sequence[Term]) -> int:
        """The cell where their variance is largest."""
        return max(range(self.cells), key=lambda cell: self.variance(cell, terms))


@lru_cache(maxsize=65_536)
def combination_of(
    blocks: tuple[Block, ...], rows: tuple[tuple[tuple[int, int, int], float], ...]
) -> LaplaceCombination:
    """The law of Σ weight·(estimate − truth) over rows, each given by block, side and place."""
    places = dict.fromkeys(place[:2] for place, _ in rows)
    if not places:
        return LaplaceCombination(np.zeros(0), np.zeros(0))
    rates = [blocks[block].rates for block, _ in places]
    added = {at: np.zeros(len(rate)) for at, rate in zip(places, rates, strict=True)}
    doubts = {at: np.zeros(len(own)) for at, own in added.items()}
    for (block, side, place), weight in rows:
        own, doubt = blocks[block].weighed(place)
        # one row with weight 1 is not rounded
        off = 0.0 if len(rows) == 1 and weight == 1 else relative(len(rows) + 3)
        added[block, side] += weight * own
        doubts[block, side] += abs(weight) * (doubt + off * np.abs(own))
    weights, doubt = (np.concatenate([*each.values()]) for each in (added, doubts))
    return LaplaceCombination(weights, np.concatenate(rates), doubt)


_half = lru_cache(maxsize=65_536)(LaplaceCombination.half_width)
_quick_half = lru_cache(maxsize=65_536)(LaplaceCombination.quick_half_width)


@dataclass(frozen=True)
class Estimated(Linear):
    """A weighted sum of estimates; its interval is that of the noise, widened by rounding."""

    found: Components = field(kw_only=True, repr=False)

    @property
    def term(self) -> None:
        return None

    def _at(self, cell: int) -> LaplaceCombination:
        return self.found.combination(cell, self.terms)

    def error(self, parts: Parts) -> Error:
        return self._at(self.found.worst(self.terms))

    def slack(self, noisy: Noisy) -> Fraction:
        return sum((abs(t.weight) for t in self.terms), Fraction(0)) * noisy[1][1]

    def interval(self, parts: Parts, level: Fraction, noisy: Noisy, rows: int | None) -> Interval:
        half = Fraction(_half(self._at(noisy[1][0]), level)) + self.slack(noisy)
        value = self._unrounded(noisy)
        return value - half, value + half

    def expected_error(self, parts: Parts, noisy: Noisy | None, rows: int | None) -> float | None:
        if noisy is None:
            return self.error(parts).mean_absolute_error
        return self._at(noisy[1][0]).mean_absolute_error

    def moved(self, parts: int, places: int) -> Estimated:
        return self


@dataclass(frozen=True)
class EstimatedMean(PairMean):
    """The mean from the two estimates of a pair.

    Its interval holds every mean that the estimates do not reject: for the share s of the range,
    (1 − s)·below − s·above is an error alone, whose law is known. That law is computed for few
    shares, which all cells have in common: from the nearest one, k, the error at s differs by
    (s − k)·(above + below), which is bounded too, and both hold at once.
    """

    above: int
    below: int
    low: Fraction
    high: Fraction
    found: Components = field(kw_only=True, repr=False)

    def pair(self, noisy: Noisy) -> tuple[int, int]:
        return noisy[0][self.above], noisy[0][self.below]

    def _law(self, cell: int, below: Fraction, above: Fraction) -> LaplaceCombination:
        """The law of the error of below·Σ(x − low) + above·Σ(high − x), in steps."""
        terms = Term(0, self.below, below / FINE), Term(0, self.above, above / FINE)
        return self.found.combination(cell, terms)

    def reach(self, cell: int, share: float, level: Fraction) -> float:
        """A bound of the error at a share of the range, with that probability."""
        near = round(share * _SHARES) / _SHARES
        outside = 1 - level
        # both sides have the same law, so that a share and 1 minus it have the same error
        least = Fraction(min(near, 1 - near))
        own = _half(self._law(cell, 1 - least, -least), 1 - outside * (1 - _HIDDEN))
        if share == near:
            return own
        both = self._law(cell, Fraction(1), Fraction(1))
        return own + abs(share - near) * _quick_half(both, 1 - outside * _HIDDEN)

    def error(self, parts: Parts) -> Error:
        """The error of a mean in the middle of its range, times the number of rows, in its unit."""
        block = self.found.blocks[self.found.places[self.above][0]]
        half = (self.high - self.low) / int(block.quantity.span) / 2
        cell = self.found.worst((Term(0, self.below, half / FINE),))
        return self._law(cell, half, -half)

    def interval(
        self, parts: Parts, level: Fraction, noisy: Noisy, rows: int | None
    ) -> Interval | None:
        above, below = (number / FINE for number in self.pair(noisy))
        cell, slack = noisy[1]
        off = slack / FINE + relative(8) * (abs(above) + abs(below))

        def rejected(share: float) -> bool:
            half = self.reach(cell, share, level) + off
            return abs((1 - share) * below - share * above) > half

        def edge(inside: float, end: float) -> float:
            if not rejected(end):
                return end
            while abs(end - inside) > max(_CLOSE, abs(inside) * 1e-4):
                middle = (inside + end) / 2
                inside, end = (inside, middle) if rejected(middle) else (middle, end)
            return end

        return self.shares(noisy, edge)


def is_linear(question: Question) -> bool:
    """Whether a question has nothing but counts, sums and means of columns of rows.

    One value of each person is not linear in rows, because it is clipped to its bounds.
    """
    aggregates = question.aggregates()
    if not aggregates or question.persons is not None or question.windows:
        return False
    plain = [a for a in aggregates if a == Aggregate(a.kind, a.column)]
    return len(plain) == len(aggregates) and {a.kind for a in plain} <= {"count", "sum", "avg"}


@dataclass(frozen=True, eq=False)
class Need:
    """The slice of a block that one aggregate needs.

    factor: its variance as a multiple of that of one side, in squared units.
    """

    question: int
    aggregate: Aggregate
    slice: Slice
    factor: Fraction


@dataclass(frozen=True, eq=False)
class Layout:
    """The needs that the block of each quantity serves."""

    needs: Mapping[Quantity, tuple[Need, ...]]

    @property
    def asked(self) -> tuple[int, ...]:
        return tuple(sorted({need.question for needs in self.needs.values() for need in needs}))

    def slices(self, quantity: Quantity) -> tuple[Slice, ...]:
        return tuple(dict.fromkeys(need.slice for need in self.needs[quantity]))

    def allowed(self, quantity: Quantity, alone: Mapping[tuple[int, Aggregate], float]) -> Reals:
        """The largest variance of a side at each row for which no answer is worse than alone."""
        slices = self.slices(quantity)
        bars = dict.fromkeys(slices, np.inf)
        for need in self.needs[quantity]:
            bar = alone[need.question, need.aggregate] / float(need.factor)
            bars[need.slice] = min(bars[need.slice], bar)
        return np.repeat([bars[one] for one in slices], [one.cells for one in slices])

    def questions(self, quantity: Quantity) -> Places:
        """The number of the question of each row."""
        slices = self.slices(quantity)
        return np.repeat([one.question for one in slices], [one.cells for one in slices])


def layouts(questions: Mapping[int, Question], schema: Schema) -> Iterator[Layout]:
    """Counts by themselves; and in the pair of the only column, if it is never missing."""
    every = [a for q in questions.values() for a in q.aggregates()]
    yield _layout(questions, schema, {a.column for a in every if a.kind == "avg"}, None)
    columns = {a.column for a in every if a.kind != "count"}
    only = columns.pop() if len(columns) == 1 else None
    counted = any(a.kind == "count" for a in every)
    if counted and only is not None and schema.column(only).missing is not None:
        yield _layout(questions, schema, {only}, only)


def _layout(
    questions: Mapping[int, Question],
    schema: Schema,
    paired: set[str | None],
    counting: str | None,
) -> Layout:
    needs: dict[Quantity, list[Need]] = {}
    for number, question in questions.items():
        for aggregate in question.aggregates():
            quantity, factor = _quantity(aggregate, schema, paired, counting)
            column = aggregate.column if aggregate.kind == "count" else None
            present = column if column and schema.column(column).missing is None else ""
            own = Slice(number, question.cells, present)
            needs.setdefault(quantity, []).append(Need(number, aggregate, own, factor))
    return Layout({quantity: tuple(own) for quantity, own in needs.items()})


def _quantity(
    aggregate: Aggregate, schema: Schema, paired: set[str | None], counting: str | None
) -> tuple[Quantity, Fraction]:
    name = counting if aggregate.kind == "count" else aggregate.column
    if name is None:
        return Quantity("rows"), Fraction(1)
    column = schema.column(name)
    assert isinstance(column, Number)  # noqa: S101 - the parser takes no sum of anything else
    low, high = int(column.low / column.grid), int(column.high / column.grid)
    if name not in paired:
        return Quantity("total", name, low, high), column.grid**2
    pair, width = Quantity("pair", name, low, high), max(1, high - low)
    if aggregate.kind == "count":
        return pair, Fraction(2, width**2)
    if aggregate.kind == "sum":
        return pair, column.grid**2 * Fraction(low**2 + high**2, width**2)
    return pair, column.grid**2 / 2


def reading(
    aggregate: Aggregate, quantity: Quantity, first: int, found: Components, schema: Schema
) -> Reading:
    """How an aggregate of a question follows from its components, of which `first` is the first."""
    one = Fraction(1, FINE)
    if quantity.kind == "rows":
        return Estimated((Term(0, first, one),), found=found)
    column = schema.column(quantity.column)
    assert isinstance(column, Number)  # noqa: S101 - as above
    grid = column.grid
    if quantity.kind == "total":
        return Estimated((Term(0, first, grid * one),), found=found)
    if aggregate.kind == "avg":
        return EstimatedMean(first, first + 1, column.low, column.high, found=found)
    ends = (1, 1) if aggregate.kind == "count" else (quantity.low * grid, quantity.high * grid)
    weights = [Fraction(end) / quantity.span * one for end in ends]
    terms = [Term(0, first + side, weight) for side, weight in enumerate(weights) if weight]
    return Estimated(tuple(terms), found=found)
