"""The error of a weighted sum of the two components of a same-sign box."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from .crossing import crossing
from .margin import Levels, Real


@lru_cache(maxsize=64)
def _levels(core: float, epsilon: float) -> Levels:
    return Levels([core, core], epsilon)


class SameSignCombination:
    """c₁·x₁ + c₂·x₂ for the continuous two-dimensional law with signs="same".

    Both sensitivities are `step`, and `core` is the half-width of the core in such steps.

    On each ball (0, x) spans three numbers, one of them 0 and the others uniform on [0, r], so the
    sum is one of three weighted sums of two uniform numbers.
    """

    def __init__(
        self, weights: tuple[float, float], core: float, epsilon: float, step: float = 1.0
    ) -> None:
        one, two = weights
        self._step = step
        self._pairs = [(one, two), (-(one + two), two), (-(one + two), one)]
        levels = _levels(core, epsilon)
        keep = levels.weights > 1e-13
        self._weights = levels.weights[keep]
        self._radius = levels.radius(0)[keep]
        square = float((self._weights * self._radius**2).sum())
        mixed = sum((c * c + d * d) / 3 + c * d / 2 for c, d in self._pairs)
        self._square = mixed / 3 * square

    @property
    def variance(self) -> float:
        return self._square * self._step**2

    @property
    def mean_absolute_error(self) -> float:
        share = np.mean([_mean_size(c, d) for c, d in self._pairs])
        return float((self._weights * self._radius).sum() * share) * self._step

    def tail(self, t: float) -> float:
        """P(|sum| > t steps), t ≥ 0."""
        total = 0.0
        for c, d in self._pairs:
            above = 1 - _below(t, c, d, self._radius)
            total += float((self._weights * (above + _below(-t, c, d, self._radius))).sum()) / 3
        return total

    def half_width(self, outside: float) -> float:
        """The t with P(|sum| > t) = outside, to a millionth; never less."""
        chebyshev = math.sqrt(self._square / outside) + 1e-12
        return crossing(lambda t: self.tail(t) - outside, 0.0, chebyshev, 1e-6) * self._step


def _below(t: float, c: float, d: float, radius: Real) -> Real:
    """P(c·u + d·v ≤ t) for u, v uniform on [0, radius]."""
    # negative weights: c·u = c·r − c·(r − u)
    shift = t - (min(c, 0.0) + min(d, 0.0)) * radius
    a, b = sorted((abs(c), abs(d)))
    if b == 0:
        return np.where(shift >= 0, 1.0, 0.0)
    if a < 1e-9 * b:
        return np.clip(shift / (b * radius), 0, 1)
    x = np.clip(shift / radius, 0, a + b)
    area = x**2 - np.maximum(x - a, 0) ** 2 - np.maximum(x - b, 0) ** 2
    return np.asarray(area / (2 * a * b))


def _mean_size(c: float, d: float) -> float:
    """E|c·u + d·v| for u, v uniform on [0, 1]."""
    u = (np.arange(400) + 0.5) / 400  # midpoints: exact but where the sign changes
    return float(np.abs(c * u[:, None] + d * u[None, :]).mean())
