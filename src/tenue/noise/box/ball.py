"""Which vectors of steps lie within i sensitivities of the core: counted and drawn exactly.

In Newton's basis p(i) = Σ_k a_k·C(i, k), and Σ_i q^i·C(i, k) = q^k / (1−q)^(k+1). The number of
points in the i-th ball of a lattice norm is such a polynomial, with every a_k ≥ 0, so nothing
cancels.

Two shapes of the set S_f of differences between neighbours:

* `Box`: every component moves by at most s_j steps, in any direction;
* `SameSign` (same_sign_ball.py): they move by at most s_j steps, all up or all down.

The i-th ball is the core widened by i times the convex hull of S_f. A shift from S_f moves a point
by at most one ball, which is all that the privacy proof of `OptimalBox` needs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Protocol

import numpy as np

from ..enclosure import exp_minus
from ..law import Ints, Real
from ..samplers import uniform
from ..source import Source


def log_product_series(offsets: Sequence[float], epsilon: float) -> float:
    """ln Σ_i q^i · Π_j (offsets_j + i), all offsets ≥ 0, in any dimension."""
    coefficients, shift = [1.0], 0.0
    for offset in offsets:
        # (a + i)·C(i, k) = (k+1)·C(i, k+1) + (a + k)·C(i, k)
        grown = [0.0, *((k + 1) * c for k, c in enumerate(coefficients))]
        for k, c in enumerate(coefficients):
            grown[k] += (offset + k) * c
        largest = max(grown)
        coefficients = [c / largest for c in grown]
        shift += math.log(largest)
    fall = -math.expm1(-epsilon)
    step = -epsilon - math.log(fall)
    logs = [math.log(c) + k * step for k, c in enumerate(coefficients) if c > 0]
    top = max(logs)
    return shift + top + math.log(sum(math.exp(l - top) for l in logs)) - math.log(fall)


def differences(values: Sequence[int]) -> list[int]:
    """Newton's coefficients a_0 … a_n of the polynomial that takes these values at 0 … n."""
    row = list(values)
    result = []
    while row:
        result.append(row[0])
        row = [after - before for before, after in pairwise(row)]
    return result


def exact_series(coefficients: Sequence[int], epsilon: Fraction) -> Fraction:
    """(1−q)·Σ_i q^i·p(i) for Newton coefficients of p; e^-ε to 256 bits."""
    q = Fraction(exp_minus(epsilon, 256).low, 1 << 256)
    odds = q / (1 - q)
    total, power = Fraction(0), Fraction(1)
    for coefficient in coefficients:
        total += coefficient * power
        power *= odds
    return total


class Ball(Protocol):
    """A family of growing balls around 0."""

    sensitivities: tuple[int, ...]

    @property
    def closed_form(self) -> bool:
        """Whether `share_within` costs the same for every ball."""

    def alike(self, j: int) -> tuple[int, int]:
        """The facts that determine the marginal of component j; equal facts, equal marginals."""

    def level(self, x: Ints) -> Ints:
        """The least i whose ball holds x, for rows of steps."""

    def rise(self, shift: Sequence[int]) -> int:
        """The largest rise of level that a shift can cause.

        Levels are subadditive, so no start sees more than the shift's own length in levels, rounded
        up; from the edge of the core it is seen.
        """

    def count(self, i: int) -> int:
        """The number of points of the i-th ball: a polynomial in i of degree D."""

    def moments(self, i: int, j: int) -> tuple[int, int]:
        """Σ|x_j| and Σx_j² over the i-th ball."""

    def share_within(self, i: Real, j: int, reach: int) -> Real:
        """For each i, the share of its ball's points with |x_j| ≤ reach."""

    def share_below(self, i: Real, x: Sequence[int]) -> Real:
        """For each i, the share of its ball's points with every component at most x_j."""

    def draw(self, i: Ints, source: Source) -> Ints:
        """For each i, a point of the i-th ball, all equally likely."""


def sum_of_sizes(n: int) -> int:
    """1 + 2 + … + n."""
    return n * (n + 1) // 2


def sum_of_squares(n: int) -> int:
    """1 + 4 + … + n²."""
    return n * (n + 1) * (2 * n + 1) // 6


class Box:
    """Balls Π[−(c_j + i·s_j), c_j + i·s_j]."""

    closed_form = True

    def __init__(self, sensitivities: Sequence[int], core: Sequence[int]) -> None:
        self.sensitivities = tuple(sensitivities)
        self.core = tuple(core)

    def alike(self, j: int) -> tuple[int, int]:
        return self.sensitivities[j], self.core[j]

    def _half(self, i: int) -> list[int]:
        return [c + i * s for c, s in zip(self.core, self.sensitivities, strict=True)]

    def level(self, x: Ints) -> Ints:
        beyond = np.abs(x) - np.asarray(self.core)
        levels = -(-beyond // np.asarray(self.sensitivities))
        return np.asarray(np.maximum(levels, 0).max(axis=-1))

    def rise(self, shift: Sequence[int]) -> int:
        return max(-(-abs(t) // s) for t, s in zip(shift, self.sensitivities, strict=True))

    def count(self, i: int) -> int:
        return math.prod(2 * n + 1 for n in self._half(i))

    def moments(self, i: int, j: int) -> tuple[int, int]:
        half = self._half(i)
        others = math.prod(2 * n + 1 for l, n in enumerate(half) if l != j)
        return 2 * others * sum_of_sizes(half[j]), 2 * others * sum_of_squares(half[j])

    def share_within(self, i: Real, j: int, reach: int) -> Real:
        half = self.core[j] + i * float(self.sensitivities[j])
        return np.minimum(1.0, (2 * reach + 1) / (2 * half + 1))

    def share_below(self, i: Real, x: Sequence[int]) -> Real:
        share = np.ones_like(i)
        for c, s, most in zip(self.core, self.sensitivities, x, strict=True):
            half = c + i * float(s)
            share *= np.clip((most + half + 1) / (2 * half + 1), 0, 1)
        return share

    def draw(self, i: Ints, source: Source) -> Ints:
        half = np.asarray(self.core) + i[:, None] * np.asarray(self.sensitivities)
        drawn = uniform((2 * half + 1).ravel(), half.size, source)
        return np.asarray(drawn.reshape(half.shape) - half)
