"""How an output is read off the released numbers of a cell, and how far off it may be.

Everything here is a function of released numbers and of laws: it costs nothing and tells nothing
about rows.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

from ...errors import Refused, refuse
from ...mechanism.additive_noise import Error, Part, Term, half_width, linear_error
from ...noise.criterion import Criterion
from ...text import nearest_float, readable, shortly
from ..question import Aggregate, Applied, Constant, Expression

Noisy = Sequence[Sequence[int]]
"""The released numbers of one cell: those of each noise, then those of all selections together."""

Interval = tuple[Fraction, Fraction]
Parts = tuple[Part, ...]

SHOWN_LEVEL = Fraction(19, 20)


@dataclass(frozen=True)
class Expectation:
    """How far one output will be off; None where that depends on rows.

    rank: for a value with a rank, by how many ranks it is off at most with 95 %.
    votes: for the most frequent category, by how many rows it is behind at most with 95 %.
    words: the mean error and the 95 % reach as a table shows them, where they are no numbers.
    legend: what the words mean. note: what is to be said where this is chosen.
    """

    alias: str
    expected_error: float | None
    half_width: float | None
    standard_deviation: float | None
    rank: float | None = None
    votes: float | None = None
    words: tuple[str, str] | None = None
    legend: str = ""
    note: str = ""


class Reading(abc.ABC):
    """How one output is read. What answers None cannot be told: it would be a fact about the rows.

    needs_row_count: whether the value is computed with the public number of rows.
    alone: whether nothing may stand beside the value. caveat: what an answer says of it instead.
    untold: why its error is not even told with the answer, if it is not.
    term: the one noisy number that it is, if it is one.
    """

    needs_row_count = False
    alone = False
    caveat = ""
    untold = ""

    @property
    def term(self) -> Term | None:
        return None

    @abc.abstractmethod
    def value(self, noisy: Noisy, rows: int | None) -> Fraction | None:
        """The value; None where it is not defined."""

    def interval(
        self, parts: Parts, level: Fraction, noisy: Noisy, rows: int | None
    ) -> Interval | None:
        """Where the true value lies with probability at least `level`."""
        return None

    def expected_error(self, parts: Parts, noisy: Noisy | None, rows: int | None) -> float | None:
        """The mean absolute error."""
        return None

    def before_rows(self, parts: Parts, rows: int | None) -> Error | None:
        """The law of the error, as far as it is known before a row is read."""
        return None

    def promised(self, parts: Parts, rows: int | None) -> Error | None:
        """The same where it holds whatever the rows are.

        rows: how many there are, where that is public.
        """
        return self.before_rows(parts, None)

    def refuse_accuracy(self) -> Refused:
        """Why no accuracy can be promised where `promised` says nothing."""
        return refuse("ask.no-accuracy-for-statistic")

    def rank_error(self, level: Fraction) -> float | None:
        """By how many ranks a value with a rank is off at most, with probability `level`."""
        return None

    def size(self, parts: Parts, wanted: Criterion) -> float:
        """The error as one number that two ways to answer are compared by."""
        return math.inf

    def moved(self, parts: int, places: int) -> Self:
        """The same where so many noises and selections stand before its own."""
        return self

    def expect(self, alias: str, parts: Parts, rows: int | None) -> Expectation:
        """What a plan says of it."""
        error = self.before_rows(parts, rows)
        if error is None:
            words = ("untold", "untold") if self.untold else None
            return Expectation(alias, None, None, None, words=words, legend=self.untold)
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
        bought: Fraction | None,
    ) -> str:
        """What people see beside the value.

        held: an end as the column holds it. bought: the level of intervals that were paid for.
        """
        return reach(value, interval(SHOWN_LEVEL))

    def remark(self, alias: str, noisy: Noisy) -> str:
        """What an answer says of the output besides."""
        return ""

    def combined(self, operator: str, other: Reading) -> Reading:
        """An operation with another output on the right."""
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
    """A weighted sum of components and a constant: counts, sums, and what is added to them.

    With a `grid` the value is rounded to it, half up, after the noise.
    """

    terms: tuple[Term, ...]
    constant: Fraction = Fraction(0)
    grid: Fraction | None = None

    @property
    def term(self) -> Term | None:
        return self.terms[0] if len(self.terms) == 1 and not self.constant else None

    def value(self, noisy: Noisy, rows: int | None) -> Fraction:
        if self.grid is None:
            return self._unrounded(noisy)
        top, bottom = self._top(noisy) * 2 * self.grid.denominator, self._bottom
        steps = (top + bottom * self.grid.numerator) // (2 * bottom * self.grid.numerator)
        return Fraction(steps * self.grid.numerator, self.grid.denominator)

    @cached_property
    def _bottom(self) -> int:
        """The common denominator: cells are many, so they are added up as whole numbers."""
        return math.lcm(self.constant.denominator, *(t.weight.denominator for t in self.terms))

    @cached_property
    def _whole(self) -> tuple[int, list[tuple[int, int, int]]]:
        """The constant and the weights, times the common denominator."""
        weights = [(t.part, t.component, int(t.weight * self._bottom)) for t in self.terms]
        return int(self.constant * self._bottom), weights

    def _top(self, noisy: Noisy) -> int:
        total, weights = self._whole
        for part, place, weight in weights:
            total += weight * noisy[part][place]
        return total

    def _unrounded(self, noisy: Noisy) -> Fraction:
        return Fraction(self._top(noisy), self._bottom)

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
        """Linear where it can be, so that its error is known exactly."""
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
        """The sum, or with sign −1 the difference."""
        weights: dict[tuple[int, int], Fraction] = {}
        for terms, factor in ((self.terms, 1), (other.terms, sign)):
            for t in terms:
                place = (t.part, t.component)
                weights[place] = weights.get(place, Fraction(0)) + factor * t.weight
        merged = tuple(Term(p, c, w) for (p, c), w in weights.items() if w)
        # a constant takes over where the other's error comes from
        whose = self if self.terms else other
        constant = self.constant + sign * other.constant
        return replace(whose, terms=merged, constant=constant, grid=None)

    def _times(self, factor: Fraction) -> Linear:
        terms = tuple(Term(t.part, t.component, t.weight * factor) for t in self.terms)
        return replace(self, terms=terms, constant=self.constant * factor, grid=None)


@dataclass(frozen=True)
class Combined(Reading):
    """An operation that is not linear in the noise, such as a ratio of two answers.

    Its interval holds both sides in theirs at once, each missing with half of what is allowed.
    """

    operator: str
    left: Reading
    right: Reading

    def refuse_accuracy(self) -> Refused:
        return refuse("ask.no-accuracy-for-mean")

    @property
    def untold(self) -> str:  # type: ignore[override]
        return self.left.untold or self.right.untold

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

    Rounding keeps order, so that the rounded ends hold the rounded truth. The error of what is
    rounded is not told apart from that of the output.
    """

    function: str
    of: Reading
    number: Fraction

    @property
    def untold(self) -> str:  # type: ignore[override]
        return self.of.untold

    @property
    def needs_row_count(self) -> bool:  # type: ignore[override]
        return self.of.needs_row_count

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
        found = self.of.interval(parts, level, noisy, rows)
        if found is None or self.function != "round":
            return found
        low, high = (rounded(end, int(self.number)) for end in found)
        return low, high


