"""Which quantities the questions need: counts, sums, and the pairs of means.

Every count and sum of a question, and every pair of sums that a mean is read off, is a slice of a
block. A pair also holds the count and the sum of its column, so that one noise may serve all three.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...mechanism.error import Term
from ...schema import Number, Schema
from ..family.reading import Reading
from ..question import Aggregate, Question
from .atom import Slice
from .block import FINE, Quantity
from .reading import Components, Estimated, EstimatedMean
from .strategy.runs import Places, Reals

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


@dataclass(frozen=True, eq=False)
class Need:
    """What one aggregate needs: a slice of a block, and how its variance follows from one side's.

    factor: its variance is so many times that of a side, in squared units.
    """

    question: int
    aggregate: Aggregate
    slice: Slice
    factor: Fraction


@dataclass(frozen=True, eq=False)
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
