"""Means: a sum over a public number of rows, or from the pair Σ(high − x), Σ(x − low)."""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from ...mechanism.additive_noise import Component, Error, Part, Term
from ...noise.joint import Blend
from .reading import Additive, Interval, Linear, Noisy, Parts

_PIECES = 64


@dataclass(frozen=True)
class MeanOfAll(Additive):
    """A noisy sum over all rows, divided by their public number."""

    total: Term

    needs_row_count = True

    def moved(self, parts: int, places: int) -> MeanOfAll:
        return replace(self, total=replace(self.total, part=self.total.part + parts))

    def _of(self, rows: int) -> Linear:
        return Linear((replace(self.total, weight=self.total.weight / rows),))

    def value(self, noisy: Noisy, rows: int | None) -> Fraction:
        return self._of(rows).value(noisy, rows) if rows else Fraction(0)

    def error(self, parts: Parts) -> Error:
        return self._of(1).error(parts)

    def interval(
        self, parts: Parts, level: Fraction, noisy: Noisy, rows: int | None
    ) -> Interval | None:
        return self._of(rows).interval(parts, level, noisy, rows) if rows else None

    def expected_error(self, parts: Parts, noisy: Noisy | None, rows: int | None) -> float | None:
        return self._of(rows).expected_error(parts, noisy, rows) if rows else None

    def before_rows(self, parts: Parts, rows: int | None) -> Error | None:
        return self._of(rows).error(parts) if rows else None

    promised = before_rows


class PairMean(Additive):
    """low + (high − low)·below / (above + below); above = Σ(high − x), below = Σ(x − low)."""

    low: Fraction
    high: Fraction

    @abc.abstractmethod
    def pair(self, noisy: Noisy) -> tuple[int, int]:
        """Above and below."""

    def value(self, noisy: Noisy, rows: int | None) -> Fraction:
        above, below = self.pair(noisy)
        both = above + below
        if both <= 0:
            return (self.low + self.high) / 2  # no rows are visible: the middle of the range
        part = min(max(below, 0), both)
        low, high = self.low, self.high
        top = low.numerator * high.denominator * (both - part)
        top += high.numerator * low.denominator * part
        return Fraction(top, low.denominator * high.denominator * both)

    def shares(
        self, noisy: Noisy, edge: Callable[[float, float], float]
    ) -> tuple[Fraction, Fraction]:
        """The interval whose ends, as shares of the range, `edge` finds from the value's share."""
        span = self.high - self.low
        share = float((self.value(noisy, None) - self.low) / span)
        low, high = (self.low + span * Fraction(edge(share, end)) for end in (0.0, 1.0))
        return low, high


@dataclass(frozen=True)
class Mean(PairMean):
    """The mean from one part; with sign −1 the part holds Σ(low − x) instead of Σ(x − low)."""

    part: int
    low: Fraction
    high: Fraction
    sign: int = 1

    def moved(self, parts: int, places: int) -> Mean:
        return replace(self, part=self.part + parts)

    def pair(self, noisy: Noisy) -> tuple[int, int]:
        return noisy[self.part][0], self.sign * noisy[self.part][1]

    def _error_at(self, parts: Parts, share: float, factor: float) -> _ErrorAtShare:
        return _ErrorAtShare(parts[self.part], share, self.sign, factor)

    def _error_of_rows(self, parts: Parts, rows: int) -> _ErrorAtShare:
        component = parts[self.part].components[0]
        assert isinstance(component, Component)  # noqa: S101 - narrows the type
        steps = (component.high - component.low) * rows
        return self._error_at(parts, 0.5, float(self.high - self.low) / steps)

    def error(self, parts: Parts) -> Error:
        """The error of a mean in the middle of its range, times the number of rows."""
        return self._error_of_rows(parts, 1)

    def interval(
        self, parts: Parts, level: Fraction, noisy: Noisy, rows: int | None
    ) -> Interval | None:
        """All means that the noisy pair does not reject: exact coverage at any number of rows."""
        above, below = self.pair(noisy)
        halves = _half_widths(parts[self.part], self.sign, level)

        def rejected(share: float) -> bool:
            position = share * _PIECES
            piece = min(int(position), _PIECES - 1)
            half = halves[piece] + (position - piece) * (halves[piece + 1] - halves[piece])
            return abs((1 - share) * below - share * above) > half

        def edge(near: float, far: float) -> float:
            if not rejected(far):
                return far
            for _ in range(40):
                middle = (near + far) / 2
                near, far = (near, middle) if rejected(middle) else (middle, far)
            return far

        return self.shares(noisy, edge)

    def expected_error(self, parts: Parts, noisy: Noisy | None, rows: int | None) -> float | None:
        if noisy is None:
            error = self.before_rows(parts, rows)
            return None if error is None else error.mean_absolute_error
        above, below = self.pair(noisy)
        if above + below <= 0:
            return None
        share = min(max(below / (above + below), 0.0), 1.0)
        in_steps = self._error_at(parts, share, 1.0).mean_absolute_error
        return float(self.high - self.low) * in_steps / (above + below)

    def before_rows(self, parts: Parts, rows: int | None) -> Error | None:
        """With a public number of rows: the error in the middle of the range."""
        return self._error_of_rows(parts, rows) if rows else None


@dataclass(frozen=True)
class _ErrorAtShare:
    """The error of (1 − share)·below − share·above; factor: what a grid step is worth."""

    part: Part
    share: float
    sign: int
    factor: float = 1.0

    def _law(self) -> Blend:
        return self.part.noise.blend(self.share, self.sign)

    @property
    def variance(self) -> float:
        return self._law().variance * self.factor**2

    @property
    def mean_absolute_error(self) -> float:
        return self._law().mean_absolute_error * self.factor

    quick_mean_absolute_error = mean_absolute_error

    def half_width(self, level: Fraction) -> float:
        half = self._law().half_width(float(1 - level)) + 0.5  # half a step for the lattice
        return half * self.factor

    quick_half_width = half_width


@lru_cache(maxsize=64)
def _half_widths(part: Part, sign: int, level: Fraction) -> list[float]:
    """Half-widths at some shares; they vary so slowly that linear interpolation suffices."""
    return [_ErrorAtShare(part, i / _PIECES, sign).half_width(level) for i in range(_PIECES + 1)]
