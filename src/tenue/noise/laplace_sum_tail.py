"""Confidence intervals for weighted sums of any number of independent discrete Laplace draws.

Guarantee
    `half_width` is never too small: it is the better of two bounds on the tail that hold for every
    number of draws. A normal interval, which follows from the variance alone, may be too short.

Z = Σ wᵢXᵢ, where Xᵢ has masses proportional to e^(−rᵢ|k|) and κᵢ = cosh rᵢ − 1.

* Chernoff: P(|Z| ≥ r) ≤ 2·e^(−tr) Π 1/(1 − (cosh twᵢ − 1)/κᵢ) for every 0 < t < min rᵢ/|wᵢ|.
* The characteristic function φ(t) = Π 1/(1 + (1 − cos twᵢ)/κᵢ), smoothed over δ and summed at the
  frequencies of a period L, less the errors of the period, of the truncated series and of rounding.

Weights are floats, which may differ from the exact ones by dᵢ at most. With n draws, all of them
have |Xᵢ| ≤ ln(2n/β)/rᵢ except with probability β, since P(|Xᵢ| ≥ k) ≤ 2e^(−rᵢk): then these errors
move Z by no more than ln(2n/β)·Σ dᵢ/rᵢ; both hold at once.

No term of Chernoff's bound falls as a weight grows or a rate falls, so that it holds for rates that
are larger than stated; the other bound needs exact rates. With rates up to 16, (cosh tw − 1)/κ has
an error of fewer than 64 roundings: it is taken as so much larger.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .discrete_laplace import DiscreteLaplace
from .law import GridLaw

Reals = NDArray[np.float64]

UNIT = 2.0**-53
SPARE = 1.01


def relative(operations: int) -> float:
    """The error after so many operations, relative to the sizes of the summands."""
    return SPARE * operations * UNIT


_LOOKS = 48
_ROUNDS = 3
_HIDDEN = 1e-3
"""The size of each subtracted term, as a fraction of the miss probability."""
_SMOOTH = 0.03
"""The smoothing, in standard deviations."""
_HARDLY, _MANY_SMALL = 1e-7, 100
"""Terms with such a small share of the variance are bounded separately, if they are so many."""
_MOST = 4_000_000
"""The number of values of the characteristic function that are computed at once."""
_MOST_FREQUENCIES = 1 << 16
_SHAPE = 64
"""The roundings in a term of either bound."""
_DOUBTED = 2.0**-30
"""The fraction of the miss probability for draws too large for the bound of the weights' errors."""
MOST_RATE = 16.0
"""Larger rates are replaced by this one, at which there is hardly any noise."""


