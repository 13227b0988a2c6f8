"""Families of beliefs about a count of n rows: binomial, and beta-binomial."""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ..arguments import Number, above_zero, checked_call, fraction_of_one, whole
from ..errors import InvalidPrior, refuse
from ..noise.law import Real
from .belief import Belief, Lattice, written_number
from .normalise import MOST_POINTS
from .points import Points

_MOST = 10**9
_BITS = 128
_SPARE = 128


class Counts(Belief):
    """A belief about a count between 0 and n.

    On the points 0 … n the masses are rational: whole numbers that follow the family's ratios of
    neighbours from the peak outwards, rounded down to 2^-128 of the peak and at least that, over
    their own sum. So no count between 0 and n is impossible, and the masses add up to exactly 1.
    """

    n: int

    @abstractmethod
    def rise(self, k: int) -> tuple[int, int]:
        """mass(k+1) / mass(k), as numerator and denominator."""

    @abstractmethod
    def log_weight(self, k: int) -> float:
        """The logarithm of the mass of k, up to a constant."""

    @abstractmethod
    def _log_rise(self, k: Real) -> Real: ...

    @property
    @abstractmethod
    def mean(self) -> float:
        """The expected count."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The expected squared distance from the mean."""

    @property
    def concave(self) -> bool:
        """Whether the logarithms of the masses are concave."""
        return True

    @property
    def lattice(self) -> Lattice:
        """The family as logarithms, for estimation with very large n."""
        return Lattice.by_rise(0, self.n, self.log_weight, self._log_rise, self.concave)

    @cached_property
    def points(self) -> Points:
        """The exact rational masses on 0 … n, for n below 4,096."""
        if self.n >= MOST_POINTS:
            raise refuse("prior.too-many-belief-points", n=self.n + 1, most_points=MOST_POINTS)
        logs = self.lattice.log_weights(0, self.n)
        peak = int(np.argmax(logs))
        extra = 0 if self.concave else math.ceil(float(logs.max() - logs.min()) * 1.45) + 8
        start = 1 << _BITS + _SPARE + extra
        masses = [0] * (self.n + 1)
        masses[peak] = value = start
        for k in range(peak, self.n):
            top, bottom = self.rise(k)
            masses[k + 1] = value = value * top // bottom
        value = start
        for k in range(peak - 1, -1, -1):
            top, bottom = self.rise(k)
            masses[k] = value = value * bottom // top
        weights = [max(1, mass >> _SPARE + extra) for mass in masses]
        return Points.of_weights(map(Fraction, range(self.n + 1)), weights)

    def on_grid(self, grid: Number = 1) -> Points:
        """The exact points; counts are whole numbers on every grid."""
        return self.points


def with_points(prior: Any) -> Any:
    """Counts as their points; any other belief as it is."""
    return prior.points if isinstance(prior, Counts) else prior


class Binomial(Counts):
    """The count of n independent rows, each counted with probability p.

    Parameters
        n: the number of rows, at least 1.
        p: strictly between 0 and 1.

    Example
        >>> belief = Binomial(1080, 0.3)
        >>> belief.mean, round(float(belief.points.mass(324)), 6)
        (324.0, 0.026483)

    Source
        Naldi and D'Acquisto, section 3.
    """

    p: Fraction

    @checked_call
    def __init__(self, n: Number, p: Number) -> None:
        self._set(n=_rows(n), p=fraction_of_one(p, "p", refusal=InvalidPrior))

    def rise(self, k: int) -> tuple[int, int]:
        top, bottom = self.p.numerator, self.p.denominator
        return (self.n - k) * top, (k + 1) * (bottom - top)

    def log_weight(self, k: int) -> float:
        p = float(self.p)
        choose = math.lgamma(self.n + 1) - math.lgamma(k + 1) - math.lgamma(self.n - k + 1)
        return choose + k * math.log(p) + (self.n - k) * math.log1p(-p)

    def _log_rise(self, k: Real) -> Real:
        odds = math.log(float(self.p)) - math.log(float(1 - self.p))
        return np.log(self.n - k) - np.log(k + 1) + odds

    @property
    def mean(self) -> float:
        return float(self.n * self.p)

    @property
    def variance(self) -> float:
        return float(self.n * self.p * (1 - self.p))

    def to_dict(self) -> dict[str, object]:
        return {"prior": "binomial", "n": self.n, "p": written_number(self.p)}

    def __repr__(self) -> str:
        return f"Binomial(n={self.n}, p={float(self.p):g})"


class BetaBinomial(Counts):
    """The count of n rows where the probability itself is unknown, with a beta(a, b) belief.

    Parameters
        n: the number of rows, at least 1.
        a, b: above 0. a = b = 1 makes every count equally likely.

    Example
        >>> BetaBinomial(9, 1, 1).points.mass(4)
        Fraction(1, 10)
    """

    a: Fraction
    b: Fraction

    @checked_call
    def __init__(self, n: Number, a: Number, b: Number) -> None:
        first, second = (
            above_zero(value, name, refusal=InvalidPrior) for value, name in ((a, "a"), (b, "b"))
        )
        if not all(Fraction(1, 10**6) <= value <= 10**12 for value in (first, second)):
            raise refuse("prior.beta-out-of-range")
        self._set(n=_rows(n), a=first, b=second)

    @property
    def concave(self) -> bool:
        return self.a >= 1 and self.b >= 1

    def rise(self, k: int) -> tuple[int, int]:
        unit = math.lcm(self.a.denominator, self.b.denominator)
        a, b = int(self.a * unit), int(self.b * unit)
        return (self.n - k) * (a + k * unit), (k + 1) * (b + (self.n - k - 1) * unit)

    def log_weight(self, k: int) -> float:
        a, b, n = float(self.a), float(self.b), self.n
        choose = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        return choose + math.lgamma(k + a) + math.lgamma(n - k + b) - math.lgamma(n + a + b)

    def _log_rise(self, k: Real) -> Real:
        a, b, n = float(self.a), float(self.b), self.n
        return np.log(n - k) + np.log(a + k) - np.log(k + 1) - np.log(b + n - k - 1)

    @property
    def mean(self) -> float:
        return float(self.n * self.a / (self.a + self.b))

    @property
    def variance(self) -> float:
        a, b, n = self.a, self.b, self.n
        return float(n * a * b * (a + b + n) / ((a + b) ** 2 * (a + b + 1)))

    def to_dict(self) -> dict[str, object]:
        numbers = {"a": written_number(self.a), "b": written_number(self.b)}
        return {"prior": "beta-binomial", "n": self.n, **numbers}

    def __repr__(self) -> str:
        return f"BetaBinomial(n={self.n}, a={float(self.a):g}, b={float(self.b):g})"


def _rows(n: Number) -> int:
    rows = whole(n, "n", least=1, refusal=InvalidPrior)
    if rows > _MOST:
        raise refuse("prior.prior-count-too-large", rows=rows, most=_MOST)
    return rows
