"""How an output is computed from the released numbers of a cell, and its error: post-processing."""

from __future__ import annotations

import abc
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

from ...errors import Refused, refuse
from ...mechanism.additive_noise import Error, Part, Term, half_width, linear_error
from ...noise.criterion import Criterion
from ...text import nearest_float, readable, shortly
from ..question import Aggregate, Applied, Constant, Expression, Over, windows_in

Noisy = Sequence[Sequence[int]]
"""The released numbers of one cell: those of each noise, then those of all selections together."""

Interval = tuple[Fraction, Fraction]
Parts = tuple[Part, ...]

SHOWN_LEVEL = Fraction(19, 20)
_LEAST_MISS = Fraction(1, 10**12)
"""Scores of selections are truncated where less probability than this is left."""


def miss(level: Fraction) -> float:
    """The probability that a bound at this level may fail."""
    return float(max(1 - level, _LEAST_MISS))


@dataclass(frozen=True)
class Expectation:
    """The expected error of one output; None where that depends on rows.

    rank: the rank error of an order statistic at 95 %.
    votes: how many rows a category may be behind the most frequent one at 95 %.
    words: the mean error and the 95 % margin as a table shows them, where they are no numbers.
    legend: what the words mean. note: a remark shown where this candidate is chosen.
    """

    alias: str
    expected_error: float | None = None
    half_width: float | None = None
    standard_deviation: float | None = None
    rank: float | None = None
    votes: float | None = None
    words: tuple[str, str] | None = None
    legend: str = ""
    note: str = ""


class Reading(abc.ABC):
    """How one output is computed. None stands for what cannot be stated without revealing rows.

    needs_row_count: whether the value is computed with the public number of rows.
    alone: whether nothing may stand beside the value. caveat: what an answer states instead.
    unstated: why its error is not even stated with the answer, if it is not.
    term: the one noisy number that it consists of, if it is one.
    """

    needs_row_count = False
    alone = False
    caveat = ""
    unstated = ""

    @property
    def term(self) -> Term | None:
        return None

    @abc.abstractmethod
    def value(self, noisy: Noisy, rows: int | None) -> Fraction | None:
        """The value; None where it is not defined."""

    def interval(
        self, parts: Parts, level: Fraction, noisy: Noisy, rows: int | None
    ) -> Interval | None:
        """The confidence interval: it covers the true value with probability at least `level`."""
        return None

    def expected_error(self, parts: Parts, noisy: Noisy | None, rows: int | None) -> float | None:
        """The mean absolute error."""
        return None

    def before_rows(self, parts: Parts, rows: int | None) -> Error | None:
        """The law of the error, if it is known before a row is read."""
        return None

    def promised(self, parts: Parts, rows: int | None) -> Error | None:
        """The same where it holds for all tables; rows: their number, if it is public."""
        return self.before_rows(parts, None)

    def refuse_accuracy(self) -> Refused:
        """The refusal of an accuracy where `promised` returns None."""
        return refuse("ask.no-accuracy-for-statistic")

    def rank_error(self, level: Fraction) -> float | None:
        """The rank error of an order statistic, with probability `level`."""
        return None

    def rows_off(self, level: Fraction) -> float | None:
        """By how many rows of a group a selected value may be off, with probability `level`."""
        return self.rank_error(level)

    def size(self, parts: Parts, wanted: Criterion) -> float:
        """The error as one number, by which candidates are compared."""
        return math.inf

    def moved(self, parts: int, places: int) -> Self:
        """The same after so many other parts and selections."""
        return self

    def expect(self, alias: str, parts: Parts, rows: int | None) -> Expectation:
        error = self.before_rows(parts, rows)
        if error is None:
            words = ("not stated", "not stated") if self.unstated else None
            return Expectation(alias, words=words, legend=self.unstated)
        return Expectation(
            alias,
            error.quick_mean_absolute_error,
            error.quick_half_width(SHOWN_LEVEL),
            math.sqrt(error.variance),
        )

    def beside(
        self,
        value: object,
        interval: Callable[[Fraction], Interval | None],
        held: Callable[[Fraction], Any],
        paid: Fraction | None,
    ) -> str:
        """The error as a table shows it beside the value.

        held: converts an end to the type of the column. paid: the level of the paid interval.
        """
        return reach(value, interval(SHOWN_LEVEL))

    def remark(self, alias: str, noisy: Noisy) -> str:
        """A further sentence of the answer about this output."""
        return ""

    def combined(self, operator: str, other: Reading) -> Reading:
        return Combined(operator, self, other)


