"""The Laplace law, for one answer and independently for several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..arguments import Number, checked_call, exact, fraction_of_one, law_epsilon, moderate
from .discrete_laplace import DiscreteLaplace
from .joint import Blend, Joint, joint
from .laplace_sum import FineSum, LaplaceSum
from .law import Continuous, GridLaw, Ints, Real, like, log, power_of_two_below, real_array, vector
from .likelihood import Likelihood, in_units, likelihood_of
from .source import Source


class Laplace(Continuous):
    """Noise with density ε/(2Δ)·e^(-ε|x|/Δ).

    Guarantee
        epsilon-differential privacy when one unit moves the value by at most `sensitivity`. Draws
        come from its exact integer law on a grid; `sample` uses the power-of-two `sampling_grid`.

    Parameters
        sensitivity: finite, above 0.
        epsilon: finite, above 0.

    Example
        >>> law = Laplace(sensitivity=1, epsilon=0.5)
        >>> law.variance, round(law.interval(0.95)[1], 4)
        (8.0, 5.9915)

    Source
        Dwork, McSherry, Nissim and Smith 2006.
    """

    @checked_call
    def __init__(self, *, sensitivity: Number, epsilon: Number) -> None:
        self.sensitivity = moderate(sensitivity, "sensitivity")
        self.epsilon = law_epsilon(epsilon)

    @property
    def scale(self) -> float:
        """Sensitivity over epsilon."""
        return float(self.sensitivity / self.epsilon)

    @property
    def variance(self) -> float:
        return 2 * self.scale**2

    @property
    def mean_absolute_error(self) -> float:
        return self.scale

    def pdf(self, x: Any) -> Any:
        """The density at x."""
        with np.errstate(under="ignore", over="ignore"):
            return like(x, np.exp(-np.abs(real_array(x)) / self.scale) / (2 * self.scale))

    def _tail(self, size: Real) -> Real:
        with np.errstate(under="ignore", over="ignore"):
            return np.asarray(np.exp(-size / self.scale))

    def _size_with_tail(self, tail: Fraction) -> float:
        return -self.scale * log(tail)

    def loss(self, shift: Number) -> float:
        """The largest log-ratio between the law and itself moved by `shift`."""
        return float(self.epsilon * abs(exact(shift, "shift")) / self.sensitivity)

    def on_grid(self, grid: Number) -> DiscreteLaplace:
        """The exact integer law that is actually sampled."""
        return DiscreteLaplace(sensitivity=self.sensitivity, epsilon=self.epsilon, grid=grid)

    @property
    def sampling_grid(self) -> Fraction:
        """The power of two on which `sample` draws: about a millionth of the sensitivity."""
        return power_of_two_below(self.sensitivity) / (1 << 20)

    def __repr__(self) -> str:
        return f"Laplace(sensitivity={float(self.sensitivity):g}, epsilon={float(self.epsilon):g})"


@likelihood_of.register(Laplace)
def _likelihood(law: Laplace) -> Likelihood:
    slope = float(law.epsilon / law.sensitivity)
    return Likelihood(lambda x: -slope * x, slope, 0.0, Fraction(1), False)


# -- Independent noise on each component: what an L1 budget buys -----------------------------------


class IndependentLaplace:
    """Laplace noise of its own scale on each component of a vector.

    Guarantee
        A move t of the vector costs Σ|t_j|/scales_j, so it is epsilon-differentially private when
        that sum never exceeds epsilon. This is the yardstick for `OptimalBox`: with sensitivities
        s_j the best scales are D·s_j/ε.

    Parameters
        scales: one finite number above 0 for each component.

    Example
        >>> law = IndependentLaplace(scales=[2, 20])
        >>> law.variance, law.loss([1, 10])
        ((8.0, 800.0), 1.0)

    Source
        Dwork, McSherry, Nissim and Smith 2006.
    """

    @checked_call
    def __init__(self, *, scales: Sequence[Number]) -> None:
        self.scales = tuple(moderate(scale, "scales") for scale in vector(scales, "scales"))

    @property
    def variance(self) -> tuple[float, ...]:
        return tuple(2 * float(scale) ** 2 for scale in self.scales)

    @property
    def mean_absolute_error(self) -> tuple[float, ...]:
        return tuple(float(scale) for scale in self.scales)

    def loss(self, shift: Sequence[Number]) -> float:
        """The largest log-ratio between the law and itself moved by `shift`; exact."""
        moved = vector(shift, "shift", len(self.scales))
        pairs = zip(moved, self.scales, strict=True)
        return float(sum(abs(t) / scale for t, scale in pairs))

    def radius(self, level: Number) -> float:
        """α with Σ|x_j|/scales_j ≤ α at `level`: the smallest region is that cross-polytope."""
        wanted = float(1 - fraction_of_one(level, "level"))
        low, high = 0.0, 1.0
        while _beyond(high, len(self.scales)) > wanted:
            low, high = high, 2 * high
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (
                (middle, high) if _beyond(middle, len(self.scales)) > wanted else (low, middle)
            )
        return high

    def volume(self, level: Number) -> float:
        """The volume of the smallest confidence region."""
        d = len(self.scales)
        return (
            math.prod(float(2 * scale) for scale in self.scales)
            * self.radius(level) ** d
            / math.factorial(d)
        )

    def on_grid(self, grid: Number) -> tuple[DiscreteLaplace, ...]:
        """The exact integer law of each component."""
        step = moderate(grid, "grid")
        return tuple(
            DiscreteLaplace(sensitivity=step, epsilon=step / scale, grid=step)
            for scale in self.scales
        )


def _beyond(radius: float, dimension: int) -> float:
    """P(Σ|x_j|/scale_j > radius): a gamma tail, which is a sum of Poisson weights."""
    term = total = math.exp(-radius)
    for k in range(1, dimension):
        term *= radius / k
        total += term
    return total


@joint.register(tuple)
@dataclass(frozen=True)
class Independent(Joint):
    """A law of its own for each component."""

    laws: tuple[GridLaw, ...]

    @property
    def whole(self) -> tuple[GridLaw, ...]:
        return self.laws

    @property
    def words(self) -> str:
        scales = (law.scale for law in self.laws if isinstance(law, DiscreteLaplace))
        return f"scale {', '.join(f'{scale:.6g}' for scale in scales)} steps"

    def steps(self, size: int, source: Source | None = None) -> Ints:
        return np.stack([law.steps(size, source) for law in self.laws], axis=1)

    def check_draw(self, size: int = 1) -> None:
        for law in dict.fromkeys(self.laws):
            law.check_draw(size)

    def variance(self, j: int) -> float:
        return self.laws[j].variance

    def mean_absolute_error(self, j: int) -> float:
        return self.laws[j].mean_absolute_error

    def half_width(self, j: int, level: Fraction) -> float:
        return self.laws[j].interval(level)[1]

    def alone(self, j: int, unit: Fraction) -> GridLaw:
        return in_units(self.laws[j], unit)

    def independent(self, j: int) -> GridLaw:
        return self.laws[j]

    def blend(self, share: float, sign: int) -> Blend:
        near = Fraction(share).limit_denominator(1 << 20)
        total = LaplaceSum.of([(near, self.laws[0]), (1 - near, self.laws[1])])
        return super().blend(share, sign) if total is None else FineSum(total)


@joint.register(GridLaw)
class _Single(Independent):
    """The law of one number."""

    def __init__(self, law: GridLaw) -> None:
        super().__init__((law,))

    @property
    def words(self) -> str:
        return repr(self.laws[0])
