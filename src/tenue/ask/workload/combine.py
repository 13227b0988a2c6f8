"""Weighted sums of answers that were asked together, with their confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arguments import Number, exact, fraction_of_one
from ...errors import refuse
from ...noise.laplace_sum_tail import LaplaceCombination, Reals
from ...text import plain, readable, shortly
from ..aggregates.reading import SHOWN_LEVEL, Noisy
from ..cells import cell_labels
from ..question import Output
from .measured_quantity import FINE
from .required_quantities import Components, Estimated, EstimatedMean, combination_of

if TYPE_CHECKING:
    from ..answer import Answer

Key = int | tuple[Any, ...]
"""The number of an answer; or a tuple of it, the values of its keys, and the name of an output."""

MOST_IN_COVARIANCE = 2_000


@dataclass(frozen=True, repr=False)
class Combination:
    """Σ coefficient·answer with its own confidence interval: post-processing.

    Guarantee
        `interval(level)` covers the true value with probability at least `level`, for coefficients
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

    answer: Answer
    reading: Estimated
    cell: int

    @property
    def _noisy(self) -> Noisy:
        return self.answer.released.cells[self.cell]

    @property
    def exact(self) -> Fraction:
        return self.reading.value(self._noisy, None)

    @property
    def slack(self) -> Fraction:
        return self.reading.slack(self._noisy)

    @cached_property
    def rows(self) -> list[tuple[tuple[int, int, int], float]]:
        found: Components = self.reading.found
        terms = self.reading.terms
        return [(found.row(t.component, self.cell), float(t.weight * FINE)) for t in terms]


def combine(answers: Sequence[Answer], coefficients: Mapping[Key, Number]) -> Combination:
    if not isinstance(coefficients, Mapping) or not coefficients:
        raise refuse("ask.combine-without-coefficients")
    total, slack = Fraction(0), Fraction(0)
    rows: list[tuple[tuple[int, int, int], float]] = []
    blocks: Any = ()
    for key, given in coefficients.items():
        factor = exact(given, "coefficient")
        cell = _found(answers, key)
        blocks = cell.reading.found.blocks
        total += factor * cell.exact
        slack += abs(factor) * cell.slack
        rows += [(row, float(factor) * weight) for row, weight in cell.rows]
    return Combination(total, combination_of(blocks, tuple(rows)), slack)


def covariance(answers: Sequence[Answer]) -> Reals:
    """The covariance of all linear answers: by answer, cell and output, in the order asked for."""
    cells = [one for answer in answers for one in _cells(answer)]
    if not cells:
        raise refuse("ask.answers-not-joint")
    if len(cells) > MOST_IN_COVARIANCE:
        raise refuse("ask.covariance-too-large", many=len(cells), most=MOST_IN_COVARIANCE)
    blocks = cells[0].reading.found.blocks
    noises = sorted({(block, side) for one in cells for (block, side, _), _ in one.rows})
    matrix = np.zeros((len(cells), len(cells)))
    for block, side in noises:
        spread = 1 / (2 * np.sinh(blocks[block].rates / 2) ** 2)
        weights = np.zeros((len(cells), len(spread)))
        for number, one in enumerate(cells):
            for (b, s, row), weight in one.rows:
                if (b, s) == (block, side):
                    weights[number] += weight * blocks[block].weights(row)
        matrix += (weights * spread) @ weights.T
    return matrix


def _cells(answer: Answer) -> list[_Cell]:
    readings = [reading for reading in answer.plan.readings if isinstance(reading, Estimated)]
    if len(readings) < len(answer.plan.readings):
        return []
    return [_Cell(answer, one, cell) for cell in range(answer.plan.cells) for one in readings]


def _found(answers: Sequence[Answer], key: object) -> _Cell:
    number, *rest = key if isinstance(key, tuple) else (key,)
    if type(number) is not int or not 0 <= number < len(answers):
        raise refuse("ask.combine-unknown-answer", key=str(key)[:60], many=len(answers))
    answer, question = answers[number], answers[number].plan.question
    outputs = [o.alias for o in question.outputs if isinstance(o, Output)]
    labels = [tuple(map(plain, one)) for one in cell_labels(question, answer.schema)]
    keys = len(question.keys)
    alias = rest[keys] if len(rest) == keys + 1 else outputs[0] if len(outputs) == 1 else None
    label = tuple(rest[:keys])
    if alias not in outputs or label not in labels or len(rest) > keys + 1:
        raise refuse("ask.combine-unknown-cell", key=str(key)[:60], names=", ".join(outputs))
    reading = answer.plan.readings[outputs.index(str(alias))]
    if not isinstance(reading, Estimated):
        if isinstance(reading, EstimatedMean):
            raise refuse("ask.combine-not-linear")
        raise refuse("ask.answers-not-joint")
    return _Cell(answer, reading, labels.index(label))
