"""Bayes' rule written out in fifty digits: independent of src."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from mpmath import mp, mpf

mp.dps = 50


def binomial(n: int, p: str) -> list[Fraction]:
    share = Fraction(p)
    masses = [share**0 * (1 - share) ** n]
    for k in range(n):
        masses.append(masses[-1] * (n - k) * share / ((k + 1) * (1 - share)))
    return masses


def posterior(prior: list[Fraction], log_likelihood: Callable[[int], object]) -> list[float]:
    """Masses over 0 … n, from the exact prior and the logarithm of the likelihood."""
    joint = [
        mpf(mass.numerator) / mass.denominator * mp.exp(mpf(str(log_likelihood(k))))
        for k, mass in enumerate(prior)
    ]
    total = sum(joint)
    return [float(one / total) for one in joint]


def mean(masses: list[float]) -> float:
    return sum(k * mass for k, mass in enumerate(masses))


def median(masses: list[float]) -> int:
    total = 0.0
    for k, mass in enumerate(masses):
        total += mass
        if total >= 0.5 - 1e-12:
            return k
    return len(masses) - 1
