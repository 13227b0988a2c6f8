"""Noisy counts, and post-processing of them.

Noise is exact and on whole numbers. What follows the noise reads released numbers only, so floats
are allowed there, and its random bits need not be secret; they come from the same source all the
same.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...noise.discrete_laplace import DiscreteLaplace
from ...noise.source import Source

Counts = NDArray[np.int64]
Weights = NDArray[np.float64]

MOVED = 2
"""One replaced record leaves one cell and enters another: counts move by 2 in the L1 norm."""


def noisy(counts: Counts, epsilon: Fraction, source: Source, moved: int = MOVED) -> Counts:
    """The counts with independent noise, the empty ones too.

    Guarantee
        `epsilon`-differential privacy if one unit moves all the counts together by at most `moved`
        in the L1 norm.
    """
    law = DiscreteLaplace(sensitivity=moved, epsilon=epsilon)
    return np.asarray(counts + law.steps(counts.size, source=source).reshape(counts.shape))


def variance(epsilon: Fraction) -> float:
    """The variance of the noise in one count of `noisy` where a record moves two; above 0, also
    where noise is as good as never drawn."""
    return max(float(DiscreteLaplace(sensitivity=MOVED, epsilon=epsilon).variance), 1e-9)


def fitted(noisy: NDArray[Any], total: float) -> Weights:
    """The nearest numbers, in the Euclidean norm, that are none below 0 and sum to `total` > 0."""
    flat = np.asarray(noisy, np.float64).reshape(-1)
    falling = np.sort(flat)[::-1]
    excess = np.cumsum(falling) - total
    positive = np.flatnonzero(falling * np.arange(1, flat.size + 1) > excess)[-1] + 1
    lowered = flat - excess[positive - 1] / positive
    return np.asarray(np.maximum(lowered, 0.0).reshape(np.shape(noisy)))


def apportioned(weights: Weights, total: int, source: Source) -> Counts:
    """Whole numbers that sum to `total`, each within 1 of its weight's share and right on average.

    One uniform offset divides the line of cumulated weights at every whole number.
    """
    ends = np.cumsum(np.asarray(weights, np.float64).reshape(-1))
    ends *= total / ends[-1]
    whole = np.floor(ends + float(uniforms(1, source)[0])).astype(np.int64)
    whole[-1] = total  # whatever rounding did to the last sum
    np.minimum(whole, total, out=whole)
    return np.asarray(np.diff(whole, prepend=0).reshape(np.shape(weights)))


def uniforms(size: int, source: Source) -> Weights:
    """Doubles of [0, 1), for post-processing only: never what privacy rests on."""
    return np.asarray((source.words(size, 64) >> np.uint64(11)).astype(np.float64) * 2.0**-53)
