"""People of one bucket change places between groups while that brings the groups closer together.

Two of one bucket may always do so: no count changes. What a group has in squared errors from its
mean is the sum of squares less |sum|²/size, so one exchange changes two sums, and its gain follows
from these. All is in whole numbers and every exchange lowers the error, so it comes to an end.
"""

from __future__ import annotations

import numpy as np

from .emphasis import Matrix
from .feasible import Numbers

MOST = 3_000
"""Everybody is compared with everybody of his bucket: in larger tables that takes too long."""


def sums_of(where: Matrix, groups: Numbers) -> tuple[Numbers, Matrix]:
    """The size of each group, and the sum of its members' positions."""
    sizes = np.bincount(groups)
    sums = np.zeros((sizes.size, where.shape[1]), np.int64)
    order = np.argsort(groups, kind="stable")
    np.add.reduceat(where[order], np.cumsum(sizes) - sizes, axis=0, out=sums)
    return sizes, sums


def likeness(where: Matrix, groups: Numbers) -> float:
    """How close people of a group are: what grows as squared errors inside the groups shrink."""
    sizes, sums = sums_of(where, groups)
    return float((np.square(sums.astype(np.float64)).sum(axis=1) / sizes).sum())


def exchanged(where: Matrix, buckets: Numbers, groups: Numbers) -> Numbers:
    """The group of each unit, after all exchanges of two units of a bucket that gain something.

    Guarantee
        Each group has as many units of each bucket as before, and no exchange of two units of one
        bucket brings the groups closer. Tables with more than `MOST` units are left as they are.

    Parameters
        where: a row for each unit, whole numbers below 2^16.

    Example
        >>> where = np.array([[1], [9], [2], [8]])
        >>> exchanged(where, np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0])).tolist()
        [1, 0, 1, 0]
    """
    if buckets.size > MOST:
        return groups
    found = groups.copy()
    sizes, sums = sums_of(where, found)
    alike = [np.flatnonzero(buckets == bucket) for bucket in range(int(buckets.max()) + 1)]
    unmoved = 0
    while True:
        for unit in range(buckets.size):
            others, here = alike[buckets[unit]], found[unit]
            there = found[others]
            gain = _gains(where[others] - where[unit], sums, sizes, here, there)
            best = int(gain.argmax())
            if gain[best] > 0:
                other = others[best]
                sums[here] += where[other] - where[unit]
                sums[there[best]] -= where[other] - where[unit]
                found[unit], found[other] = found[other], here
                unmoved = 0
                continue
            unmoved += 1
            if unmoved == buckets.size:
                return found


def _gains(far: Matrix, sums: Matrix, sizes: Numbers, here: int, there: Numbers) -> Numbers:
    """What exchanges with units that lie so far away gain, times the sizes of both groups."""
    own, other = sizes[here], sizes[there]
    apart = sums[here] * other[:, np.newaxis] - sums[there] * own
    gain: Numbers = 2 * (far * apart).sum(axis=1) + (far * far).sum(axis=1) * (own + other)
    gain[there == here] = 0
    return gain
