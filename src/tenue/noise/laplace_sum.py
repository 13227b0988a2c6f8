"""The error of a weighted sum of independent discrete Laplace draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..arguments import Number, fraction_of_one
from .discrete_laplace import DiscreteLaplace
from .law import GridLaw, Real

_LONGEST = 1 << 17
_COARSE = 1 << 16
_NO_NOISE = 1e-150
"""Less noise than that is none, and its square would be 0 in floats."""
_TELL_APART = 1e-3
_CANCELS = 1e6


class LaplaceSum:
    """Σ w_i·X_i for independent discrete Laplace X_i.

    Small supports are convolved exactly. Large ones use the continuous law, whose tail is a sum of
    exponentials Σ c_i·e^(-t/b_i); equal scales are separated by a thousandth, which moves an
    interval by less than that for each. If many similar scales would cancel in that sum, laws of
    the same variances on a coarser grid are convolved.

    Example
        >>> one = DiscreteLaplace(sensitivity=1000, epsilon=1)
        >>> two = LaplaceSum([(Fraction(1), one), (Fraction(1), one)])
        >>> round(two.variance / (2 * one.variance), 9)
        1.0
    """

    def __init__(self, terms: Sequence[tuple[Fraction, DiscreteLaplace]]) -> None:
        self.terms = tuple((weight, law) for weight, law in terms if weight)

    @classmethod
    def of(cls, terms: Sequence[tuple[Fraction, GridLaw | None]]) -> LaplaceSum | None:
        """The sum of independent terms, where all of them are discrete Laplace."""
        known = [(weight, law) for weight, law in terms if isinstance(law, DiscreteLaplace)]
        return cls(known) if len(known) == len(terms) else None

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

    def half_width(self, level: Number) -> float:
        """Half of that interval."""
        return self.interval(level)[1]

    quick_half_width = half_width

    @property
    def quick_mean_absolute_error(self) -> float:
        return self.mean_absolute_error

    # -- exactly -------------------------------------------------------------------------------

    @cached_property
    def _masses(self) -> tuple[Fraction, Real] | None:
        """The unit of the sum and its masses on multiples of it, or None where they are many."""
        unit = _common(weight * law.grid for weight, law in self.terms)
        reach = sum(40 * law.scale * abs(float(weight)) for weight, law in self.terms)
        if 2 * reach / float(unit) < _LONGEST:
            half = math.ceil(reach / float(unit))
            strides = [abs(int(weight * law.grid / unit)) for weight, law in self.terms]
            steps = [np.arange(-(half // stride), half // stride + 1) for stride in strides]
            masses = [law.mass(k) for k, (_, law) in zip(steps, self.terms, strict=True)]
            places = [k * stride for k, stride in zip(steps, strides, strict=True)]
            return unit, _convolved(places, masses, half)
        if sum(abs(c) for c, _ in self._exponentials) < _CANCELS:
            return None
        unit = 2 * Fraction(reach) / _COARSE
        place = np.arange(-_COARSE // 2, _COARSE // 2 + 1)
        squares = [float((weight / unit) ** 2) * law.variance for weight, law in self.terms]
        alike = [_with_variance(square, place) for square in squares]
        return unit, _convolved([place] * len(alike), alike, _COARSE // 2)

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
            max(abs(float(weight)) * math.sqrt(law.variance / 2), _NO_NOISE)
            for weight, law in self.terms
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


@dataclass(frozen=True)
class FineSum:
    """A sum in the limit of a fine grid: formulas alone."""

    total: LaplaceSum

    @property
    def variance(self) -> float:
        return self.total.variance

    @property
    def mean_absolute_error(self) -> float:
        return self.total.continuous_mean_absolute_error

    def half_width(self, outside: float) -> float:
        """The t with P(|sum| > t) = outside."""
        return self.total.continuous_half_width(outside)


def _convolved(places: Sequence[npt.NDArray[np.int64]], masses: Sequence[Real], half: int) -> Real:
    """The masses of a sum on −half…half."""
    length = 1 << (2 * half + 1).bit_length()
    product = np.ones(length // 2 + 1, dtype=complex)
    for place, mass in zip(places, masses, strict=True):
        spread = np.zeros(length)
        spread[place % length] = mass
        product = product * np.fft.rfft(spread)
    total = np.maximum(np.fft.irfft(product, length), 0)
    return np.concatenate([total[-half:], total[: half + 1]])


def _with_variance(square: float, place: npt.NDArray[np.int64]) -> Real:
    """The discrete Laplace law with that variance, in squared places."""
    q = 1 + 1 / square - math.sqrt((1 + 1 / square) ** 2 - 1)
    with np.errstate(under="ignore"):
        return np.asarray((1 - q) / (1 + q) * q ** np.abs(place))


def _common(values: object) -> Fraction:
    """The largest rational of which all are whole multiples."""
    numbers = [abs(Fraction(value)) for value in values]  # type: ignore[attr-defined]
    bottom = math.lcm(*(n.denominator for n in numbers))
    return Fraction(math.gcd(*(int(n * bottom) for n in numbers)), bottom)
