"""The values of one column in buckets of nearly equal mass, cut only between different values.

A value that lay in two buckets would tell them apart by whose it is, so a cut moves to the nearest
place between two different values. Buckets are then of unequal mass, and there may be fewer.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


def buckets_for(t: Fraction) -> int:
    """How many buckets use up t: one is t times as frequent in a group, and the others 1/t times.

    t/b + (1 - 1/b)/t = 1 gives b = t + 1, of which the whole part is taken.

    Source
        Thesis, section 7.2.1.
    """
    return t.numerator // t.denominator + 1


def cut(counts: Numbers, buckets: int) -> Numbers:
    """The bucket of each value, numbered from 0 in their order.

    Guarantee
        No value lies in two buckets, none of which is empty. The cuts depend on how many units have
        each value, on nothing else. There are at least two buckets if there are two values and two
        buckets are asked for.

    Parameters
        counts: how many units have each of the different values, in order; at least one each.
        buckets: how many there are at most.

    Example
        >>> cut(np.array([1, 1, 5, 1, 1, 1]), buckets=3).tolist()
        [0, 0, 1, 2, 2, 2]

    Source
        Thesis, section 7.2.2. Ends are rounded down after adding a half: the printed ceiling makes
        the first bucket too large, and the last one too small.
    """
    ends = np.cumsum(counts)
    units, inside = int(ends[-1]), ends[:-1]
    found = np.zeros(counts.size, np.int64)
    if inside.size == 0:
        return found
    for wanted in range(1, min(buckets, counts.size)):
        # the end that would make buckets equal, as though no value were frequent
        place = (2 * wanted * units + buckets) // (2 * buckets)
        after = min(int(np.searchsorted(inside, place)), inside.size - 1)
        before = max(after - 1, 0)
        near = before if place - inside[before] <= inside[after] - place else after
        found[near + 1] = 1
    return np.cumsum(found)
