"""l-diversity: how many values of a confidential column each group has.

A group in which nothing is present has one value, the blank; elsewhere blanks do not count, for
they hide no one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .count import Counts


def distinct_values(counts: Counts) -> NDArray[np.int64]:
    """How many different values each group has, at least 1. The least of them is the table's l.

    Source
        Thesis, section 2.8; Machanavajjhala et al. 2007.
    """
    return np.maximum(counts.distinct, 1)


def effective_values(counts: Counts, most: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
    """The exponential of the entropy of each group's values: as if so many were equally frequent.

    Between 1 and the number of different values, or `most` where that is given. A table is entropy
    l-diverse for every l up to the least of them.
    """
    effective = np.ones(counts.sizes.size)
    if counts.filled.size:
        sizes = counts.sizes[counts.filled]
        inner = np.add.reduceat(counts.times * np.log(counts.times), counts.starts)
        effective[counts.filled] = np.exp(np.log(sizes) - inner / sizes)
    limit = distinct_values(counts) if most is None else most
    bounded: NDArray[np.float64] = np.clip(effective, 1, limit)
    return bounded
