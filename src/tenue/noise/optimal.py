"""The step-shaped noise for one answer that no other noise improves upon."""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ..arguments import Number, checked_call, exact, law_epsilon, moderate
from ..errors import refuse
from .criterion import Criterion, Minimise, criterion
from .law import Continuous, Real, like, log, power_of_two_below, real_array
from .likelihood import Likelihood, likelihood_of
from .optimal_steps import OptimalSteps


class Optimal(Continuous):
    """Adds the step-shaped noise that no other noise improves upon.

    The density is highest on |x| ≤ d and falls by e^-ε at each step of Δ beyond it. Every
    0 < d < Δ is undominated; which is best depends on what shall be small.

    Guarantee
        epsilon-differential privacy when one unit moves *one* value by at most `sensitivity`.
        Every shift 0 < |s| ≤ Δ costs the whole epsilon, so coordinates of a vector add up: for an
        L1 budget use DiscreteLaplace, for a vector OptimalBox.

    Parameters
        sensitivity: finite, above 0.
        epsilon: finite, above 0.
        minimise: "variance" (the default), "absolute-error" or ("interval", level).
        d: the half-width of the core, instead of `minimise`; 0 ≤ d ≤ sensitivity. The two ends are
            the same law and are dominated.

    Example
        >>> round(Optimal(sensitivity=1, epsilon=1, minimise="variance").variance, 4)
        1.9181

    Source
        Soria-Comas and Domingo-Ferrer 2013, Theorem 1, with its exponent corrected;
        least variance in closed form: Geng and Viswanath 2014.
    """

    @checked_call
    def __init__(
        self,
        *,
        sensitivity: Number,
        epsilon: Number,
        minimise: Minimise | None = None,
        d: Number | None = None,
    ) -> None:
        self.sensitivity = moderate(sensitivity, "sensitivity")
        self.epsilon = law_epsilon(epsilon)
        if minimise is not None and d is not None:
            raise refuse("noise.minimise-with-d")
        self.minimise: Criterion | None = None
        self._given: Fraction | None = None
        if d is not None:
            self._given = exact(d, "d")
            if not 0 <= self._given <= self.sensitivity:
                raise refuse("noise.d-above-sensitivity", d=d, sensitivity=float(self.sensitivity))
            self.d = float(self._given)
        else:
            self.minimise = criterion("variance" if minimise is None else minimise)
            self.d = _best_core(self.epsilon, self.minimise) * float(self.sensitivity)
        if self.d == 0 and self.epsilon > 700:
            raise refuse("noise.d-zero", epsilon=float(self.epsilon))
        self._delta = float(self.sensitivity)
        self._q = math.exp(-self.epsilon)
        self._rest = self._delta / math.expm1(self.epsilon) if self.epsilon < 700 else 0.0
        # the highest density M₀, from 2·M₀·(d + Δq/(1−q)) = 1
        self._peak = 1 / (2 * (self.d + self._rest))

    @property
    def dominated(self) -> bool:
        """Whether another law of the family beats this one everywhere: d = 0 or d = Δ."""
        return self.d in (0.0, self._delta)

    @property
    def _sums(self) -> tuple[float, float, float]:
        """Σ q^(i+1), Σ i·q^(i+1), Σ i²·q^(i+1) over i ≥ 0."""
        q, s0 = self._q, self._rest / self._delta
        fall = -math.expm1(-float(self.epsilon))
        s1 = s0 * q / fall
        return s0, s1, s1 * (1 + q) / fall

    @property
    def variance(self) -> float:
        d, delta = self.d, self._delta
        s0, s1, s2 = self._sums
        shells = s0 * (d * d + d * delta + delta**2 / 3) + s1 * delta * (2 * d + delta)
        return 2 * self._peak * (d**3 / 3 + delta * (shells + s2 * delta**2))

    @property
    def mean_absolute_error(self) -> float:
        d, delta = self.d, self._delta
        s0, s1, _ = self._sums
        return 2 * self._peak * (d * d / 2 + delta * (s0 * (d + delta / 2) + s1 * delta))

    def _level(self, size: Real) -> Real:
        """Which shell |x| falls in; the core is 0."""
        return np.maximum(0.0, np.ceil((size - self.d) / self._delta))

    def pdf(self, x: Any) -> Any:
        """The density at x."""
        level = self._level(np.abs(real_array(x)))
        with np.errstate(under="ignore", over="ignore"):
            return like(x, self._peak * np.exp(-float(self.epsilon) * level))

    def _tail(self, size: Real) -> Real:
        size = np.minimum(size, 1e300)
        with np.errstate(under="ignore", over="ignore", invalid="ignore"):
            level = self._level(size)
            end = self.d + level * self._delta
            inside = 2 * self._peak * np.exp(-float(self.epsilon) * level)
            return np.nan_to_num(inside * (np.maximum(end - size, 0) + self._rest))

    def _size_with_tail(self, tail: Fraction) -> float:
        beyond_core = 2 * self._peak * self._rest
        if tail >= Fraction(beyond_core):
            return float(1 - tail) / (2 * self._peak)
        levels = (math.log(beyond_core) - log(tail)) / float(self.epsilon)
        shell = math.floor(levels)
        # in the shell the mass beyond falls from 1 to e^-ε of its start, in a straight line
        left = math.exp(-float(self.epsilon) * (levels - shell))
        share = (1 - left) / -math.expm1(-float(self.epsilon))
        return self.d + self._delta * (shell + min(1.0, max(0.0, share)))

    def loss(self, shift: Number) -> float:
        """The largest log-ratio between the law and itself moved by `shift`; a step function."""
        return float(self.epsilon * math.ceil(abs(exact(shift, "shift")) / self.sensitivity))

    def on_grid(self, grid: Number) -> OptimalSteps:
        """The exact integer law that is actually sampled; its core is optimised over integers."""
        step = moderate(grid, "grid")
        return OptimalSteps.of(
            sensitivity=self.sensitivity,
            epsilon=self.epsilon,
            grid=step,
            minimise=self.minimise,
            d=self._given,
            near=self.d,
        )

    @property
    def sampling_grid(self) -> Fraction:
        """The power of two on which `sample` draws: a millionth of the sensitivity, or less where
        the core is narrow."""
        coarse = power_of_two_below(self.sensitivity) / (1 << 20)
        if not self.d:
            return coarse
        core = power_of_two_below(Fraction(self.d)) / (1 << 12)
        return max(min(coarse, core), coarse / (1 << 24))

    def __repr__(self) -> str:
        return (
            f"Optimal(sensitivity={self._delta:g}, epsilon={float(self.epsilon):g}, d={self.d:.6g})"
        )


