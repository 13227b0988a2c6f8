"""Which quantities the questions need, and how an answer is read off their estimates.

The noisy numbers of a cell are the estimates of its components, in parts 1/FINE of a step, and then
the cell's own number: what the released numbers say about it differs from cell to cell.

Every count and sum of a question, and every pair of sums that a mean is read off, is a slice of a
block. A pair also holds the count and the sum of its column, so that one noise may serve all three.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ...mechanism.additive_noise import Error, Term
from ...schema import Number, Schema
from ..aggregates.reading import Additive, Interval, Linear, Noisy, Parts, Reading
from ..question import Aggregate, Question
from .grid import Slice
from .laplace_sum_tail import LaplaceCombination
from .level import Places, Reals, relative
from .measured_quantity import FINE, Block, Quantity

_CLOSE = 2.0**-24
_SHARES = 128
"""At so many shares of a range, and between them, errors of means are computed."""
_HIDDEN = Fraction(1, 1024)
"""What the way to the next of them may miss, in parts of what is outside."""


@dataclass(frozen=True, eq=False)
class Components:
    """Where the components of a question are: the block, which of its slices, and which side."""

    blocks: tuple[Block, ...]
    places: tuple[tuple[int, int, int], ...]
    cells: int

    def row(self, component: int, cell: int) -> tuple[int, int, int]:
        """The block, the side and the row of a component in a cell."""
        block, one, side = self.places[component]
        return block, side, self.blocks[block].offsets[one] + cell

    def combination(self, cell: int, terms: Sequence[Term]) -> LaplaceCombination:
        """The law of the error of a weighted sum of components, in the unit of the weights."""
        rows = [(self.row(t.component, cell), float(t.weight * FINE)) for t in terms]
        if len({place[:2] for place, _ in rows}) == len(rows):
            # of each noise one row: cells whose rows are alike have the same law
            rows = [((b, side, self.blocks[b].first_like(r)), w) for (b, side, r), w in rows]
        return _combined(self.blocks, tuple(rows))

    def variance(self, cell: int, terms: Sequence[Term]) -> float:
        """The variance of a weighted sum of components in a cell."""
        if len(terms) == 1:
            block, _, row = self.row(terms[0].component, cell)
            return float(self.blocks[block].variances[row] * float(terms[0].weight * FINE) ** 2)
        return self.combination(cell, terms).variance

    def worst(self, terms: Sequence[Term]) -> int:
        """The cell where it is largest."""
        return max(range(self.cells), key=lambda cell: self.variance(cell, terms))


def combination_of(
    blocks: Sequence[Block], rows: Sequence[tuple[tuple[int, int, int], float]]
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
        # of one row as it is nothing is rounded
        off = 0.0 if len(rows) == 1 and weight == 1 else relative(len(rows) + 3)
        added[block, side] += weight * own
        doubts[block, side] += abs(weight) * (doubt + off * np.abs(own))
    every, doubt = (np.concatenate([*found.values()]) for found in (added, doubts))
    return LaplaceCombination(every, np.concatenate(rates), doubt)


def row_law(block: Block, rows: Any, place: int) -> LaplaceCombination:
    """The law of the error of any sum over the atoms of a block, asked for or not."""
    weights, doubts = block.weighed(place, rows)
    return LaplaceCombination(weights, block.rates, doubts)


@lru_cache(maxsize=65_536)
def _combined(
    blocks: tuple[Block, ...], rows: tuple[tuple[tuple[int, int, int], float], ...]
) -> LaplaceCombination:
    return combination_of(blocks, rows)


@lru_cache(maxsize=65_536)
def _half(error: LaplaceCombination, level: Fraction) -> float:
    return error.half_width(level)


@lru_cache(maxsize=65_536)
def _quick_half(error: LaplaceCombination, level: Fraction) -> float:
    return error.quick_half_width(level)


@dataclass(frozen=True)
class Estimated(Linear):
    """A weighted sum of estimates: counts, sums, and what is added to them.

    Its interval is that of the noise, wider by how far rounding may have moved the estimates.
    """

    found: Any = field(default=None, repr=False)

    @property
    def term(self) -> None:
        return None

    def _at(self, cell: int) -> LaplaceCombination:
        law: LaplaceCombination = self.found.combination(cell, self.terms)
        return law

    def error(self, parts: Parts) -> Error:
        return self._at(self.found.worst(self.terms))

    def interval(self, parts: Parts, level: Fraction, noisy: Noisy, rows: int | None) -> Interval:
        cell, slack = noisy[1]
        half = Fraction(_half(self._at(cell), level))
        half += sum(abs(t.weight) for t in self.terms) * slack
        value = self._unrounded(noisy)
        return value - half, value + half

    def expected_error(self, parts: Parts, noisy: Noisy | None, rows: int | None) -> float | None:
        if noisy is None:
            return self.error(parts).mean_absolute_error
        return self._at(noisy[1][0]).mean_absolute_error

    def before_rows(self, parts: Parts, rows: int | None) -> Error:
        return self.error(parts)

    def moved(self, parts: int, places: int) -> Estimated:
        return self


@dataclass(frozen=True)
class EstimatedMean(Additive):
    """low + (high − low)·below / (above + below), from the two estimates of a pair.

    Its interval holds every mean that the estimates do not reject: for the share s of the range,
    (1 − s)·below − s·above is an error alone, whose law is known. That law is computed for few
    shares, which all cells have in common: from the nearest one, k, the error at s differs by
    (s − k)·(above + below), which is bounded too, and both hold at once.
    """

    above: int
    below: int
    low: Fraction
    high: Fraction
    found: Any = field(default=None, repr=False)

    def _pair(self, noisy: Noisy) -> tuple[int, int]:
        return noisy[0][self.above], noisy[0][self.below]

    def value(self, noisy: Noisy, rows: int | None) -> Fraction:
        above, below = self._pair(noisy)
        both = above + below
        if both <= 0:
            return (self.low + self.high) / 2  # no rows are visible: the middle of the range
        share = Fraction(min(max(below, 0), both), both)
        return self.low + (self.high - self.low) * share

    def _blend(self, cell: int, share: float) -> LaplaceCombination:
        near = Fraction(share)
        terms = Term(0, self.below, (1 - near) / FINE), Term(0, self.above, -near / FINE)
        law: LaplaceCombination = self.found.combination(cell, terms)
        return law

    def reach(self, cell: int, share: float, level: Fraction) -> float:
        """How far the error at a share of the range is off at most, with that probability."""
        near = round(share * _SHARES) / _SHARES
        outside = 1 - level
        # the two sides have the same law, so that a share and what it leaves have one too
        own = _half(self._blend(cell, min(near, 1 - near)), 1 - outside * (1 - _HIDDEN))
        if share == near:
            return own
        one = Fraction(1, FINE)
        both = self.found.combination(cell, (Term(0, self.below, one), Term(0, self.above, one)))
        return own + abs(share - near) * _quick_half(both, 1 - outside * _HIDDEN)

    def error(self, parts: Parts) -> Error:
        """The error of a mean in the middle of its range, times the number of rows, in its unit."""
        half = Fraction(1, 2) * self._step
        terms = Term(0, self.below, half / FINE), Term(0, self.above, -half / FINE)
        law: LaplaceCombination = self.found.combination(self.found.worst(terms[:1]), terms)
        return law

    @property
    def _step(self) -> Fraction:
        block = self.found.blocks[self.found.places[self.above][0]]
        return (self.high - self.low) / int(block.quantity.span)

    def interval(
        self, parts: Parts, level: Fraction, noisy: Noisy, rows: int | None
    ) -> Interval | None:
        above, below = (number / FINE for number in self._pair(noisy))
        cell, slack = noisy[1]
        off = slack / FINE + relative(8) * (abs(above) + abs(below))

        def rejected(share: float) -> bool:
            half = self.reach(cell, share, level) + off
            return abs((1 - share) * below - share * above) > half

        guess = float((self.value(noisy, rows) - self.low) / (self.high - self.low))
        span = self.high - self.low
        low, high = (_edge(rejected, guess, end) for end in (0.0, 1.0))
        return self.low + span * Fraction(low), self.low + span * Fraction(high)


def _edge(rejected: Callable[[float], bool], inside: float, end: float) -> float:
    """Between what is not rejected and what is, on the side of what is."""
    if not rejected(end):
        return end
    while abs(end - inside) > max(_CLOSE, abs(inside) * 1e-4):
        middle = (inside + end) / 2
        inside, end = (inside, middle) if rejected(middle) else (middle, end)
    return end


# -- Which quantities the questions need: counts, sums, and the pairs of means ---------------------

ROWS = Quantity("rows")


def is_linear(question: Question) -> bool:
    """Whether a question has nothing but counts, sums and means of columns of rows.

    One value of each person is not linear in rows: it is cut to its bounds.
    """
    aggregates = question.aggregates()
    return (
        bool(aggregates)
        and question.persons is None
        and all(
            a.kind in ("count", "sum", "avg") and a == Aggregate(a.kind, a.column)
            for a in aggregates
        )
    )


@dataclasses.dataclass(frozen=True, eq=False)
class Need:
    """What one aggregate needs: a slice of a block, and how its variance follows from one side's.

    factor: its variance is so many times that of a side, in squared units.
    """

    question: int
    aggregate: Aggregate
    slice: Slice
    factor: Fraction


@dataclasses.dataclass(frozen=True, eq=False)
class Layout:
    """The blocks, and for each the needs that it serves."""

    needs: Mapping[Quantity, tuple[Need, ...]]

    def slices(self, quantity: Quantity) -> tuple[Slice, ...]:
        return tuple(dict.fromkeys(need.slice for need in self.needs[quantity]))

    def allowed(self, quantity: Quantity, alone: Mapping[tuple[int, Aggregate], float]) -> Reals:
        """The variance of a side that each row may have, if none shall be worse than alone."""
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
    """Counts by themselves; and in the pair of the one column, if there is one without gaps."""
    columns = dict.fromkeys(
        a.column for q in questions.values() for a in q.aggregates() if a.kind != "count"
    )
    paired = {a.column for q in questions.values() for a in q.aggregates() if a.kind == "avg"}
    yield _layout(questions, schema, paired, None)
    counted = any(a.kind == "count" for q in questions.values() for a in q.aggregates())
    (only, *others) = [*columns, None]
    single = only is not None and others == [None]
    if counted and single and only is not None and _never_missing(only, schema):
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
            present = ""
            if aggregate.kind == "count" and aggregate.column is not None:
                present = "" if _never_missing(aggregate.column, schema) else aggregate.column
            one = Slice(number, question.cells, present)
            needs.setdefault(quantity, []).append(Need(number, aggregate, one, factor))
    return Layout({quantity: tuple(own) for quantity, own in needs.items()})


def _quantity(
    aggregate: Aggregate, schema: Schema, paired: set[str | None], counting: str | None
) -> tuple[Quantity, Fraction]:
    name = counting if aggregate.kind == "count" else aggregate.column
    if name is None:
        return ROWS, Fraction(1)
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


def _never_missing(name: str, schema: Schema) -> bool:
    return schema.column(name).missing is not None


def readings(
    question: Question,
    found: Components,
    needs: Sequence[tuple[Need, Quantity, int]],
    schema: Schema,
) -> dict[Aggregate, Reading]:
    """How each aggregate of a question is read off its components.

    needs: what each aggregate needs, the quantity of its block, and the first of its components.
    """
    made: dict[Aggregate, Reading] = {}
    for need, quantity, first in needs:
        aggregate = need.aggregate
        made[aggregate] = _reading(aggregate, quantity, first, found, schema)
    return made


def _reading(
    aggregate: Aggregate, quantity: Quantity, first: int, found: Components, schema: Schema
) -> Reading:
    one = Fraction(1, FINE)
    if quantity.kind == "rows":
        return Estimated((Term(0, first, one),), found=found)
    column = schema.column(quantity.column)
    assert isinstance(column, Number)  # noqa: S101 - as above
    grid, low, high = column.grid, quantity.low, quantity.high
    if quantity.kind == "total":
        return Estimated((Term(0, first, grid * one),), found=found)
    if aggregate.kind == "avg":
        return EstimatedMean(first, first + 1, column.low, column.high, found=found)
    width = max(1, high - low)
    above, below = (1, 1) if aggregate.kind == "count" else (low * grid, high * grid)
    weights = Fraction(above) / width * one, Fraction(below) / width * one
    terms = [Term(0, first + side, weight) for side, weight in enumerate(weights) if weight]
    return Estimated(tuple(terms), found=found)
