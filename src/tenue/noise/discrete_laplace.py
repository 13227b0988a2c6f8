"""The two-sided geometric law: the noise of counts, and of every vector with an L1 budget."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ..arguments import Number, checked_call, law_epsilon, moderate
from .law import GridLaw, Ints, Real, checked_steps, like, real_array
from .likelihood import Likelihood, in_units, likelihood_of
from .samplers import geometric, geometric_tables
from .source import Source


class DiscreteLaplace(GridLaw):
    """Adds k grid steps with probability proportional to e^(-ε|k|/Δ).

    Guarantee
        epsilon-differential privacy when one unit moves a value on the grid by at most
        `sensitivity`; for a vector, when it moves all of its values together by at most
        `sensitivity` in the L1 norm.

    Parameters
        sensitivity: finite, above 0; rounded up to whole grid steps.
        epsilon: finite, above 0.
        grid: the step; values are its multiples.

    Example
        >>> law = DiscreteLaplace(sensitivity=1, epsilon=1)
        >>> round(law.mean_absolute_error, 6), law.interval(0.95)
        (0.850918, (-3, 3))

    Source
        Ghosh, Roughgarden and Sundararajan 2009.
    """

    @checked_call
    def __init__(self, *, sensitivity: Number, epsilon: Number, grid: Number = 1) -> None:
        self.epsilon = law_epsilon(epsilon)
        self.grid = moderate(grid, "grid")
        self._wanted = moderate(sensitivity, "sensitivity")
        self._delta = checked_steps(self._wanted, self.grid, "sensitivity")
        self._rate = self.epsilon / self._delta

    @property
    def sensitivity(self) -> Fraction:
        """The shift that costs exactly epsilon: `sensitivity` rounded up to the grid."""
        return self._delta * self.grid

    @property
    def scale(self) -> float:
        """Sensitivity over epsilon, in units of the answer."""
        return float(self.sensitivity / self.epsilon)

    def mass(self, i: Any) -> Any:
        k = np.abs(real_array(i, "i"))
        rate = float(self._rate)
        with np.errstate(under="ignore", over="ignore"):
            return like(i, np.where(k == np.floor(k), math.tanh(rate / 2) * np.exp(-rate * k), 0.0))

    def _tail(self, m: Real) -> Real:
        rate = float(self._rate)
        with np.errstate(under="ignore", over="ignore"):
            return np.asarray(2 * np.exp(-rate * m) / (1 + math.exp(-rate)))

    @property
    def _moments(self) -> tuple[float, float]:
        rate = float(self._rate)
        a = math.exp(-rate)
        fall = -math.expm1(-rate)
        return 2 * a / (fall * (1 + a)), 2 * a / fall**2

    def _loss_of_steps(self, steps: Fraction) -> Fraction | float:
        return self._rate * steps if steps.denominator == 1 else math.inf

    def _draw(self, size: int, source: Source) -> Ints:
        return geometric(self._rate, size, source) - geometric(self._rate, size, source)

    def _check_draw(self) -> None:
        geometric_tables(self._rate)

    def on_grid(self, grid: Number) -> DiscreteLaplace:
        """The same budget on another grid."""
        return DiscreteLaplace(sensitivity=self._wanted, epsilon=self.epsilon, grid=grid)

    def __repr__(self) -> str:
        return (
            f"DiscreteLaplace(sensitivity={float(self.sensitivity):g}, "
            f"epsilon={float(self.epsilon):g}, grid={float(self.grid):g})"
        )


@likelihood_of.register(DiscreteLaplace)
def _likelihood(law: DiscreteLaplace) -> Likelihood:
    rate = float(law.epsilon * law.grid / law.sensitivity)
    return Likelihood(lambda k: -rate * k, rate, 0.0, law.grid, True, law.mass)


@in_units.register(DiscreteLaplace)
def _in_units(law: DiscreteLaplace, unit: Fraction) -> DiscreteLaplace:
    return DiscreteLaplace(
        sensitivity=law.sensitivity * unit, epsilon=law.epsilon, grid=law.grid * unit
    )