class Additive(Reading):
    """An error whose law is known, but for the number of rows."""

    def refuse_accuracy(self) -> Refused:
        return refuse("ask.no-accuracy-for-mean")

    @abc.abstractmethod
    def error(self, parts: Parts) -> Error:
        """The law of the error, times the number of rows where it depends on that."""

    def size(self, parts: Parts, wanted: Criterion) -> float:
        error = self.error(parts)
        if wanted.kind == "variance":
            return math.sqrt(error.variance)
        if wanted.kind == "absolute-error" and error.quick_mean_absolute_error is not None:
            return error.quick_mean_absolute_error
        return error.quick_half_width(wanted.level or SHOWN_LEVEL)


@dataclass(frozen=True)
class Linear(Additive):
    """A weighted sum of components and a constant; rounded to `grid`, half up, after the noise."""

    terms: tuple[Term, ...]
    constant: Fraction = Fraction(0)
    grid: Fraction | None = None

    @property
    def term(self) -> Term | None:
        return self.terms[0] if len(self.terms) == 1 and not self.constant else None

    def value(self, noisy: Noisy, rows: int | None) -> Fraction:
        value = self._unrounded(noisy)
        if self.grid is None:
            return value
        step, unit = self.grid.numerator, self.grid.denominator
        half_steps = 2 * value.numerator * unit + value.denominator * step
        return Fraction(half_steps // (2 * value.denominator * step) * step, unit)

    @cached_property
    def _whole(self) -> tuple[int, int, list[tuple[int, int, int]]]:
        """A common denominator, and constant and weights times it: fast for many cells."""
        common = math.lcm(self.constant.denominator, *(t.weight.denominator for t in self.terms))
        weights = [(t.part, t.component, int(t.weight * common)) for t in self.terms]
        return common, int(self.constant * common), weights

    def _unrounded(self, noisy: Noisy) -> Fraction:
        common, total, weights = self._whole
        for part, component, weight in weights:
            total += weight * noisy[part][component]
        return Fraction(total, common)

    def error(self, parts: Parts) -> Error:
        return linear_error(parts, self.terms)

    def interval(self, parts: Parts, level: Fraction, noisy: Noisy, rows: int | None) -> Interval:
        half = Fraction(half_width(self.error(parts), level))
        value = self._unrounded(noisy)
        return value - half, value + half

    def expected_error(self, parts: Parts, noisy: Noisy | None, rows: int | None) -> float | None:
        return self.error(parts).mean_absolute_error

    def before_rows(self, parts: Parts, rows: int | None) -> Error:
        return self.error(parts)

    def moved(self, parts: int, places: int) -> Linear:
        return replace(self, terms=tuple(replace(t, part=t.part + parts) for t in self.terms))

    def combined(self, operator: str, other: Reading) -> Reading:
        """Linear where possible, so that its error is known exactly."""
        if isinstance(other, Linear):
            if operator in "+-":
                return self._plus(other, 1 if operator == "+" else -1)
            if operator == "*" and not self.terms:
                return other._times(self.constant)
            if operator == "*" and not other.terms:
                return self._times(other.constant)
            if operator == "/" and not other.terms and other.constant:
                return self._times(1 / other.constant)
        return Combined(operator, self, other)

    def _plus(self, other: Linear, sign: int) -> Linear:
        weights: dict[tuple[int, int], Fraction] = {}
        for terms, factor in ((self.terms, 1), (other.terms, sign)):
            for t in terms:
                key = (t.part, t.component)
                weights[key] = weights.get(key, Fraction(0)) + factor * t.weight
        merged = tuple(Term(p, c, w) for (p, c), w in weights.items() if w)
        # a constant has no error: the class of the other knows how to compute it
        noisy = self if self.terms else other
        constant = self.constant + sign * other.constant
        return replace(noisy, terms=merged, constant=constant, grid=None)

    def _times(self, factor: Fraction) -> Linear:
        terms = tuple(replace(t, weight=t.weight * factor) for t in self.terms)
        return replace(self, terms=terms, constant=self.constant * factor, grid=None)


@dataclass(frozen=True)
class Combined(Reading):
    """An operation that is not linear in the noise, such as a ratio of two answers.

    Its interval follows from those of both sides, each with half of the allowed miss probability.
    """

    operator: str
    left: Reading
    right: Reading

    def refuse_accuracy(self) -> Refused:
        return refuse("ask.no-accuracy-for-mean")

    @property
    def unstated(self) -> str:  # type: ignore[override]
        return self.left.unstated or self.right.unstated

    def remark(self, alias: str, noisy: Noisy) -> str:
        return self.left.remark(alias, noisy) or self.right.remark(alias, noisy)

    def value(self, noisy: Noisy, rows: int | None) -> Fraction | None:
        left, right = self.left.value(noisy, rows), self.right.value(noisy, rows)
        if left is None or right is None:
            return None
        return _apply(self.operator, left, right)

    def interval(
        self, parts: Parts, level: Fraction, noisy: Noisy, rows: int | None
    ) -> Interval | None:
        each = (1 + level) / 2
        left = self.left.interval(parts, each, noisy, rows)
        right = self.right.interval(parts, each, noisy, rows)
        if left is None or right is None:
            return None
        if self.operator == "/" and right[0] <= 0 <= right[1]:
            return None
        ends = [_apply(self.operator, a, b) for a in left for b in right]
        known = [end for end in ends if end is not None]
        return min(known), max(known)


@dataclass(frozen=True)
class AppliedReading(Reading):
    """A function of an output and a number: see `question.Applied`.

    Rounding preserves order, so the rounded ends enclose the rounded true value. No separate error
    is stated for the rounded value.
    """

    function: str
    of: Reading
    number: Fraction

    @property
    def unstated(self) -> str:  # type: ignore[override]
        return self.of.unstated

    def refuse_accuracy(self) -> Refused:
        return refuse("ask.no-accuracy-for-function")

    def remark(self, alias: str, noisy: Noisy) -> str:
        return self.of.remark(alias, noisy)

    def value(self, noisy: Noisy, rows: int | None) -> Fraction | None:
        value = self.of.value(noisy, rows)
        if self.function == "coalesce":
            return self.number if value is None else value
        if self.function == "nullif":
            return None if value == self.number else value
        return None if value is None else rounded(value, int(self.number))

    def interval(
        self, parts: Parts, level: Fraction, noisy: Noisy, rows: int | None
    ) -> Interval | None:
        ends = self.of.interval(parts, level, noisy, rows)
        if ends is None or self.function != "round":
            return ends
        digits = int(self.number)
        return rounded(ends[0], digits), rounded(ends[1], digits)


def rounded(value: Fraction, digits: int) -> Fraction:
    """The value rounded to so many decimals, half away from zero.

    Example
        >>> rounded(Fraction(-5, 2), 0), rounded(Fraction(1234), -2)
        (Fraction(-3, 1), Fraction(1200, 1))
    """
    unit = Fraction(10) ** digits
    size = math.floor(abs(value) * unit + Fraction(1, 2)) / unit
    return size if value >= 0 else -size


def fold(
    expression: Expression,
    readings: Mapping[Aggregate, Reading],
    window: Callable[[Expression], Reading] | None = None,
) -> Reading:
    """The reading of an output whose aggregates are read so.

    window: reads windows, and operations on them.
    """
    if window is not None and not isinstance(expression, Applied) and windows_in(expression):
        return window(expression)
    if isinstance(expression, Aggregate):
        return readings[expression]
    if isinstance(expression, Constant):
        return Linear((), expression.value)
    if isinstance(expression, Applied):
        inner = fold(expression.of, readings, window)
        return AppliedReading(expression.function, inner, expression.number)
    assert not isinstance(expression, Over)  # noqa: S101 - `window` reads it
    sides = expression.left, expression.right
    left, right = (fold(side, readings, window) for side in sides)
    return left.combined(expression.operator, right)


OPERATIONS: Mapping[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def _apply(sign: str, left: Fraction, right: Fraction) -> Fraction | None:
    return None if sign == "/" and not right else OPERATIONS[sign](left, right)


def reach(value: object, found: Interval | None) -> str:
    """The margin of error of the value; both ends if the interval is not symmetric around it."""
    if found is None or not isinstance(value, int | Fraction):
        return ""
    low, high = (nearest_float(abs(end - value)) for end in found)
    if max(low, high) <= 1.25 * min(low, high):  # rounding to the grid shifts the middle a little
        return shortly(max(low, high))
    return f"{readable(found[0])} to {readable(found[1])}"
