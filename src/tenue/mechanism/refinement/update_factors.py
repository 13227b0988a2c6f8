"""The factors by which a belief may be raised near the truth and lowered far from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ...arguments import Number, exact, fraction_of_one, law_epsilon
from ...errors import refuse
from ...noise.enclosure import exp_minus

Kind = Literal["individual", "statistical"]

_BITS = 96
_VAST = 600


def power_below(x: Fraction) -> Fraction:
    """The largest multiple of 2^-96 that provably does not exceed e^x, x > 0.

    Example
        >>> 0 <= 2.718281828459045235360287 - float(power_below(Fraction(1))) < 1e-15
        True
    """
    bits = _working_bits(x)
    return Fraction((1 << bits + _BITS) // exp_minus(x, bits).high, 1 << _BITS)


def power_above(x: Fraction) -> Fraction:
    """The least multiple of 2^-96 that provably is not below e^x, x > 0."""
    bits = _working_bits(x)
    return Fraction(-((-1 << bits + _BITS) // exp_minus(x, bits).low), 1 << _BITS)


def _working_bits(x: Fraction) -> int:
    return 2 * _BITS + 3 * math.ceil(x)


@dataclass(frozen=True)
class Factors:
    """The factors of a refinement: public, for they depend on epsilon and the kind only.

    Guarantee
        Individual: up ≤ e^ε and down ≥ e^-ε. Statistical: up / down ≤ e^ε. Both exactly, although
        e^ε is irrational: the factors are rational and rounded towards 1.

    Attributes
        up: applied near the truth, at least 1.
        down: applied far from it, at most 1.
        moved: the mass that (ε, δ) lets move from the far end to the truth: δ·e^-ε (individual) or
            δ/(1+e^ε) (statistical), rounded down.
    """

    kind: Kind
    epsilon: Fraction
    delta: Fraction
    up: Fraction
    down: Fraction
    moved: Fraction

    @property
    def core_mass(self) -> Fraction:
        """The prior mass that is raised: (1 − down) / (up − down)."""
        return (1 - self.down) / (self.up - self.down)


def float_factors(epsilon: Number, kind: object, alpha_up: Number | None = None) -> Factors:
    """As `factors`, for averages in doubles: beyond e^600 a double sees no difference."""
    return factors(min(law_epsilon(epsilon), Fraction(_VAST)), kind, 0, alpha_up)


def factors(
    epsilon: Number, kind: object, delta: Number = 0, alpha_up: Number | None = None
) -> Factors:
    """The factors for a kind of question, checked.

    Example
        >>> one = factors(1, "individual")
        >>> round(float(one.up), 6), round(float(one.core_mass), 6)
        (2.718282, 0.268941)

    Source
        Thesis, table 5.2 and section 5.2; with the masses corrected.
    """
    level = law_epsilon(epsilon)
    given = exact(delta, "delta")
    share = given if given == 0 else fraction_of_one(delta, "delta")
    if kind == "individual":
        if alpha_up is not None:
            raise refuse("mechanism.factor-not-adjustable")
        up = power_below(level)
        moved = share / power_above(level) if share else Fraction(0)
        return Factors("individual", level, share, up, 1 / up, moved)
    if kind == "statistical":
        moved = share / (1 + power_above(level)) if share else Fraction(0)
        if alpha_up is None:
            up = power_below(level / 2)
            return Factors("statistical", level, share, up, 1 / up, moved)
        most = power_below(level)
        up = exact(alpha_up, "alpha_up")
        if not 1 <= up <= most:
            raise refuse("mechanism.factor-out-of-range", alpha_up=alpha_up)
        return Factors("statistical", level, share, up, up / most, moved)
    raise refuse("mechanism.unknown-refinement-kind", kind=kind)
