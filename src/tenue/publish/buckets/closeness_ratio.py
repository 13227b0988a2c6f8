"""How far groups are from the table on buckets, and an intruder's guess from that.

In the group that is farthest from the table, with as many of one bucket as t allows, an intruder
who knows the buckets of m members drawn at random names the most frequent one of the rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ...evaluate.factorize import Codes
from ...evaluate.one_table.closeness import ratio
from ...evaluate.one_table.count import Counts, Groups, counted
from ..table.cells import Numbers
from .column import buckets_for


def ratio_of(groups: Numbers, buckets: Numbers) -> Fraction | None:
    """The largest quotient of a bucket's shares in a group and in the table; None if infinite.

    Parameters
        groups, buckets: of each unit, both numbered from 0 without gaps.

    Example
        >>> ratio_of(np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 0, 1, 1]))
        Fraction(3, 2)
    """
    values = Codes(buckets, int(buckets.max()) + 1)
    return ratio(counted(Groups(groups, int(groups.max()) + 1), values))


def ratio_of_counts(counts: Numbers) -> Fraction | None:
    """The same of counts: a row for each group, a column for each bucket."""
    group, value = np.nonzero(counts)
    return ratio(Counts(group, value, counts[group, value], counts.sum(axis=1), counts.sum(axis=0)))


def farthest_group(k: int, t: Fraction) -> tuple[int, ...]:
    """The counts of a group of at least k units that has most of one of equally large buckets.

    Example
        >>> farthest_group(30, Fraction(2))
        (20, 5, 5)
    """
    many = buckets_for(t)
    size = max(k, many)
    while True:  # the next multiple of their number suffices at the latest
        least, most = math.ceil(Fraction(size, many) / t), math.floor(size * t / many)
        if many * least <= size <= many * most:
            break
        size += 1
    first = min(most, size - (many - 1) * least)
    rest, more = divmod(size - first, many - 1)
    return (first, *(rest + (i < more) for i in range(many - 1)))


def right_guess(counts: Sequence[int], known: int) -> Fraction:
    """The probability of a right guess, for an intruder who knows all but one, all but two, or no
    members.

    The two unknown members are equally likely any two: the guess is certainly right if they have
    one bucket, and with probability 1/2 if not.

    Example
        >>> [round(float(right_guess((20, 5, 5), known)), 2) for known in (0, 28, 29)]
        [0.67, 0.74, 1.0]
    """
    size = sum(counts)
    if known == size - 1:
        return Fraction(1)
    if known == size - 2:
        alike = Fraction(sum(n * (n - 1) for n in counts), size * (size - 1))
        return (1 + alike) / 2
    if known == 0:
        return Fraction(max(counts), size)
    raise ValueError("known is 0, or all but one or two")
