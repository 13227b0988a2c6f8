"""Variance, covariance, correlation and slope, read off noisy components that hold all moments.

The interval holds every component in its own interval at once, each missing with a share of what
is allowed; whatever is computed from such a box of numbers is then covered too. Squares are taken
around the noisy mean, which makes the box of squares small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ...mechanism.bernstein import Axis, functional, powers_of
from ...mechanism.error import Term, half_width, linear_error
from ...mechanism.part import Part
from ..question import Kind

Noisy = Sequence[Sequence[int]]


def degree_of(kind: Kind) -> int:
    """Up to which power each column is needed: covariance needs no squares."""
    return 1 if kind.startswith("covar") else 2


@dataclass(frozen=True)
class Spread:
    """A statistic of one or two columns.

    part: which part holds the components of the axes.
    grids: the grid of each axis.
    over: for a slope, the axis that it is taken over.
    """

    kind: Kind
    part: int
    axes: tuple[Axis, ...]
    grids: tuple[Fraction, ...]
    over: int = 0

    @cached_property
    def _degree(self) -> int:
        return degree_of(self.kind)

    @cached_property
    def _weights(self) -> dict[tuple[int, ...], list[Fraction]]:
        return {
            powers: functional(self.axes, self._degree, powers)
            for powers in powers_of(len(self.axes), self._degree)
        }

    def _moment(self, components: Sequence[int], *powers: int) -> Fraction:
        weights = self._weights[powers]
        return sum((w * c for w, c in zip(weights, components, strict=True)), Fraction(0))

    # -- the value -----------------------------------------------------------------------------

    def value(self, noisy: Noisy, rows: int | None) -> Fraction | None:
        """None where no more than one row is visible."""
        components = noisy[self.part]
        n = self._moment(components, *(0 for _ in self.axes))
        if n <= 1:
            return None
        unit = math.prod(self.grids)
        if self.kind.startswith("covar"):
            covariance = self._covariance(components, n)
            return covariance * unit * self._correction(n)
        if self.kind == "regr_slope":
            along = self._variance(components, n, self.over)
            slope = self._covariance(components, n) / along if along > 0 else None
            return None if slope is None else slope * self._steepness
        first = self._variance(components, n, 0)
        if self.kind == "corr":
            both = first * self._variance(components, n, 1)
            if both <= 0:
                return None
            ratio = float(self._covariance(components, n)) / math.sqrt(both)
            return Fraction(min(max(ratio, -1.0), 1.0))
        variance = max(first, Fraction(0)) * unit**2 * self._correction(n)
        return variance if "var" in self.kind else Fraction(math.sqrt(variance))

    @property
    def _steepness(self) -> Fraction:
        """One step of the other axis for one step of the axis that a slope is taken over."""
        return self.grids[1 - self.over] / self.grids[self.over]

    def _correction(self, n: Fraction) -> Fraction:
        """n / (n − 1) for a sample."""
        return Fraction(1) if self.kind.endswith("_pop") else n / (n - 1)

    def _powers(self, axis: int, power: int) -> list[int]:
        return [power if number == axis else 0 for number in range(len(self.axes))]

    def _variance(self, components: Sequence[int], n: Fraction, axis: int) -> Fraction:
        mean = self._moment(components, *self._powers(axis, 1)) / n
        return self._moment(components, *self._powers(axis, 2)) / n - mean**2

    def _covariance(self, components: Sequence[int], n: Fraction) -> Fraction:
        one, two = (self._moment(components, *self._powers(axis, 1)) / n for axis in (0, 1))
        return self._moment(components, 1, 1) / n - one * two

    # -- how far off ---------------------------------------------------------------------------

    def interval(
        self, parts: tuple[Part, ...], level: Fraction, noisy: Noisy, rows: int | None
    ) -> tuple[Fraction, Fraction] | None:
        components = noisy[self.part]
        each = 1 - (1 - level) / len(components)
        halves = [
            half_width(linear_error(parts, (Term(self.part, j, Fraction(1)),)), each)
            for j in range(len(components))
        ]
        box = _Box(self, [float(c) for c in components], halves)
        if box.fewest <= 1:
            return (Fraction(-1), Fraction(1)) if self.kind == "corr" else None
        found = box.interval()
        return None if found is None else (Fraction(found[0]), Fraction(found[1]))

    def expected_error(self, parts: tuple[Part, ...], noisy: Noisy | None, rows: object) -> None:
        """None: not linear in the noise."""

    def before_rows(self, parts: tuple[Part, ...], rows: int | None) -> None:
        """None: it depends on the rows."""


class _Box:
    """All values of the components that the noise allows, and what follows from them."""

    def __init__(self, spread: Spread, middle: list[float], halves: list[float]) -> None:
        self.spread = spread
        self.middle = middle
        self.halves = halves
        self.counts = self._range({(0,) * len(spread.axes): 1.0})
        self.fewest = self.counts[0]
        n = max(sum(self.counts) / 2, 1.0)
        self.centre = [
            self._at({tuple(spread._powers(axis, 1)): 1.0}) / n for axis in range(len(spread.axes))
        ]

    def _coefficients(self, moments: dict[tuple[int, ...], float]) -> list[float]:
        weights = self.spread._weights
        return [
            sum(factor * float(weights[powers][j]) for powers, factor in moments.items())
            for j in range(len(self.middle))
        ]

    def _at(self, moments: dict[tuple[int, ...], float]) -> float:
        return sum(c * m for c, m in zip(self._coefficients(moments), self.middle, strict=True))

    def _range(self, moments: dict[tuple[int, ...], float]) -> tuple[float, float]:
        """The values of a combination of moments over the box."""
        coefficients = self._coefficients(moments)
        middle = sum(c * m for c, m in zip(coefficients, self.middle, strict=True))
        reach = sum(abs(c) * h for c, h in zip(coefficients, self.halves, strict=True))
        return middle - reach, middle + reach

    def _mean_off(self, axis: int) -> float:
        """How far the true mean may be from the centre."""
        zero = tuple(0 for _ in self.spread.axes)
        one = tuple(self.spread._powers(axis, 1))
        low, high = self._range({one: 1.0, zero: -self.centre[axis]})
        return max(abs(low), abs(high)) / self.fewest

    def variance(self, axis: int) -> tuple[float, float]:
        """Of the rows themselves, in squared steps."""
        c = self.centre[axis]
        zero = tuple(0 for _ in self.spread.axes)
        one, two = (tuple(self.spread._powers(axis, p)) for p in (1, 2))
        low, high = self._range({two: 1.0, one: -2 * c, zero: c * c})
        most = self.spread.axes[axis].width ** 2 / 4
        least = max(low / self.counts[1] - self._mean_off(axis) ** 2, 0.0)
        return min(least, most), max(0.0, min(high / self.fewest, most))

    def covariance(self) -> tuple[float, float]:
        """Of the rows themselves, in products of steps."""
        a, b = self.centre
        low, high = self._range({(1, 1): 1.0, (1, 0): -b, (0, 1): -a, (0, 0): a * b})
        off = self._mean_off(0) * self._mean_off(1)
        ends = [end / n for end in (low, high) for n in (self.fewest, self.counts[1])]
        most = math.prod(axis.width for axis in self.spread.axes) / 4
        return max(min(ends) - off, -most), min(max(ends) + off, most)

    def interval(self) -> tuple[float, float] | None:
        spread = self.spread
        unit = float(math.prod(spread.grids))
        grown = 1.0 if spread.kind.endswith("_pop") else self.fewest / (self.fewest - 1)
        if spread.kind.startswith("covar"):
            low, high = self.covariance()
            return min(low * grown, low) * unit, max(high * grown, high) * unit
        if spread.kind == "corr":
            return self._correlation()
        if spread.kind == "regr_slope":
            return self._slope()
        low, high = (v * unit**2 for v in self.variance(0))
        high *= grown
        return (low, high) if "var" in spread.kind else (math.sqrt(low), math.sqrt(high))

    def _slope(self) -> tuple[float, float] | None:
        along = self.variance(self.spread.over)
        if along[0] <= 0:
            return None
        steep = float(self.spread._steepness)
        ends = [c / v * steep for c in self.covariance() for v in along]
        return min(ends), max(ends)

    def _correlation(self) -> tuple[float, float]:
        low, high = self.covariance()
        ends = [math.sqrt(v * w) for v in self.variance(0) for w in self.variance(1)]
        if min(ends) <= 0:
            return -1.0, 1.0  # what every correlation keeps to
        ratios = [c / e for c in (low, high) for e in (min(ends), max(ends))]
        return max(min(ratios), -1.0), min(max(ratios), 1.0)
