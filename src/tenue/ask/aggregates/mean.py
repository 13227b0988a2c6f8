"""Means: of all rows of a public number, and from the pair Σ(high − x), Σ(x − low)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from ...mechanism.additive_noise import Component, Error, Part, Term, half_width, linear_error
from ...noise.joint import Blend
from .reading import Additive, Interval, Noisy, Parts

_PIECES = 64


@dataclass(frozen=True)
class MeanOfAll(Additive):
    """A sum over all rows of a table whose number of rows is public, divided by it."""

    total: Term

    needs_row_count = True

    def moved(self, parts: int, places: int) -> MeanOfAll:
        return replace(self, total=replace(self.total, part=self.total.part + parts))

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

    def promised(self, parts: Parts, rows: int | None) -> Error | None:
        return self.before_rows(parts, rows)


@dataclass(frozen=True)
class Mean(Additive):
    """low + (high − low)·below / (above + below): the mean from Σ(high − x) and Σ(x − low).

    `sign` is −1 where the part holds Σ(low − x) instead of Σ(x − low).
    """

    part: int
    low: Fraction
    high: Fraction
    sign: int = 1

    def moved(self, parts: int, places: int) -> Mean:
        return replace(self, part=self.part + parts)

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
