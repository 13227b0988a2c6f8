"""The step-shaped law on whole grid steps, drawn exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import refuse
from .criterion import Criterion
from .enclosure import Enclosure, exp_minus
from .law import GridLaw, Ints, Real, checked_steps, like, real_array
from .likelihood import Likelihood, likelihood_of
from .samplers import LARGEST, geometric, geometric_tables, signs, uniform
from .source import Source
from .table import Table

# Up to this many candidates for the core, all are tried; beyond it only those near the continuous
# optimum, where the criterion is flat.
_TRY_ALL = 2048


class OptimalSteps(GridLaw):
    """k steps with probability proportional to e^(-ε·level), level = max(0, ⌈(|k|−d+1)/Δ⌉).

    Δ and d are whole steps, 1 ≤ d ≤ Δ. The core is |k| ≤ d−1. Δ = 1 is discrete Laplace.

    Guarantee
        epsilon-differential privacy when one unit moves one value on the grid by at most Δ steps.

    Source
        Soria-Comas and Domingo-Ferrer 2013, carried over to whole numbers.
    """

    def __init__(self, *, delta: int, d: int, epsilon: Fraction, grid: Fraction) -> None:
        self.epsilon = epsilon
        self.grid = grid
        self.delta_steps = delta
        self.d_steps = d
        self._q = math.exp(-epsilon)
        self._rest = delta * _series(epsilon)[0]
        self._total = 2 * d - 1 + 2 * self._rest

    @classmethod
    def of(
        cls,
        *,
        sensitivity: Fraction,
        epsilon: Fraction,
        grid: Fraction,
        minimise: Criterion | None,
        d: Fraction | None,
        near: float,
    ) -> OptimalSteps:
        """The integer law of `Optimal`: d rounded up to steps, or found anew on the integers."""
        delta = checked_steps(sensitivity, grid, "sensitivity")
        if delta * 64 >= LARGEST * epsilon:
            raise refuse(
                "noise.optimal-noise-too-large", delta=delta / float(epsilon), largest=LARGEST // 64
            )
        if minimise is None:
            steps = min(delta, max(1, math.ceil((d or Fraction(0)) / grid)))
        else:
            steps = _best_core(delta, epsilon, minimise, near / float(grid))
        return cls(delta=delta, d=steps, epsilon=epsilon, grid=grid)

    @property
    def sensitivity(self) -> Fraction:
        """The largest shift that costs epsilon."""
        return self.delta_steps * self.grid

    @property
    def d(self) -> Fraction:
        """The core's width in units of the answer: noise below it is the most likely."""
        return self.d_steps * self.grid

    def mass(self, i: Any) -> Any:
        k = np.abs(real_array(i, "i"))
        with np.errstate(under="ignore", over="ignore"):
            mass = np.exp(-float(self.epsilon) * self._level(k)) / self._total
        return like(i, np.where(k == np.floor(k), mass, 0.0))

    def _level(self, size: Real) -> Real:
        return np.maximum(0.0, np.ceil((size - (self.d_steps - 1)) / self.delta_steps))

    def _tail(self, m: Real) -> Real:
        with np.errstate(under="ignore", over="ignore"):
            level = self._level(m)
            left = self.d_steps + level * self.delta_steps - m  # points of m's level from m on
            decay = np.exp(-float(self.epsilon) * level)
            return np.asarray(2 * decay * (left + self._rest) / self._total)

    @property
    def _moments(self) -> tuple[float, float]:
        d = np.asarray([self.d_steps], dtype=float)
        first, second = _moments(self.delta_steps, d, self.epsilon)
        return float(first[0]), float(second[0])

    def _loss_of_steps(self, steps: Fraction) -> Fraction | float:
        if steps.denominator != 1:
            return math.inf
        return self.epsilon * math.ceil(steps / self.delta_steps)

    def _draw(self, size: int, source: Source) -> Ints:
        """Where in its period |k| falls, how many periods out, and the sign; −0 is drawn again."""
        shape = shape_table(self.delta_steps, self.d_steps, self.epsilon)
        drawn = self._signed(shape, size, source)
        open_ = np.flatnonzero(drawn == _MINUS_ZERO)
        while open_.size:
            drawn[open_] = again = self._signed(shape, open_.size, source)
            open_ = open_[again == _MINUS_ZERO]
        return drawn

    def _check_draw(self) -> None:
        shape_table(self.delta_steps, self.d_steps, self.epsilon)
        geometric_tables(self.epsilon)

    def _signed(self, shape: Table, size: int, source: Source) -> Ints:
        if self.delta_steps <= _LONGEST_SHAPE:
            place = shape.draw(size, source).astype(np.int64)
        else:
            in_core = shape.draw(size, source) == 0
            inside = int(np.count_nonzero(in_core))
            place = np.empty(size, dtype=np.int64)
            place[in_core] = uniform(self.d_steps, inside, source)
            ring = uniform(max(1, self.delta_steps - self.d_steps), size - inside, source)
            place[~in_core] = ring + self.d_steps
        # beyond 62 bits, with probability below e^-64, the draw stays at the edge
        periods = np.minimum(geometric(self.epsilon, size, source), LARGEST // self.delta_steps)
        place += self.delta_steps * periods
        sign = signs(size, source)
        place[(place == 0) & (sign < 0)] = _MINUS_ZERO  # times −1 it stays what it is
        place *= sign
        return place

    def __repr__(self) -> str:
        return (
            f"OptimalSteps(delta={self.delta_steps}, d={self.d_steps}, "
            f"epsilon={float(self.epsilon):g}, grid={float(self.grid):g})"
        )


@likelihood_of.register(OptimalSteps)
def _likelihood(law: OptimalSteps) -> Likelihood:
    epsilon, period, core = float(law.epsilon), law.delta_steps, law.d_steps - 1
    return Likelihood(
        lambda k: -epsilon * np.maximum(0.0, np.ceil((k - core) / period)),
        epsilon / period,
        epsilon,
        law.grid,
        True,
        law.mass,
    )


_MINUS_ZERO = np.iinfo(np.int64).min
_LONGEST_SHAPE = 1024


@lru_cache(maxsize=128)
def shape_table(delta: int, d: int, epsilon: Fraction) -> Table:
    """Where |k| falls in its period of Δ: the first d places weigh 1, the others e^-ε.

    A short period is tabled place by place; a long one as core or not, then uniform inside.
    """

    def cumulative(bits: int) -> list[Enclosure]:
        q = exp_minus(epsilon, bits)
        total = Enclosure.of(d, bits) + q.times(delta - d)
        if delta > _LONGEST_SHAPE:
            return [Enclosure.of(d, bits) / total] if d < delta else []
        sums = [Enclosure.of(j + 1, bits) for j in range(d)]
        sums += [Enclosure.of(d, bits) + q.times(j + 1) for j in range(delta - d)]
        return [part / total for part in sums[:-1]]

    return Table(cumulative)


def _series(epsilon: Fraction) -> tuple[float, float, float]:
    """Σ q^(i+1), Σ i·q^(i+1), Σ i²·q^(i+1) over i ≥ 0, for q = e^-ε."""
    e = float(epsilon)
    q = math.exp(-e)
    fall = -math.expm1(-e)
    return q / fall, q * q / fall**2, q * q * (1 + q) / fall**3


def _moments(delta: int, d: Real, epsilon: Fraction) -> tuple[Real, Real]:
    """E|k| and E k² for each core d."""
    s0, s1, s2 = _series(epsilon)
    n = float(delta)
    total = 2 * d - 1 + 2 * n * s0
    first = d * (d - 1) / 2 + s0 * (n * d + n * (n - 1) / 2) + s1 * n * n
    # Σ k² over a period that starts at a is n·a² + n(n−1)·a + (n−1)n(2n−1)/6, a = d + i·n
    rest = (n - 1) * n * (2 * n - 1) / 6
    squares = s0 * (n * d * d + n * (n - 1) * d + rest) + s1 * n * n * (2 * d + n - 1) + s2 * n**3
    second = (d - 1) * d * (2 * d - 1) / 6 + squares
    return 2 * first / total, 2 * second / total


def _best_core(delta: int, epsilon: Fraction, wanted: Criterion, near: float) -> int:
    if delta <= _TRY_ALL:
        candidates = range(1, delta + 1)
    else:
        middle = min(max(round(near), 1), delta)
        reach = _TRY_ALL // 2
        candidates = range(max(1, middle - reach), min(delta, middle + reach) + 1)
    sizes, squares = _moments(delta, np.asarray(candidates, dtype=float), epsilon)
    if wanted.kind != "interval":
        return candidates[int(np.argmin(sizes if wanted.kind == "absolute-error" else squares))]
    # many cores share the shortest whole interval: among them the least variance
    widths = _half_widths(
        delta, np.asarray(candidates, dtype=float), epsilon, wanted.level or Fraction(0)
    )
    return candidates[int(np.lexsort((squares, widths))[0])]


def _half_widths(delta: int, d: Real, epsilon: Fraction, level: Fraction) -> Real:
    """For each core d, how many steps the interval at `level` reaches: all by one bisection."""
    rest = delta * _series(epsilon)[0]
    outside = float(1 - level)

    def beyond(m: Real) -> Real:
        """P(|k| > m)."""
        with np.errstate(under="ignore"):
            shell = np.maximum(0.0, np.ceil((m + 1 - (d - 1)) / delta))
            left = d + shell * delta - (m + 1)
            return np.asarray(
                2 * np.exp(-float(epsilon) * shell) * (left + rest) / (2 * d - 1 + 2 * rest)
            )

    low, high = np.full_like(d, -1.0), np.full_like(d, float(delta))
    while (beyond(high) > outside).any():
        high *= 2
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        short = beyond(middle) > outside
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return high
