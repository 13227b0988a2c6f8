"""Sums over shells: Σ_i e^(-εi)·p(i) for a polynomial p, exactly or in doubles.

In Newton's basis p(i) = Σ_k a_k·C(i, k), and Σ_i q^i·C(i, k) = q^k / (1−q)^(k+1). The number of
points in the i-th ball of a lattice norm is such a polynomial, with every a_k ≥ 0, so nothing
cancels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from ..enclosure import exp_minus


def log_product_series(offsets: Sequence[float], epsilon: float) -> float:
    """ln Σ_i q^i · Π_j (offsets_j + i), all offsets ≥ 0, in any dimension."""
    coefficients, shift = [1.0], 0.0
    for offset in offsets:
        # (a + i)·C(i, k) = (k+1)·C(i, k+1) + (a + k)·C(i, k)
        grown = [0.0, *((k + 1) * c for k, c in enumerate(coefficients))]
        for k, c in enumerate(coefficients):
            grown[k] += (offset + k) * c
        largest = max(grown)
        coefficients = [c / largest for c in grown]
        shift += math.log(largest)
    fall = -math.expm1(-epsilon)
    step = -epsilon - math.log(fall)
    logs = [math.log(c) + k * step for k, c in enumerate(coefficients) if c > 0]
    top = max(logs)
    return shift + top + math.log(sum(math.exp(l - top) for l in logs)) - math.log(fall)


def differences(values: Sequence[int]) -> list[int]:
    """Newton's coefficients a_0 … a_n of the polynomial that takes these values at 0 … n."""
    row = list(values)
    result = []
    while row:
        result.append(row[0])
        row = [after - before for before, after in pairwise(row)]
    return result


def exact_series(coefficients: Sequence[int], epsilon: Fraction) -> Fraction:
    """(1−q)·Σ_i q^i·p(i) for Newton coefficients of p; e^-ε to 256 bits."""
    q = Fraction(exp_minus(epsilon, 256).low, 1 << 256)
    odds = q / (1 - q)
    total, power = Fraction(0), Fraction(1)
    for coefficient in coefficients:
        total += coefficient * power
        power *= odds
    return total


def ratio_of(top: Fraction, bottom: Fraction) -> float:
    """top / bottom as a double, also where either alone would overflow."""
    return float(top / bottom)