@likelihood_of.register(Optimal)
def _likelihood(law: Optimal) -> Likelihood:
    epsilon, width, d = float(law.epsilon), float(law.sensitivity), law.d
    return Likelihood(
        lambda x: -epsilon * np.maximum(0.0, np.ceil((x - d) / width)),
        epsilon / width,
        epsilon,
        Fraction(1),
        False,
    )


def _best_core(epsilon: Fraction, wanted: Criterion) -> float:
    """The d / Δ that minimises the criterion, in closed form."""
    if epsilon > 700:  # e^-ε is zero in double precision: the core is as narrow as can be
        return math.exp(-700 / 3)
    with decimal.localcontext() as context:
        context.prec = 60
        e = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        q = (-e).exp()
        if wanted.kind == "absolute-error":
            return float(1 / (1 + (e / 2).exp()))
        if wanted.kind == "variance":
            root = ((q - 2 * q**2 + 2 * q**4 - q**5) / 2) ** (Decimal(1) / 3)
            return float(root / (1 - q) ** 2 - q / (1 - q))
        # the interval is shortest where it ends exactly at the end of a shell
        level = wanted.level or Fraction(0)
        outside = Decimal((1 - level).numerator) / Decimal((1 - level).denominator)
        shell = int((-outside.ln() / e).to_integral_value(rounding=decimal.ROUND_FLOOR))
        core = ((-(shell + 1) * e).exp() / outside - q) / (1 - q)
        return float(min(max(core, Decimal(0)), Decimal(1)))
