"""The normal distribution between two ends."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

from ..arguments import Number, above_zero, checked_call
from ..errors import InvalidPrior, refuse
from ..noise.enclosure import exp_minus
from ..noise.law import Real
from .belief import Lattice, written_number
from .density import Cells, Density, grid_steps
from .histogram import Histogram, two_ends
from .normalise import MOST_POINTS, exact_place
from .points import Points

_BITS = 128
_SPARE = 128
# Squared standard deviations from the peak at which the curve has fallen by 2^-128.
_FALLEN = 178


def bell_weights(
    mean: Fraction, sd: Fraction, first: Fraction, step: Fraction, count: int
) -> list[int]:
    """Whole weights in proportion to e^(-z²/2) at `count` equally spaced places.

    Relative to the largest they are rounded down to multiples of 2^-128, and at least that: no
    place is impossible. Neighbours differ by factors that themselves fall by a constant factor,
    so three exponentials in whole numbers are enough.

    Example
        >>> weights = bell_weights(Fraction(0), Fraction(1), Fraction(-1), Fraction(1), 3)
        >>> round(weights[0] / weights[1], 12), weights[0] == weights[2]
        (0.606530659713, True)
    """
    work = _BITS + _SPARE
    peak = min(max(round((mean - first) / step), 0), count - 1)
    fall = exp_minus((step / sd) ** 2, work).low
    values = [0] * count
    values[peak] = 1 << work
    for direction in (1, -1):
        here = first + peak * step
        there = here + direction * step
        drop = ((there - mean) ** 2 - (here - mean) ** 2) / (2 * sd * sd)
        ratio = exp_minus(max(drop, Fraction(0)), work).low
        value, k = 1 << work, peak + direction
        while 0 <= k < count and value:
            values[k] = value = value * ratio >> work
            ratio = ratio * fall >> work
            k += direction
    return [max(1, value >> _SPARE) for value in values]


class Normal(Density):
    """A normal distribution, truncated at `low` and `high`.

    Guarantee
        Exact rational masses: the curve is constant on 4,096 cells, each with the curve's height at
        its middle, made rational (`bell_weights`). The cells are equal where the curve is above
        2^-128 of its peak; beyond, one cell on each side holds that much. On a grid of at most
        4,096 points the masses are in proportion to the curve's height at the points.

    Parameters
        mean: the peak of the curve; it may lie outside the ends.
        sd: the standard deviation before truncation.
        low, high: the ends.

    Example
        >>> belief = Normal(170, 10, 100, 250)
        >>> round(float(belief.cdf(Fraction(180))), 4)
        0.8413
    """

    mean: Fraction
    sd: Fraction

    @checked_call
    def __init__(self, mean: Number, sd: Number, low: Number, high: Number) -> None:
        start, end = two_ends(low, high)
        middle = exact_place(mean, "mean")
        deviation = above_zero(sd, "sd", refusal=InvalidPrior)
        if not Fraction(1, 10**100) <= deviation <= 10**100:
            raise refuse("prior.sd-out-of-range")
        self._set(mean=middle, sd=deviation, low=start, high=end)

    @cached_property
    def _cells(self) -> Cells:
        return self._cells_between(self.low, self.high)

    def _cells_between(self, low: Fraction, high: Fraction) -> Cells:
        """Equal cells where the curve has any weight, and one on each side for the rest."""
        nearest = min(max(self.mean, low), high)
        squared = ((nearest - self.mean) / self.sd) ** 2 + _FALLEN
        reach = self.sd * Fraction(math.isqrt(math.ceil(squared * (1 << 20))) + 1, 1 << 10)
        start, end = max(low, self.mean - reach), min(high, self.mean + reach)
        outer_low, outer_high = int(low < start), int(end < high)
        count = MOST_POINTS - outer_low - outer_high
        width = (end - start) / count
        edges = [start + k * width for k in range(count)]
        weights = bell_weights(self.mean, self.sd, start + width / 2, width, count)
        return (
            (low,) * outer_low + (*edges, end) + (high,) * outer_high,
            (1,) * outer_low + tuple(weights) + (1,) * outer_high,
        )

    def on_grid(self, grid: Number) -> Points | Density:
        step, first, last = grid_steps(self.low, self.high, grid)
        if self.few(first, last):
            weights = bell_weights(self.mean, self.sd, first * step, step, last - first + 1)
            return Points.of_weights((step * k for k in range(first, last + 1)), weights)
        low, high = (first - Fraction(1, 2)) * step, (last + Fraction(1, 2)) * step
        return Histogram.of_weights(*self._cells_between(low, high), step, True)

    def lattice(self, grid: Fraction) -> Lattice:
        _, first, last = grid_steps(self.low, self.high, grid)
        step, offset = float(grid / self.sd), float(self.mean / grid)

        def log_weight(k: int) -> float:
            return -(((k - offset) * step) ** 2) / 2

        def log_rise(k: Real) -> Real:
            return -(2 * (k - offset) + 1) * step**2 / 2

        return Lattice.by_rise(first, last, log_weight, log_rise)

    def to_dict(self) -> dict[str, object]:
        facts = {"mean": self.mean, "sd": self.sd, "low": self.low, "high": self.high}
        return {"prior": "normal", **{name: written_number(x) for name, x in facts.items()}}

    def __repr__(self) -> str:
        facts = (self.mean, self.sd, self.low, self.high)
        return f"Normal({', '.join(f'{float(fact):g}' for fact in facts)})"
