"""Answers that were asked together, added up: what that gives, and how far off it may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ...arguments import Number, exact, fraction_of_one
from ...errors import refuse
from ...schema import Schema
from ...text import plain, readable, shortly
from ..aggregates.reading import SHOWN_LEVEL, Noisy
from ..cells import cell_labels
from ..plan.plan import Plan
from ..question import Output
from .laplace_sum_tail import LaplaceCombination
from .level import Reals
from .measured_quantity import FINE
from .required_quantities import Components, Estimated, EstimatedMean, combination_of

Key = int | tuple[Any, ...]
"""The number of an answer; or that, the values of its keys, and the name of an output."""

MOST_IN_COVARIANCE = 2_000


class Cells(Protocol):
    """What left for a question: the numbers of each of its cells."""

    @property
    def cells(self) -> Sequence[Noisy]: ...


class Summand(Protocol):
    """What a combination needs of an answer."""

    @property
    def plan(self) -> Plan: ...
    @property
    def schema(self) -> Schema: ...
    @property
    def released(self) -> Cells: ...


@dataclass(frozen=True, repr=False)
class Combination:
    """Σ coefficient·answer, with its own interval, at no price.

    Guarantee
        `interval(level)` holds the true value with probability at least `level`, for coefficients
        that were chosen before the answers were seen.

    value: the sum; exact: as a Fraction.
    """

    exact: Fraction
    law: LaplaceCombination
    slack: Fraction

    @property
    def value(self) -> Any:
        return plain(self.exact)

    @property
    def variance(self) -> float:
        return self.law.variance

    @property
    def expected_error(self) -> float:
        """The mean absolute error."""
        return self.law.mean_absolute_error

    def interval(self, level: Number) -> tuple[Any, Any]:
        half = Fraction(self.law.half_width(fraction_of_one(level, "level"))) + self.slack
        return plain(self.exact - half), plain(self.exact + half)

    def __str__(self) -> str:
        half = self.law.half_width(SHOWN_LEVEL)
        return f"{readable(self.exact)} ± {shortly(half)} (95 %)"

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class _Cell:
    """One output of one cell of an answer, as a weighted sum of rows of blocks."""

    answer: Summand
    reading: Estimated
    cell: int

    @property
    def exact(self) -> Fraction:
        return self.reading.value(self.answer.released.cells[self.cell], None)

    @property
    def slack(self) -> Fraction:
        (_, slack) = self.answer.released.cells[self.cell][1]
        return sum((abs(t.weight) for t in self.reading.terms), Fraction(0)) * slack

    @cached_property
    def rows(self) -> list[tuple[tuple[int, int, int], float]]:
        found: Components = self.reading.found
        terms = self.reading.terms
        return [(found.row(t.component, self.cell), float(t.weight * FINE)) for t in terms]


def combine(answers: Sequence[Summand], coefficients: Mapping[Key, Number]) -> Combination:
    """The weighted sum of some answers."""
    if not isinstance(coefficients, Mapping) or not coefficients:
        raise refuse("ask.combine-without-coefficients")
    total, slack = Fraction(0), Fraction(0)
    rows: list[tuple[tuple[int, int, int], float]] = []
    blocks: Any = ()
    for key, given in coefficients.items():
        factor = exact(given, "coefficient")
        found = _found(answers, key)
        blocks = found.reading.found.blocks
        total += factor * found.exact
        slack += abs(factor) * found.slack
        rows += [(place, float(factor) * weight) for place, weight in found.rows]
    return Combination(total, combination_of(blocks, rows), slack)


def covariance(answers: Sequence[Summand]) -> Reals:
    """The covariance of all answers that are linear: for each answer its cells, for each cell its
    outputs, in the order in which they are asked for."""
    cells = [one for answer in answers for one in _cells(answer)]
    if not cells:
        raise refuse("ask.answers-not-joint")
    if len(cells) > MOST_IN_COVARIANCE:
        raise refuse("ask.covariance-too-large", many=len(cells), most=MOST_IN_COVARIANCE)
    blocks = cells[0].reading.found.blocks
    places = sorted({(block, side) for one in cells for (block, side, _), _ in one.rows})
    found = np.zeros((len(cells), len(cells)))
    for block, side in places:
        spread = 1 / (2 * np.sinh(blocks[block].rates / 2) ** 2)
        weights = np.zeros((len(cells), len(spread)))
        for number, one in enumerate(cells):
            for (b, s, row), weight in one.rows:
                if (b, s) == (block, side):
                    weights[number] += weight * blocks[block].weights(row)
        found += (weights * spread) @ weights.T
    return found


def _cells(answer: Summand) -> list[_Cell]:
    readings = answer.plan.readings
    if not readings or not all(isinstance(reading, Estimated) for reading in readings):
        return []
    return [
        _Cell(answer, reading, cell)  # type: ignore[arg-type]
        for cell in range(answer.plan.cells)
        for reading in readings
    ]


def _found(answers: Sequence[Summand], key: object) -> _Cell:
    number, *rest = key if isinstance(key, tuple) else (key,)
    if type(number) is not int or not 0 <= number < len(answers):
        raise refuse("ask.combine-unknown-answer", key=str(key)[:60], many=len(answers))
    answer = answers[number]
    outputs = [o.alias for o in answer.plan.question.outputs if isinstance(o, Output)]
    labels = [tuple(map(plain, one)) for one in cell_labels(answer.plan.question, answer.schema)]
    keys = len(answer.plan.question.keys)
    alias = rest[keys] if len(rest) == keys + 1 else outputs[0] if len(outputs) == 1 else None
    place = tuple(rest[:keys])
    if alias not in outputs or place not in labels or len(rest) > keys + 1:
        raise refuse("ask.combine-unknown-cell", key=str(key)[:60], names=", ".join(outputs))
    reading = answer.plan.readings[outputs.index(str(alias))]
    if not isinstance(reading, Estimated):
        if isinstance(reading, EstimatedMean):
            raise refuse("ask.combine-not-linear")
        raise refuse("ask.answers-not-joint")
    return _Cell(answer, reading, labels.index(place))
