"""A density, refined: the ball has exactly the wanted mass."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import Any

from ...arguments import Number, exact, law_epsilon
from ...errors import refuse
from ...noise.source import Source
from ...prior.density import Density
from ...prior.histogram import Histogram
from ...prior.points import numeric_place
from .points import Refined
from .update_factors import Factors, power_below

Ball = tuple[Fraction, Fraction]


class RefinedDensity(Refined):
    """The refined law over a density: factor_up inside a ball around the truth, else factor_down.

    Guarantee
        As for points. Only a sample may leave, rounded to the prior's grid (or to a power of two, a
        millionth of the range); rounding is post-processing.
    """

    def __init__(
        self, prior: Density, factors: Factors, ball: Ball | None, truth: Fraction
    ) -> None:
        self.prior = prior
        self._factors = factors
        self._ball = ball
        self._truth = truth
        self._law = prior if ball is None else _weighted(prior, factors, ball)

    @classmethod
    def of(cls, prior: Density, factors: Factors, truth: object) -> RefinedDensity:
        """The law for one truth; the unmodified prior if the truth is not a number."""
        centre = numeric_place(truth)
        if centre is None:
            return cls(prior, factors, None, Fraction(0))
        return cls(prior, factors, _ball(prior, centre, factors.core_mass), centre)

    # -- facts that depend on the truth: for the holder only --------------------------------------

    @property
    def core(self) -> tuple[float, float] | tuple[()]:
        """The ends of the ball that was raised. Never show it: it is centred on the truth."""
        return () if self._ball is None else (float(self._ball[0]), float(self._ball[1]))

    def density(self, x: object) -> Fraction:
        """The density of the answer before it is rounded, exactly."""
        return self._law.density(exact(x, "x"))

    def cdf(self, x: object) -> Fraction:
        """P(answer ≤ x) before it is rounded, exactly."""
        return self._law.cdf(exact(x, "x"))

    def mass(self, value: object) -> Fraction:
        """The exact probability that the answer, rounded to the prior's grid, is `value`."""
        grid = self.prior.grid
        if grid is None:
            raise refuse("mechanism.prior-without-grid")
        place = exact(value, "value") / grid
        first, last = self.prior.limits
        if place.denominator != 1 or not first <= place <= last:
            return Fraction(0)
        half = grid / 2
        above = Fraction(1) if place == last else self._law.cdf(place * grid + half)
        below = Fraction(0) if place == first else self._law.cdf(place * grid - half)
        return above - below

    @property
    def variance(self) -> float:
        """The variance of the answer."""
        mean = self._moment(lambda a, b: (a + b) / 2)
        return float(self._moment(lambda a, b: (a * a + a * b + b * b) / 3) - mean * mean)

    @property
    def mean_absolute_error(self) -> float:
        """The expected distance of the answer from the truth."""
        centre = self._truth

        def away(a: Fraction, b: Fraction) -> Fraction:
            if a < centre < b:
                return ((centre - a) ** 2 + (b - centre) ** 2) / (2 * (b - a))
            return abs((a + b) / 2 - centre)

        return float(self._moment(away))

    def _moment(self, of_piece: Callable[[Fraction, Fraction], Fraction]) -> Fraction:
        law = self._law
        pieces = zip(law.edges, law.edges[1:], law.weights, strict=False)
        return sum((w * of_piece(a, b) for a, b, w in pieces), Fraction(0)) / law.total

    # -- losses ------------------------------------------------------------------------------------

    def _regions(self, other_truth: object) -> list[tuple[Fraction, Fraction, Fraction]]:
        """(prior mass, factor here, factor there) where both factors are constant."""
        other = RefinedDensity.of(self.prior, self._factors, other_truth)
        ends = {self.prior.low, self.prior.high, *(self._ball or ()), *(other._ball or ())}
        regions = []
        for a, b in pairwise(sorted(ends)):
            mass = self.prior.cdf(b) - self.prior.cdf(a)
            if mass:
                regions.append((mass, self._factor(a, b), other._factor(a, b)))
        return regions

    def _factor(self, a: Fraction, b: Fraction) -> Fraction:
        if self._ball is None:
            return Fraction(1)
        inside = self._ball[0] <= a and b <= self._ball[1]
        return self._factors.up if inside else self._factors.down

    def ratio_against(self, other_truth: object) -> Fraction:
        """The largest ratio of densities between this truth and another, either way; exact."""
        return max(max(here / there, there / here) for _, here, there in self._regions(other_truth))

    def divergence_against(self, other_truth: object, epsilon: Number | None = None) -> Fraction:
        """The δ that this truth and another need at `epsilon` (or the law's own), either way."""
        level = self._factors.epsilon if epsilon is None else law_epsilon(epsilon)
        power = power_below(level)
        regions = self._regions(other_truth)
        there = sum((m * max(Fraction(0), a - power * b) for m, a, b in regions), Fraction(0))
        back = sum((m * max(Fraction(0), b - power * a) for m, a, b in regions), Fraction(0))
        return max(there, back)

    # -- the answer --------------------------------------------------------------------------------

    def sample(self, size: int | None = None, source: Source | None = None) -> Any:
        """Independent exact draws on the prior's grid: the only thing that may be shown."""
        return self._law.sample(size, source)

    def draw(self, source: Source) -> Fraction:
        """One answer, exactly as it stands on the grid."""
        return self._law.draws(1, source)[0]


def _ball(prior: Density, centre: Fraction, wanted: Fraction) -> Ball:
    """The ball around `centre` with exactly the wanted prior mass, clipped to the prior's ends."""

    def mass(radius: Fraction) -> Fraction:
        return prior.cdf(centre + radius) - prior.cdf(centre - radius)

    edges = prior.edges
    farthest = max(abs(edges[0] - centre), abs(edges[-1] - centre))
    below, above = Fraction(0), farthest
    # edges on one side get farther away: find the last whose ball is not too heavy
    right, left = bisect_left(edges, centre), bisect_right(edges, centre)
    for side in (edges[right:], edges[:left][::-1]):
        few = bisect_right(side, wanted, key=lambda edge: mass(abs(edge - centre)))
        if few:
            below = max(below, abs(side[few - 1] - centre))
        if few < len(side):
            above = min(above, abs(side[few] - centre))
    start, end = mass(below), mass(above)
    radius = below
    if start < wanted and end > start:
        radius += (above - below) * (wanted - start) / (end - start)
    return max(centre - radius, prior.low), min(centre + radius, prior.high)


def _weighted(prior: Density, factors: Factors, ball: Ball) -> Histogram:
    """The prior with its density multiplied inside and outside the ball."""
    edges, weights = list(prior.edges), list(prior.weights)
    for end in ball:
        place = bisect_left(edges, end)
        if place == len(edges) or edges[place] != end:
            share = (end - edges[place - 1]) / (edges[place] - edges[place - 1])
            top, bottom = share.numerator, share.denominator
            split = weights[place - 1]
            weights = [weight * bottom for weight in weights]
            weights[place - 1 : place] = [split * top, split * (bottom - top)]
            edges.insert(place, end)
    first, last = bisect_left(edges, ball[0]), bisect_left(edges, ball[1])
    scale = lcm(factors.up.denominator, factors.down.denominator)
    up, down = int(factors.up * scale), int(factors.down * scale)
    weights = [
        weight * (up if first <= place < last else down) for place, weight in enumerate(weights)
    ]
    return Histogram.of_weights(edges, weights, prior.grid, prior.outer_half)