def rounded(value: Fraction, digits: int) -> Fraction:
    """The value with so many decimals, half away from zero.

    Example
        >>> rounded(Fraction(-5, 2), 0), rounded(Fraction(1234), -2)
        (Fraction(-3, 1), Fraction(1200, 1))
    """
    unit = Fraction(10) ** digits
    size = math.floor(abs(value) * unit + Fraction(1, 2)) / unit
    return size if value >= 0 else -size


def fold(expression: Expression, readings: Mapping[Aggregate, Reading]) -> Reading:
    """How an output is read."""
    if isinstance(expression, Aggregate):
        return readings[expression]
    if isinstance(expression, Constant):
        return Linear((), expression.value)
    if isinstance(expression, Applied):
        inner = fold(expression.of, readings)
        return AppliedReading(expression.function, inner, expression.number)
    left, right = (fold(side, readings) for side in (expression.left, expression.right))
    return left.combined(expression.operator, right)


def _apply(operator: str, left: Fraction, right: Fraction) -> Fraction | None:
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    return left / right if right else None


def reach(value: object, found: Interval | None) -> str:
    """How far the true value may be from the one told: on both sides, or from where to where."""
    if found is None or not isinstance(value, int | Fraction):
        return ""
    low, high = (nearest_float(abs(end - value)) for end in found)
    if max(low, high) <= 1.25 * min(low, high):  # rounding to the grid moves the middle a little
        return shortly(max(low, high))
    return f"{readable(found[0])} to {readable(found[1])}"