class LaplaceCombination:
    """The law of a weighted sum of independent discrete Laplace draws.

    Parameters
        weights: the weight of each draw.
        rates: its loss for each step; `MOST_RATE` stands for any larger one.
        doubts: the largest error of each weight; none by default.
    """

    def __init__(self, weights: Reals, rates: Reals, doubts: Reals | None = None) -> None:
        self._doubt = 0.0 if doubts is None else SPARE * float((doubts / rates).sum())
        self._draws = len(weights)
        some = weights != 0
        pairs = np.stack([np.abs(weights[some]), rates[some]], axis=1)
        kinds, counts = np.unique(pairs, axis=0, return_counts=True)
        self._w, self._r, self._many = kinds[:, 0], kinds[:, 1], counts.astype(np.float64)
        self._kappa = 2 * np.sinh(self._r / 2) ** 2
        self._terms = len(pairs)

    @classmethod
    def of(cls, terms: Iterable[tuple[Fraction, GridLaw | None, int]]) -> LaplaceCombination | None:
        """The sum of independent terms, each a weight, a law and how often it is drawn, where all
        of them are discrete Laplace."""
        weights: list[float] = []
        rates: list[float] = []
        for weight, law, many in terms:
            if not isinstance(law, DiscreteLaplace):
                return None
            weights += [abs(float(weight * law.grid))] * many
            rates += [min(float(law.epsilon * law.grid / law.sensitivity), MOST_RATE)] * many
        exact = np.array(weights)
        return cls(exact, np.array(rates), exact * 2.0**-52)

    @cached_property
    def variance(self) -> float:
        """At least that of the exact weights, and larger by rounding only."""
        # a draw has a standard deviation of at most √2/rate
        off = 1 + relative(self._terms + _SHAPE)
        return (math.sqrt(self._spread) + 1.5 * self._doubt) ** 2 * off

    @cached_property
    def _spread(self) -> float:
        """The variance for the floats as they are."""
        return float((self._many * self._w**2 / self._kappa).sum())

    @cached_property
    def mean_absolute_error(self) -> float:
        """E|Z| = (2/π) ∫ (1 − φ(t))/t² dt."""
        if not len(self._w):
            return 0.0
        low, high = 1e-3 / math.sqrt(self.variance), 1e3 / math.sqrt(self.variance)
        t = np.geomspace(low, high, 600)
        values = (1 - self._characteristic(t)) / t
        inside = float(((values[1:] + values[:-1]) / 2 * np.diff(np.log(t))).sum())
        return float(2 / math.pi * (low * self.variance / 2 + inside + 1 / high))

    @property
    def quick_mean_absolute_error(self) -> float:
        """That of the normal law with the same variance; for planning."""
        return math.sqrt(2 * self.variance / math.pi)

    def quick_half_width(self, level: Fraction) -> float:
        """By Chernoff alone, which is fast."""
        outside, more = self._doubted(level)
        return self.chernoff(outside) + more if len(self._w) else more

    def half_width(self, level: Fraction) -> float:
        """An r with P(|Z| ≤ r) ≥ level."""
        outside, more = self._doubted(level)
        return self._half_width(outside) + more if len(self._w) else more

    def _doubted(self, level: Fraction) -> tuple[float, float]:
        """The remaining miss probability, and by how much the weights' errors widen an interval."""
        outside = float(1 - level)
        if not self._doubt:
            return outside, 0.0
        reach = math.log(2 * self._draws / (outside * _DOUBTED))
        return outside * (1 - 2 * _DOUBTED), SPARE * reach * self._doubt

    def _half_width(self, outside: float) -> float:
        if self._r.max() >= MOST_RATE:
            return self.chernoff(outside)
        main, rest = self._apart
        if rest is None:
            return min(self.chernoff(outside), self._by_frequencies(outside))
        # both at once: the small terms get a thousandth of the miss probability
        small = rest.chernoff(outside * _HIDDEN)
        left = outside * (1 - _HIDDEN)
        return min(self.chernoff(outside), main._by_frequencies(left) + small)

    @cached_property
    def _apart(self) -> tuple[LaplaceCombination, LaplaceCombination | None]:
        """The terms that matter, and those with hardly any variance; None if these are few."""
        parts = self._many * self._w**2 / self._kappa
        order = np.argsort(parts)
        few = order[np.cumsum(parts[order]) <= _HARDLY * self._spread]
        if len(few) < _MANY_SMALL:
            return self, None
        small = np.zeros(len(parts), dtype=np.bool_)
        small[few] = True
        return self._some(~small), self._some(small)

    def _some(self, chosen: NDArray[np.bool_]) -> LaplaceCombination:
        repeated = np.repeat(np.nonzero(chosen)[0], self._many[chosen].astype(np.int64))
        return LaplaceCombination(self._w[repeated], self._r[repeated])

    @cached_property
    def _fastest(self) -> float:
        return float((self._r / self._w).min())

    def _grown(self, t: Reals) -> Reals:
        """−Σ ln(1 − (cosh tw − 1)/κ): the logarithm of E e^(tZ)."""
        moved = 2 * np.sinh(np.outer(t, self._w) / 2) ** 2 / self._kappa
        moved *= 1 + relative(_SHAPE)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = -(self._many * np.log1p(-np.minimum(moved, 1.0))).sum(axis=1)
        return np.asarray(logs * (1 + relative(len(self._w) + _SHAPE)))

    def chernoff(self, outside: float) -> float:
        """An r with P(|Z| ≥ r) ≤ outside."""
        low, high, best = 0.0, self._fastest, math.inf
        looks = _LOOKS if self._terms * _LOOKS < _MOST else 12
        for _ in range(_ROUNDS):
            t = np.linspace(low, high, looks + 2)[1:-1]
            reach = (math.log(2 / outside) + self._grown(t)) / t
            place = int(np.nanargmin(reach))
            best = min(best, float(reach[place]))
            step = (high - low) / (looks + 1)
            low, high = max(0.0, t[place] - step), min(self._fastest, t[place] + step)
        return best * (1 + relative(_SHAPE))

    def _beyond(self, r: Reals) -> Reals:
        """An upper bound of P(|Z| ≥ r), for several r."""
        t = np.linspace(0, self._fastest, _LOOKS + 2)[1:-1]
        with np.errstate(over="ignore"):
            far = np.outer(t, r)
            near = self._grown(t)[:, None]
            bounds = 2 * np.exp(np.minimum(near - far + relative(_SHAPE) * (near + far), 1.0))
        return np.asarray(bounds.min(axis=0))

    def _by_frequencies(self, outside: float) -> float:
        deviation = math.sqrt(self._spread)
        delta = _SMOOTH * deviation
        far = self.chernoff(outside * _HIDDEN)
        near = self.chernoff(outside)
        period = max(near + far + delta, 2.01 * near)
        most = (2 * period / (math.pi * delta)) * (1 / (2 * math.pi * outside * _HIDDEN)) ** 0.25
        frequencies = math.ceil(most)
        if frequencies > _MOST_FREQUENCIES:
            return math.inf
        k = np.arange(1, frequencies + 1)
        t = 2 * math.pi * k / period
        phi = self._characteristic(t)
        c = 2 * phi * np.sinc(t * delta / 4 / math.pi) ** 4 / (math.pi * k)
        spread = float((self._many * self._w / np.sinh(self._r)).sum())

        def inside(r: Reals) -> Reals:
            series = 2 * r / period + np.sin(np.outer(r, t)) @ c
            tail = 2 / math.pi * (2 * period / (math.pi * delta)) ** 4 / (4 * frequencies**4)
            size = np.abs(c)
            shape = _SHAPE * self._terms + 2 * t * spread + _SHAPE
            rounded = size @ shape + frequencies * size.sum() + 2 * r * (size @ t) + _SHAPE
            return np.asarray(series - self._beyond(period - r - delta) - tail - rounded * 2.0**-53)

        low, high = 0.0, min(near, period / 2 * 0.999)
        if not inside(np.array([high]))[0] >= 1 - outside:
            return math.inf
        for _ in range(4):
            r = np.linspace(low, high, 17)
            place = int(np.argmax(inside(r) >= 1 - outside))
            low, high = r[max(place - 1, 0)], r[place]
        return float(high) + delta

    def _characteristic(self, t: Reals) -> Reals:
        part = max(1, _MOST // max(1, len(self._w)))
        found = np.empty(len(t))
        for start in range(0, len(t), part):
            moved = 2 * np.sin(np.outer(t[start : start + part], self._w) / 2) ** 2 / self._kappa
            found[start : start + part] = np.exp(-(np.log1p(moved) @ self._many))
        return found
