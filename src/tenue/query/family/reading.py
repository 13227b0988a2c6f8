"""How an aggregate is read off the noisy components of a cell, and how far off it may be.

Everything here is a function of released numbers and of laws: it costs nothing and tells nothing
about rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from ...mechanism.error import Error, Term, half_width, linear_error
from ...mechanism.part import Component, Part
from ...noise.joint import Blend
from ..question import Aggregate, Constant, Expression
from .mode import Voted
from .moments import Spread
from .rank import Chosen
from .value_only import Told

Noisy = Sequence[Sequence[int]]
"""The released components of one cell, by part."""

Interval = tuple[Fraction, Fraction]
Parts = tuple[Part, ...]

_PIECES = 64


@dataclass(frozen=True)
class Linear:
    """A weighted sum of components and a constant: counts, sums, and what is added to them.

    With a `grid` the value is rounded to it, half up, after the noise.
    """

    terms: tuple[Term, ...]
    constant: Fraction = Fraction(0)
    grid: Fraction | None = None

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

    def interval(
        self, parts: Parts, level: Fraction, noisy: Noisy, rows: int | None
    ) -> Interval | None:
        half = Fraction(half_width(self.error(parts), level))
        value = self._unrounded(noisy)
        return value - half, value + half

    def expected_error(self, parts: Parts, noisy: Noisy | None, rows: int | None) -> float | None:
        return self.error(parts).mean_absolute_error

    def before_rows(self, parts: Parts, rows: int | None) -> Error | None:
        """The error that can be told before a row is read: all of it."""
        return self.error(parts)

    def plus(self, other: Linear, sign: int) -> Linear:
        """The sum, or with sign −1 the difference."""
        weights: dict[tuple[int, int], Fraction] = {}
        for terms, factor in ((self.terms, 1), (other.terms, sign)):
            for t in terms:
                place = (t.part, t.component)
                weights[place] = weights.get(place, Fraction(0)) + factor * t.weight
        merged = tuple(Term(p, c, w) for (p, c), w in weights.items() if w)
        return Linear(merged, self.constant + sign * other.constant)

    def times(self, factor: Fraction) -> Linear:
        """Multiplied by a constant."""
        return Linear(
            tuple(Term(t.part, t.component, t.weight * factor) for t in self.terms),
            self.constant * factor,
        )


@dataclass(frozen=True)
class MeanOfAll:
    """A sum over all rows of a table whose number of rows is public, divided by it."""

    total: Term

    def value(self, noisy: Noisy, rows: int | None) -> Fraction:
        total = self.total.weight * noisy[self.total.part][self.total.component]
        return total / rows if rows else Fraction(0)

    def _scaled(self, parts: Parts, rows: int) -> Error:
        weight = self.total.weight / max(rows, 1)
        return linear_error(parts, (Term(self.total.part, self.total.component, weight),))

    def error(self, parts: Parts) -> Error:
        return self._scaled(parts, 1)

    def interval(
        self, parts: Parts, level: Fraction, noisy: Noisy, rows: int | None
    ) -> Interval | None:
        if not rows:
            return None
        half = Fraction(half_width(self._scaled(parts, rows), level))
        value = self.value(noisy, rows)
        return value - half, value + half

    def expected_error(self, parts: Parts, noisy: Noisy | None, rows: int | None) -> float | None:
        return self._scaled(parts, rows).mean_absolute_error if rows else None

    def before_rows(self, parts: Parts, rows: int | None) -> Error | None:
        return self._scaled(parts, rows) if rows else None


@dataclass(frozen=True)
class Mean:
    """low + (high − low)·below / (above + below): the mean from Σ(high − x) and Σ(x − low).

    `sign` is −1 where the part holds Σ(low − x) instead of Σ(x − low).
    """

    part: int
    low: Fraction
    high: Fraction
    sign: int = 1

    def _pair(self, noisy: Noisy) -> tuple[int, int]:
        return noisy[self.part][0], self.sign * noisy[self.part][1]

    def value(self, noisy: Noisy, rows: int | None) -> Fraction:
        above, below = self._pair(noisy)
        both = above + below
        if both <= 0:
            return (self.low + self.high) / 2  # no rows are visible: the middle of the range
        part = min(max(below, 0), both)
        low, high = self.low, self.high
        top = low.numerator * high.denominator * (both - part)
        top += high.numerator * low.denominator * part
        return Fraction(top, low.denominator * high.denominator * both)

    def _error_at(self, parts: Parts, share: float) -> _AtShare:
        return _AtShare(parts[self.part], share, self.sign)

    def error(self, parts: Parts) -> Error:
        """The error of a mean in the middle of its range, times the number of rows."""
        span = float(self.high - self.low) / self._width(parts)
        return _Scaled(self._error_at(parts, 0.5), span)

    def _width(self, parts: Parts) -> int:
        """The range of the column in steps."""
        component = parts[self.part].components[0]
        assert isinstance(component, Component)  # noqa: S101 - narrows the type
        return component.high - component.low

    def interval(
        self, parts: Parts, level: Fraction, noisy: Noisy, rows: int | None
    ) -> Interval | None:
        """All means that the noisy pair does not reject: exact coverage, whatever the count."""
        above, below = self._pair(noisy)

        halves = _half_widths(parts[self.part], self.sign, level)

        def rejected(share: float) -> bool:
            place = share * _PIECES
            piece = min(int(place), _PIECES - 1)
            half = halves[piece] + (place - piece) * (halves[piece + 1] - halves[piece])
            return abs((1 - share) * below - share * above) > half

        guess = float((self.value(noisy, rows) - self.low) / (self.high - self.low))
        ends = [_edge(rejected, guess, end) for end in (0.0, 1.0)]
        span = self.high - self.low
        return self.low + span * Fraction(ends[0]), self.low + span * Fraction(ends[1])

    def expected_error(self, parts: Parts, noisy: Noisy | None, rows: int | None) -> float | None:
        if noisy is None:
            error = self.before_rows(parts, rows)
            return None if error is None else error.mean_absolute_error
        above, below = self._pair(noisy)
        if above + below <= 0:
            return None
        share = min(max(below / (above + below), 0.0), 1.0)
        at = self._error_at(parts, share).mean_absolute_error
        return float(self.high - self.low) * at / (above + below)

    def before_rows(self, parts: Parts, rows: int | None) -> Error | None:
        """With a public number of rows: the error in the middle of the range."""
        if not rows:
            return None
        steps = self._width(parts) * rows
        return _Scaled(self._error_at(parts, 0.5), float(self.high - self.low) / steps)


@dataclass(frozen=True)
class Combined:
    """An operation that is not linear in the noise, such as a ratio of two answers.

    Its interval holds both sides in theirs at once, each missing with half of what is allowed.
    """

    operator: str
    left: Reading
    right: Reading

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

    def expected_error(self, parts: Parts, noisy: Noisy | None, rows: int | None) -> float | None:
        return None

    def before_rows(self, parts: Parts, rows: int | None) -> Error | None:
        return None


Additive = Linear | Mean | MeanOfAll
Basic = Additive | Spread | Chosen | Voted | Told
Reading = Basic | Combined


def fold(expression: Expression, readings: Mapping[Aggregate, Basic]) -> Reading:
    """How an output is read: linear where it can be, so that its error is known exactly."""
    if isinstance(expression, Aggregate):
        return readings[expression]
    if isinstance(expression, Constant):
        return Linear((), expression.value)
    left = fold(expression.left, readings)
    right = fold(expression.right, readings)
    operator = expression.operator
    if isinstance(left, Linear) and isinstance(right, Linear):
        if operator in "+-":
            return left.plus(right, 1 if operator == "+" else -1)
        if operator == "*" and not (left.terms and right.terms):
            return right.times(left.constant) if not left.terms else left.times(right.constant)
        if operator == "/" and not right.terms and right.constant:
            return left.times(1 / right.constant)
    return Combined(operator, left, right)


def _apply(operator: str, left: Fraction, right: Fraction) -> Fraction | None:
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    return left / right if right else None


@dataclass(frozen=True)
class _AtShare:
    """The error of (1 − share)·below − share·above, in grid steps."""

    part: Part
    share: float
    sign: int

    def _law(self) -> Blend:
        return self.part.noise.blend(self.share, self.sign)

    @property
    def variance(self) -> float:
        return self._law().variance

    @property
    def mean_absolute_error(self) -> float:
        return self._law().mean_absolute_error

    @property
    def quick_mean_absolute_error(self) -> float:
        return self.mean_absolute_error

    def half_width(self, level: Fraction) -> float:
        return self._law().half_width(float(1 - level)) + 0.5  # half a step for the lattice

    quick_half_width = half_width


@dataclass(frozen=True)
class _Scaled:
    """An error in other units."""

    inner: _AtShare
    factor: float

    @property
    def variance(self) -> float:
        return self.inner.variance * self.factor**2

    @property
    def mean_absolute_error(self) -> float:
        return self.inner.mean_absolute_error * self.factor

    @property
    def quick_mean_absolute_error(self) -> float:
        return self.mean_absolute_error

    def half_width(self, level: Fraction) -> float:
        return self.inner.half_width(level) * self.factor

    quick_half_width = half_width


@lru_cache(maxsize=64)
def _half_widths(part: Part, sign: int, level: Fraction) -> list[float]:
    """The half-width at some shares; it varies so slowly that lines between them suffice."""
    return [_AtShare(part, i / _PIECES, sign).half_width(level) for i in range(_PIECES + 1)]


def _edge(rejected: Callable[[float], bool], guess: float, end: float) -> float:
    """The last share between the guess, which is accepted, and an end that may be rejected."""
    if not rejected(end):
        return end
    near, far = guess, end
    for _ in range(40):
        middle = (near + far) / 2
        near, far = (near, middle) if rejected(middle) else (middle, far)
    return far
