"""The ledger's two coins, and how they are written.

Epsilon is counted in whole nano-epsilon, delta in whole atto-delta (one part in 10**18). A price is
rounded up, a cap is rounded down, so that rounding never gives anything away.
"""

from __future__ import annotations

import math
from fractions import Fraction

from ..errors import refuse
from ..number import NANO, exact

ATTO = 10**18
"""One delta is this many atto-delta."""

LARGEST = 10**15
"""The largest price or cap in nano-epsilon: a promise of epsilon above a million is none."""


def cap(total: object, name: str) -> int:
    """A budget in nano-epsilon, rounded down.

    Example
        >>> cap(2.5, "total"), cap("1e-10", "total")
        (2500000000, 0)
    """
    nano = math.floor(exact(total, name) * NANO)
    if not 0 <= nano <= LARGEST:
        raise refuse("ledger.limit-out-of-range", name=name, total=total, largest=LARGEST // NANO)
    return nano


def delta_cap(delta: object, name: str) -> int:
    """A budget of delta in atto-delta, rounded down; 0 means that only pure answers can be paid."""
    return math.floor(_probability(delta, name) * ATTO)


def atto(delta: object) -> int:
    """A price in atto-delta, rounded up.

    Example
        >>> atto(1e-6), atto("1e-30"), atto(0)
        (1000000000000, 1, 0)
    """
    return math.ceil(_probability(delta, "delta") * ATTO)


def _probability(value: object, name: str) -> Fraction:
    number = exact(value, name)
    if not 0 <= number < 1:
        raise refuse("ledger.delta-out-of-range", name=name, value=value)
    return number


def in_epsilon(nano: int) -> Fraction:
    """Nano-epsilon as an exact epsilon."""
    return Fraction(nano, NANO)


def in_delta(atto: int) -> Fraction:
    """Atto-delta as an exact delta."""
    return Fraction(atto, ATTO)


def decimal(amount: Fraction) -> str:
    """An amount of either coin, every digit shown and none invented.

    Example
        >>> decimal(in_epsilon(1_250_000_001)), decimal(in_delta(10**12)), decimal(in_epsilon(0))
        ('1.250000001', '0.000001', '0')
    """
    # 18 decimals hold both coins exactly, so no digit is lost here
    units, rest = divmod(amount.numerator * ATTO // amount.denominator, ATTO)
    return f"{units}.{rest:018}".rstrip("0").rstrip(".")
