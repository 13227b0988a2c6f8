"""Noise with polynomial tails, for mechanisms calibrated to a smooth sensitivity."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ...errors import refuse
from ...number import Number, checked_call, exact, law_epsilon, moderate, whole
from ..law import Continuous, Real, like, power_of_two_below, real_array
from ..likelihood import scaled_by_rows
from .integral import half_line, tail_integral
from .steps import HeavyTailSteps, peak_of_rise, rise

GAMMAS = range(2, 7)


class HeavyTail(Continuous):
    """Noise (4γ/ε)·S·Z with the density of Z proportional to 1/(1+|z|^γ).

    Guarantee
        With β = ε/γ and S a β-smooth bound on the local sensitivity, value + noise is
        epsilon-differentially private (γ from 2 to 6) for answers that move by at most the smaller
        of the two tables' S. S depends on the rows: whoever releases this noise must print neither
        its scale nor its error. Integer noise stops at ±2^62 steps, which a truth moves: whoever
        releases it clamps value + noise to public bounds well inside that.

    Parameters
        gamma: a whole number from 2 to 6. The mean absolute error is infinite for 2, the variance
            for 2 and 3.
        smooth_sensitivity: finite, above 0.
        epsilon: finite, above 0.

    Example
        >>> law = HeavyTail(gamma=2, smooth_sensitivity=1, epsilon=1)
        >>> round(law.interval(0.95)[1], 4), law.variance
        (101.6496, inf)

    Source
        Nissim, Raskhodnikova and Smith 2007, with constants computed anew.
    """

    @checked_call
    def __init__(self, *, gamma: Number, smooth_sensitivity: Number, epsilon: Number) -> None:
        self.gamma = whole(gamma, "gamma")
        if self.gamma not in GAMMAS:
            raise refuse("noise.tail-exponent-invalid", gamma=gamma)
        self.smooth_sensitivity = moderate(smooth_sensitivity, "smooth_sensitivity")
        self.epsilon = law_epsilon(epsilon)
        self._scale = self.smooth_sensitivity * 4 * self.gamma / self.epsilon

    @property
    def scale(self) -> float:
        """4γS/ε: the noise is this many Z."""
        return float(self._scale)

    @property
    def variance(self) -> float:
        if self.gamma <= 3:
            return math.inf
        return self.scale**2 * math.sin(math.pi / self.gamma) / math.sin(3 * math.pi / self.gamma)

    @property
    def mean_absolute_error(self) -> float:
        if self.gamma == 2:
            return math.inf
        return self.scale / (2 * math.cos(math.pi / self.gamma))

    def pdf(self, x: Any) -> Any:
        """The density at x."""
        z = np.abs(real_array(x)) / self.scale
        with np.errstate(over="ignore"):
            return like(x, 1 / ((1 + z**self.gamma) * 2 * half_line(self.gamma) * self.scale))

    def _tail(self, size: Real) -> Real:
        return tail_integral(size / self.scale, self.gamma) / half_line(self.gamma)

    def _size_with_tail(self, tail: Fraction) -> float:
        goal = float(tail) * half_line(self.gamma)

        def beyond(z: float) -> float:
            return float(tail_integral(np.asarray(z), self.gamma))

        low, high = 0.0, 1.0
        while beyond(high) > goal:
            low, high = high, 2 * high
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if beyond(middle) > goal else (low, middle)
        return high * self.scale

    def loss(self, shift: Number) -> float:
        """The largest log-ratio between the law and itself moved by `shift`."""
        moved = abs(float(exact(shift, "shift"))) / self.scale
        return float(rise(np.asarray(peak_of_rise(moved, self.gamma)), moved, self.gamma))

    def on_grid(self, grid: Number) -> HeavyTailSteps:
        """The exact integer law that is actually sampled."""
        step = moderate(grid, "grid")
        return HeavyTailSteps(
            gamma=self.gamma, scale=self._scale / step, epsilon=self.epsilon, grid=step
        )

    @property
    def sampling_grid(self) -> Fraction:
        """The power of two on which `sample` draws: about a millionth of the scale."""
        return power_of_two_below(self._scale) / (1 << 20)

    def __repr__(self) -> str:
        return (
            f"HeavyTail(gamma={self.gamma}, smooth_sensitivity={float(self.smooth_sensitivity):g}, "
            f"epsilon={float(self.epsilon):g})"
        )


@scaled_by_rows.register(HeavyTail)
@scaled_by_rows.register(HeavyTailSteps)
def _scaled_by_rows(law: object) -> bool:
    return True
