"""One component of a vector's noise, on its own."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...errors import refuse
from ...number import Number, checked_call, whole
from ..law import Real
from ..likelihood import Likelihood, likelihood_of
from .steps import OptimalBoxSteps

# Balls, steps summed one by one, and steps beyond; fewer where each share is itself a long sum.
_EFFORT = (2000, 256, 256)
_LESS_EFFORT = (160, 24, 40)
_FOLDS = 60.0


class Margin:
    """The law of component `component` of an `OptimalBox` on its grid.

    A vector's noise is uniform on a ball drawn at random; so a component's mass at k steps is the
    sum over balls of their probability times the share of their points at k. Near 0 every step is
    summed; further out, where the mass is smooth, its logarithm is interpolated between steps.

    Guarantee
        Correct to rounding at steps that are summed. Between them within a few per cent where the
        components' sensitivities differ and all move one way, much better elsewhere.

    Parameters
        law: the integer law of the vector, `box.on_grid(...)`.
        component: which of its components, from 0.

    Example
        >>> from tenue.noise import OptimalBox
        >>> law = OptimalBox(sensitivities=[1, 1], epsilon=1, signs="same").on_grid(1)
        >>> steps = np.arange(-40, 41)
        >>> round(float(np.exp(Margin(law, 0).log_mass(steps)).sum()), 9)
        1.0
    """

    @checked_call
    def __init__(self, law: OptimalBoxSteps, component: Number) -> None:
        if not isinstance(law, OptimalBoxSteps):
            raise refuse("noise.vector-law-type", type=type(law).__name__)
        self.component = whole(component, "component")
        if self.component >= law.dimension:
            raise refuse(
                "noise.unknown-law-component", component=component, dimension=law.dimension - 1
            )
        self.law = law
        self.epsilon = law.epsilon
        self.grid = law.grids[self.component]
        self.period = law.ball.sensitivities[self.component]
        """How many steps the mass needs to fall by e^-ε, in the long run."""

    @property
    def _effort(self) -> tuple[int, int, int]:
        return _EFFORT if self.law.ball.closed_form else _LESS_EFFORT

    @cached_property
    def _balls(self) -> tuple[Real, Real]:
        """Balls and their probabilities; many are represented by every so-manieth."""
        epsilon, d = float(self.epsilon), self.law.dimension
        last = math.ceil((_FOLDS + d + 12 * math.sqrt(d)) / epsilon) + 2
        stride = -(-last // self._effort[0])
        balls = range(0, last, stride)
        logs = np.array([math.log(self.law.ball.count(i)) - epsilon * i for i in balls])
        weights = np.exp(logs - logs.max())
        return np.array(balls, dtype=np.float64), weights / weights.sum()

    def _mass(self, k: int) -> float:
        """The probability of exactly k ≥ 0 steps; each ball's share first, so nothing cancels."""
        balls, weights = self._balls
        within = self.law.ball.share_within
        here = within(balls, self.component, k)
        if k == 0:
            return float(weights @ here)
        return float(weights @ (here - within(balls, self.component, k - 1))) / 2

    @cached_property
    def _knots(self) -> tuple[Real, Real]:
        _, single, more = self._effort
        far = math.ceil(_FOLDS / 2 * self.period / float(self.epsilon)) + 2 * self.period
        spread = np.unique(np.geomspace(single, max(far, single + 1), more).astype(np.int64))
        steps = [*range(min(single, far)), *(int(k) for k in spread if k < far)]
        masses = np.array([self._mass(k) for k in steps])
        kept = masses > 0
        return np.array(steps, dtype=np.float64)[kept], np.log(masses[kept])

    def log_mass(self, k: npt.NDArray[np.generic]) -> Real:
        """The logarithm of the probability of k steps."""
        size = np.abs(np.asarray(k, dtype=np.float64))
        steps, logs = self._knots
        beyond = np.maximum(size - steps[-1], 0.0)
        slope = float(self.epsilon) / self.period
        return np.asarray(np.interp(size, steps, logs) - slope * beyond)

    def __repr__(self) -> str:
        return f"Margin({self.law!r}, {self.component})"


@likelihood_of.register(Margin)
def _likelihood(law: Margin) -> Likelihood:
    fall = float(law.epsilon) / law.period
    slack = float(law.epsilon) + 8.0 * law.law.dimension
    return Likelihood(law.log_mass, fall, slack, law.grid, True)
