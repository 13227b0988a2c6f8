"""The Laplace law: the yardstick every other noise is measured against."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ..number import Number, checked_call, exact, law_epsilon, moderate
from .discrete_laplace import DiscreteLaplace
from .law import Continuous, Real, like, log, power_of_two_below, real_array
from .likelihood import Likelihood, likelihood_of


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
