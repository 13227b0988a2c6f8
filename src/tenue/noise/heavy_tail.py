"""Noise with a polynomial tail, for mechanisms calibrated to a smooth sensitivity."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ..arguments import Number, checked_call, exact, law_epsilon, moderate, whole
from ..errors import refuse
from .law import Continuous, GridLaw, Ints, Real, like, power_of_two_below, real_array
from .likelihood import scaled_by_rows
from .samplers import LARGEST, signs
from .source import Source


def half_line(gamma: int) -> float:
    """∫₀^∞ dz / (1 + z^γ)."""
    return math.pi / gamma / math.sin(math.pi / gamma)


def tail_integral(z: Real, gamma: int) -> Real:
    """∫_z^∞ dt / (1 + t^γ) for z ≥ 0.

    Near zero by the roots of −1, far out by the series in 1/z, which loses no digits there.
    """
    z = np.asarray(z, dtype=float)
    near = np.minimum(z, 2.0)
    roots = np.exp(1j * math.pi * (2 * np.arange(gamma) + 1) / gamma)
    logs = np.log(1 - near[..., None] / roots)
    from_zero = -(roots * logs).sum(axis=-1).real / gamma
    far = 1 / np.maximum(z, 2.0)
    orders = gamma * (np.arange(40) + 1) - 1
    signs = 1 - 2 * (np.arange(40) % 2)
    with np.errstate(under="ignore"):
        series = (signs * far[..., None] ** orders / orders).sum(axis=-1)
    return np.asarray(np.where(z < 2, half_line(gamma) - from_zero, series))


# -- The polynomial-tailed law on whole grid steps, drawn exactly ----------------------------------

# Below this the sum over steps is taken term by term; beyond it Euler and Maclaurin are exact to
# double precision.
_TERM_BY_TERM = 256


class HeavyTailSteps(GridLaw):
    """k steps with probability proportional to 1 / (1 + |k/τ|^γ), τ the scale in steps.

    Source
        Nissim, Raskhodnikova and Smith 2007, carried over to whole numbers.
    """

    def __init__(self, *, gamma: int, scale: Fraction, epsilon: Fraction, grid: Fraction) -> None:
        self.gamma = gamma
        self.epsilon = epsilon
        self.grid = grid
        self._scale = scale

    def _weight(self, k: Real) -> Real:
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(1 / (1 + (k / float(self._scale)) ** self.gamma))

    @cached_property
    def _total(self) -> float:
        return 1 + 2 * float(self._from(np.asarray(1.0)))

    def mass(self, i: Any) -> Any:
        k = np.abs(real_array(i, "i"))
        return like(i, np.where(k == np.floor(k), self._weight(k) / self._total, 0.0))

    def _tail(self, m: Real) -> Real:
        return 2 * self._from(m) / self._total

    def _from(self, m: Real) -> Real:
        """Σ of the weights of m, m+1, …"""
        m = np.asarray(m, dtype=float)
        start = m if float(self._scale) >= _TERM_BY_TERM else np.maximum(m, _TERM_BY_TERM)
        terms = np.arange(_TERM_BY_TERM, dtype=float)
        singly = np.where(terms < (start - m)[..., None], self._weight(m[..., None] + terms), 0)
        return np.asarray(singly.sum(axis=-1) + self._smooth_from(start))

    def _smooth_from(self, m: Real) -> Real:
        """Euler–Maclaurin: integral + f/2 − f'/12 + f'''/720, for f smooth beyond m."""
        scale, gamma = float(self._scale), self.gamma
        f = self._weight(m)
        # with θ = x·d/dx: θf = −γ·f·(1−f)
        first = -gamma * f * (1 - f)
        second = -gamma * (1 - 2 * f) * first
        third = -gamma * ((1 - 2 * f) * second - 2 * first**2)
        slope = first / m
        jerk = (third - 3 * second + 2 * first) / m**3
        integral = scale * tail_integral(m / scale, gamma)
        return np.asarray(integral + f / 2 - slope / 12 + jerk / 720)

    @cached_property
    def _moments(self) -> tuple[float, float]:
        first = second = math.inf
        if self.gamma > 2:
            first = self._power_sum(1)
        if self.gamma > 3:
            second = self._power_sum(2)
        return first, second

    def _power_sum(self, power: int) -> float:
        """E|k|^power: term by term to far out, then the integral of the leading tail terms."""
        scale, gamma = float(self._scale), self.gamma
        if scale >= 1 << 16:  # the lattice is invisible: the continuous moment, to double precision
            return (
                scale**power * math.sin(math.pi / gamma) / math.sin((power + 1) * math.pi / gamma)
            )
        stop = 1 << 20
        k = np.arange(1, stop, dtype=float)
        near = float((k**power * self._weight(k)).sum())
        far = 0.0
        for n in (1, 2, 3):  # weight = Σ ±(τ/k)^(nγ), summed from `stop` on
            order = n * gamma - power
            sign = 1 if n % 2 else -1
            start = stop - 0.5  # midpoint rule: the next term is of order stop^-2 relative
            far += sign * scale**power * (scale / start) ** (order - 1) * scale / (order - 1)
        return 2 * (near + far) / self._total

    def _loss_of_steps(self, steps: Fraction) -> Fraction | float:
        if steps.denominator != 1:
            return math.inf
        scale, gamma = float(self._scale), self.gamma
        peak = peak_of_rise(int(steps) / scale, gamma) * scale
        near = np.floor(peak) + np.arange(-1, 3)  # the rise has one peak: its neighbours hold it
        return float(rise(near / scale, int(steps) / scale, gamma).max())

    def __repr__(self) -> str:
        return (
            f"HeavyTailSteps(gamma={self.gamma}, scale={float(self._scale):g}, "
            f"epsilon={float(self.epsilon):g}, grid={float(self.grid):g})"
        )

    def _draw(self, size: int, source: Source) -> Ints:
        drawn = np.empty(size, dtype=np.int64)
        for n in range(size):
            drawn[n] = self._draw_one(source)
        return drawn

    def _check_draw(self) -> None:
        """Whole numbers of any size are drawn from no table: nothing is refused."""

    def _draw_one(self, source: Source) -> int:
        """By rejection from a staircase of octaves, every probability a ratio of integers.

        With T = ⌈τ⌉, the weight is at most 1 below T and at most 2^(-jγ) on [T·2^j, T·2^(j+1)).
        """
        top, bottom, gamma = self._scale.numerator, self._scale.denominator, self.gamma
        width = math.ceil(self._scale)
        while True:
            octave = 0  # core : all octaves = 1 : 1 / (1 − 2^(1−γ))
            if _below(2**gamma - 1, source) < 2 ** (gamma - 1) - 1:
                k = _below(width, source)
            else:
                octave = _zero_groups(gamma - 1, source)
                k = (width << octave) + _below(width << octave, source)
            # keep with the weight over its bound: τ^γ·2^(jγ) / (τ^γ + k^γ)
            reach = top**gamma
            if _below(reach + (k * bottom) ** gamma, source) >= reach << octave * gamma:
                continue
            sign = int(signs(1, source)[0])
            if k or sign > 0:  # −0 is drawn again
                return sign * min(k, LARGEST)


def _below(count: int, source: Source) -> int:
    """Uniform on [0, count) for whole numbers of any size."""
    bits = (count - 1).bit_length()
    while True:
        value = int.from_bytes(source.words(-(-bits // 8), 8).tobytes(), "big") >> -bits % 8
        if value < count:
            return value


def _zero_groups(size: int, source: Source) -> int:
    """The number of groups of `size` fair bits that are all zero before one is not."""
    count = 0
    while int(source.words(1, 8)[0]) >> (8 - size) == 0:
        count += 1
    return count


def rise(z: Real, shift: float, gamma: int) -> Real:
    """ln(1+|z+s|^γ) − ln(1+|z|^γ): how much less likely z+s is than z."""
    with np.errstate(divide="ignore"):  # ln(1 + z^γ) without z^γ, which may overflow
        after = np.logaddexp(0, gamma * np.log(np.abs(z + shift)))
        before = np.logaddexp(0, gamma * np.log(np.abs(z)))
    return np.asarray(after - before)


def peak_of_rise(shift: float, gamma: int) -> float:
    """Where the rise is largest: it has one peak, bracketed on a grid and closed in on."""
    low, high = -min(shift, 1e150), 8.0 + min(shift, 1e150)
    for _ in range(40):
        z = np.linspace(low, high, 65)
        best = int(np.argmax(rise(z, shift, gamma)))
        low, high = float(z[max(best - 1, 0)]), float(z[min(best + 1, 64)])
    return (low + high) / 2


GAMMAS = range(2, 7)


class HeavyTail(Continuous):
    """Noise (4γ/ε)·S·Z with the density of Z proportional to 1/(1+|z|^γ).

    Guarantee
        With β = ε/γ and S a β-smooth bound on the local sensitivity, value + noise is
        epsilon-differentially private (γ from 2 to 6) for answers that move by at most the smaller
        of the two tables' S. S depends on the rows: a release with this noise must show neither its
        scale nor its error. Integer noise stops at ±2^62 steps, and these ends move with the truth:
        a release must clamp value + noise to public bounds well inside them.

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
