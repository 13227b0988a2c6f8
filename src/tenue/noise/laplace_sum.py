"""The error of a weighted sum of independent discrete Laplace draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from ..number import Number, fraction_of_one
from .discrete_laplace import DiscreteLaplace
from .law import Real

__all__ = ["LaplaceSum"]

_LONGEST = 1 << 20
_TELL_APART = 1e-3


class LaplaceSum:
    """Σ w_i·X_i for independent discrete Laplace X_i.

    Small supports are convolved exactly. Large ones use the continuous law, whose tail is a sum of
    exponentials Σ c_i·e^(-t/b_i); equal scales are told apart by a thousandth, which moves an
    interval by less than that.

    Example
        >>> one = DiscreteLaplace(sensitivity=1000, epsilon=1)
        >>> two = LaplaceSum([(Fraction(1), one), (Fraction(1), one)])
        >>> round(two.variance / (2 * one.variance), 9)
        1.0
    """

    def __init__(self, terms: Sequence[tuple[Fraction, DiscreteLaplace]]) -> None:
        self.terms = tuple((weight, law) for weight, law in terms if weight)

    @cached_property
    def variance(self) -> float:
        return sum(float(weight) ** 2 * law.variance for weight, law in self.terms)

    @cached_property
    def mean_absolute_error(self) -> float:
        masses = self._masses
        if masses is not None:
            unit, values = masses
            places = np.arange(values.size) - values.size // 2
            return float((np.abs(places) * values).sum()) * float(unit)
        return self.continuous_mean_absolute_error

    @property
    def continuous_mean_absolute_error(self) -> float:
        """In the limit of a fine grid."""
        return sum(c * b for c, b in self._exponentials)

    def interval(self, level: Number) -> tuple[float, float]:
        """The shortest symmetric interval that holds the sum with probability at least `level`."""
        outside = float(1 - fraction_of_one(level, "level"))
        half = (
            self._half_exact(outside)
            if self._masses is not None
            else self.continuous_half_width(outside)
        )
        return -half, half

    # -- exactly -------------------------------------------------------------------------------

    @cached_property
    def _masses(self) -> tuple[Fraction, Real] | None:
        """The unit of the sum and its masses on multiples of it, or None where they are many."""
        unit = _common(weight * law.grid for weight, law in self.terms)
        reaches = [40 * law.scale * abs(float(weight / unit)) for weight, law in self.terms]
        size = 2 * math.ceil(sum(reaches)) + 1
        if size > _LONGEST:
            return None
        half, length = size // 2, 1 << size.bit_length()
        product = np.ones(length // 2 + 1, dtype=complex)
        for weight, law in self.terms:
            stride = abs(int(weight * law.grid / unit))
            masses = np.zeros(length)
            steps = np.arange(-(half // stride), half // stride + 1)
            masses[steps * stride % length] = law.mass(steps)
            product = product * np.fft.rfft(masses)
        masses = np.maximum(np.fft.irfft(product, length), 0)
        return unit, np.concatenate([masses[-half:], masses[: half + 1]])

    def _half_exact(self, outside: float) -> float:
        unit, masses = self._masses or (Fraction(1), np.ones(1))
        middle = masses.size // 2
        both = masses[middle:].copy()
        both[1:] *= 2
        beyond = 1 - np.cumsum(both)
        return float(unit * int(np.argmax(beyond <= outside + 1e-12)))

    # -- in the limit of a fine grid -----------------------------------------------------------

    @cached_property
    def _exponentials(self) -> list[tuple[float, float]]:
        """(c_i, b_i) with P(|sum| > t) = Σ c_i·e^(-t/b_i)."""
        # the scale of the continuous law with the same variance
        scales = sorted(
            abs(float(weight)) * math.sqrt(law.variance / 2) for weight, law in self.terms
        )
        for i in range(1, len(scales)):
            scales[i] = max(scales[i], scales[i - 1] * (1 + _TELL_APART))
        result = []
        for i, b in enumerate(scales):
            others = (b * b / (b * b - o * o) for j, o in enumerate(scales) if j != i)
            result.append((math.prod(others), b))
        return result

    def tail(self, t: float) -> float:
        """P(|sum| > t) in the limit of a fine grid."""
        return sum(c * math.exp(-t / b) for c, b in self._exponentials)

    def continuous_half_width(self, outside: float) -> float:
        """The t with P(|sum| > t) = outside in the limit of a fine grid."""
        low, high = 0.0, max(b for _, b in self._exponentials)
        while self.tail(high) > outside:
            low, high = high, 2 * high
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if self.tail(middle) > outside else (low, middle)
        return high


def _common(values: object) -> Fraction:
    """The largest rational of which all are whole multiples."""
    numbers = [abs(Fraction(value)) for value in values]  # type: ignore[attr-defined]
    bottom = math.lcm(*(n.denominator for n in numbers))
    return Fraction(math.gcd(*(int(n * bottom) for n in numbers)), bottom)
