"""Uniform permutations within groups, and of all rows, from the secure source.

Every order of a group is exactly equally likely, including those that leave records in place: a
permutation that moves everybody would link with probability 1/(k - 1). Neither the permutation nor
the words it was drawn from are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..noise.samplers import uniform
from ..noise.source import SYSTEM, Source

if TYPE_CHECKING:
    import pyarrow

Rows = NDArray[np.int64]

_SHORT = 512
"""Groups up to this size are permuted together, exchange by exchange; larger ones by sorting."""


def permuted(labels: NDArray[np.int64], source: Source = SYSTEM) -> Rows:
    """For each row, the row of its group whose value it receives.

    Guarantee
        Uniform over all permutations that keep every row in its group, and independent of
        everything else: Fisher and Yates' exchanges with unbiased whole numbers.

    Parameters
        labels: the group of each row, numbered from 0, as a `Partition` has them.

    Example
        >>> taken = permuted(np.array([0, 1, 0, 1, 2]))
        >>> sorted(taken[[0, 2]].tolist()), sorted(taken[[1, 3]].tolist()), int(taken[4])
        ([0, 2], [1, 3], 4)
    """
    order, starts, sizes = _by_group(labels)
    taken = order.copy()
    short = sizes <= _SHORT
    longest = int(sizes[short].max(initial=0))
    for last in range(longest - 1, 0, -1):
        open_ = starts[short & (sizes > last)]
        drawn = uniform(last + 1, open_.size, source)
        here, there = open_ + last, open_ + drawn
        taken[here], taken[there] = taken[there], taken[here]
    for group in np.flatnonzero(~short):
        begin, end = starts[group], starts[group] + sizes[group]
        taken[begin:end] = order[begin:end][shuffled(int(sizes[group]), source)]
    result = np.empty_like(taken)
    result[order] = taken
    return result


def shuffled(size: int, source: Source) -> Rows:
    """The numbers below `size` in a uniformly random order.

    Words are drawn until all differ; the order of different words is uniform.
    """
    while True:
        words = source.words(size, 64)
        order = np.argsort(words)
        ordered = words[order]
        if not (ordered[1:] == ordered[:-1]).any():
            return order.astype(np.int64)


def mixed(table: pyarrow.Table, source: Source) -> pyarrow.Table:
    """The rows in random order, so that the original order is not disclosed."""
    return table.take(shuffled(table.num_rows, source))


def some_rows(rows: int, most: int, source: Source) -> Rows:
    """The numbers of `most` rows, or of all, in ascending order; every choice equally likely.

    Always as many: how many rows were compared is reported, and must not depend on chance.
    """
    if rows <= most:
        return np.arange(rows)
    if rows <= 2 * most:
        return np.sort(shuffled(rows, source)[:most])
    found = np.unique(uniform(rows, most, source))
    while found.size < most:
        found = np.union1d(found, uniform(rows, most - found.size, source))
    return found


def _by_group(labels: NDArray[np.int64]) -> tuple[Rows, Rows, Rows]:
    """Rows sorted by group, the start of each group, and its size."""
    sizes = np.bincount(labels)
    bits = labels.size.bit_length()
    packed = (labels << bits) | np.arange(labels.size)  # sorts several times faster than argsort
    packed.sort()
    return packed & ((1 << bits) - 1), np.cumsum(sizes) - sizes, sizes
