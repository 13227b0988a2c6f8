"""How many groups a table can have: whether counts exist that keep every share within a factor t.

Of a group of s units out of N, x = s·|B|/N would have bucket B if the group were like the table. It
may have from ⌈x/t⌉ to ⌊x·t⌋. Counts that also add up to the groups' sizes and the buckets' sizes
are a flow from groups to buckets. Groups have one of two sizes, and those of one size can share
their counts out evenly, for a flow with whole capacities that exists in fractions exists in whole
numbers. So the flow is one from two nodes, and exists if and only if what the larger groups have of
each bucket can be chosen between two bounds so that it adds up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Room:
    """From how many to how many units of each bucket a group of one size may have.

    groups: how many groups have this size.
    """

    size: int
    groups: int
    low: tuple[int, ...]
    high: tuple[int, ...]


def sizes_of(units: int, groups: int) -> Numbers:
    """The sizes of so many groups, which differ by one at most, the larger ones spread evenly."""
    return np.diff(np.arange(groups + 1) * units // groups)


def rooms(buckets: Sequence[int], groups: int, t: Fraction) -> tuple[Room, ...]:
    """What t allows the groups of each size, when N units make so many groups.

    Parameters
        buckets: how many units each bucket has.
    """
    units = sum(buckets)
    size, larger = divmod(units, groups)
    found = []
    for one, many in ((size, groups - larger), (size + 1, larger)):
        if many:
            shares = [Fraction(one * bucket, units) for bucket in buckets]
            low = tuple(math.ceil(share / t) for share in shares)
            high = tuple(math.floor(share * t) for share in shares)
            found.append(Room(one, many, low, high))
    return tuple(found)


def feasible(buckets: Sequence[int], groups: int, t: Fraction) -> bool:
    """Whether counts exist for so many groups of nearly equal size.

    Example
        >>> feasible([5, 4], 3, Fraction(3, 2)), feasible([4, 4, 4], 3, Fraction(3, 2))
        (False, True)
    """
    least = most = 0
    kinds = rooms(buckets, groups, t)
    first, others = kinds[0], kinds[1:]
    for j, bucket in enumerate(buckets):
        low, high = first.groups * first.low[j], first.groups * first.high[j]
        low = max(low, bucket - sum(room.groups * room.high[j] for room in others))
        high = min(high, bucket - sum(room.groups * room.low[j] for room in others))
        if not others:
            low, high = max(low, bucket), min(high, bucket)
        if low > high:
            return False
        least, most = least + low, most + high
    return least <= first.groups * first.size <= most


def most_groups(buckets: Sequence[int], k: int, t: Fraction) -> int:
    """The largest number of groups of at least k units for which counts exist; 1 always will do.

    Every group has at least one unit of every bucket, which bounds their number from above.

    Source
        Thesis, section 7.2.2, corrected: its counts need not add up, and need not exist.
    """
    units = sum(buckets)
    groups = max(1, min(units // k, min(buckets), units // len(buckets)))
    while groups > 1 and not feasible(buckets, groups, t):
        groups -= 1
    return groups
