"""How likely a noisy value is for each possible truth, under the law actually used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ..errors import refuse
from ..noise.discrete_laplace import DiscreteLaplace
from ..noise.laplace import Laplace
from ..noise.optimal import Optimal
from ..noise.optimal_steps import OptimalSteps
from .admissible import require_free
from .margin import Margin

Real = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Likelihood:
    """The logarithm of a law, up to a constant.

    Attributes
        log: of distances, in units of `unit`.
        rate: how fast it falls for each unit, in the long run.
        slack: how far it may be from −rate·distance, up to a constant.
        unit: the law's grid, or 1 for a density.
        exact: whether the law lives on its grid.
    """

    log: Callable[[Real], Real]
    rate: float
    slack: float
    unit: Fraction
    exact: bool


def likelihood(law: object) -> Likelihood:
    """The likelihood of a law of noise for one answer; other laws are refused.

    Example
        >>> found = likelihood(DiscreteLaplace(sensitivity=1, epsilon=0.5))
        >>> found.log(np.array([1.0, 3.0])).tolist()
        [-0.5, -1.5]
    """
    require_free(law=law)
    one = Fraction(1)
    if isinstance(law, Laplace):
        slope = float(law.epsilon / law.sensitivity)
        return Likelihood(lambda x: -slope * x, slope, 0.0, one, False)
    if isinstance(law, DiscreteLaplace):
        rate = float(law.epsilon * law.grid / law.sensitivity)
        return Likelihood(lambda k: -rate * k, rate, 0.0, law.grid, True)
    if isinstance(law, Optimal):
        epsilon, width, d = float(law.epsilon), float(law.sensitivity), law.d
        return Likelihood(
            lambda x: -epsilon * np.maximum(0.0, np.ceil((x - d) / width)),
            epsilon / width,
            epsilon,
            one,
            False,
        )
    if isinstance(law, OptimalSteps):
        epsilon, period, core = float(law.epsilon), law.delta_steps, law.d_steps - 1
        return Likelihood(
            lambda k: -epsilon * np.maximum(0.0, np.ceil((k - core) / period)),
            epsilon / period,
            epsilon,
            law.grid,
            True,
        )
    if isinstance(law, Margin):
        fall = float(law.epsilon) / law.period
        slack = float(law.epsilon) + 8.0 * law.law.dimension
        return Likelihood(law.log_mass, fall, slack, law.grid, True)
    raise refuse("estimate.law-is-of-type-2", type=type(law).__name__)


def noisy_steps(noisy: Fraction, found: Likelihood) -> Fraction:
    """The noisy value in the law's units; refused if a law on a grid could not have made it."""
    steps = noisy / found.unit
    if found.exact and steps.denominator != 1:
        raise refuse(
            "estimate.noisy-value-is-not-on-law-s", noisy=float(noisy), unit=float(found.unit)
        )
    return steps
