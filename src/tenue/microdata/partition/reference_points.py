"""Groups that are formed one after the other, each of the records nearest to a corner."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...number import checked_call
from .ordered import Bounds, clamped
from .partition import Partition
from .points import Points, enough_rows, numbers_of

_KEPT = 64  # so many orders of all records are remembered


@checked_call
def reference_points(X: ArrayLike, k: int, *, bounds: Bounds) -> Partition:
    """Groups of exactly `k` records, each nearest to a corner of the domain; the last has up to
    2k - 1.

    Guarantee
        The corners and the orders by distance from them are fixed by the declared domain, so one
        replaced record changes every group by one record at most. It may change every one of them:
        the sums of N groups move by up to N times what one record can move a sum
        (`tn.sensitivity.chain.separate`), and not by that of one group, as the thesis has it.

    Parameters
        X: a matrix of finite numbers, one row for each record and at most 16 columns.
        k: the least size of a group, at least 1 and at most the number of rows.
        bounds: (low, high) for each column, stated without looking at the rows; values beyond them
            count as the bound. Distances are of shares of these ranges.

    Example
        >>> square = [[0, 0], [9, 0], [0, 9], [9, 9], [1, 1], [8, 8]]
        >>> reference_points(square, k=2, bounds=[(0, 9), (0, 9)]).labels.tolist()
        [0, 2, 2, 1, 0, 1]

    Source
        Thesis, Algorithm 6.1 and section 6.3.3; the bound: `sensitivity/chain.py`.
    """
    points = clamped(numbers_of(X), bounds)
    k = enough_rows(points, k)
    rows, columns = points.shape
    groups = rows // k
    labels = np.full(rows, groups - 1, np.int64)
    live = np.ones(rows, np.bool_)
    orders: dict[int, NDArray[np.intp]] = {}
    for group, corner in enumerate(islice(corners(columns), groups - 1)):
        order = orders[corner] if corner in orders else _from_corner(points, live, corner)
        order = order[live[order]]
        labels[order[:k]] = group
        live[order[:k]] = False
        if 1 << columns <= _KEPT:  # each corner's turn comes again
            orders[corner] = order[k:]
    return Partition(labels)


def corners(columns: int) -> Iterator[int]:
    """The corners of a cube in turns, as bits: 1 where the column is at its upper end.

    The first has none. The next is, among those not taken in this turn, one that differs in most
    columns from the last; of several the one that differs most from the one before it, and so on;
    else the one with the least number.

    Example
        >>> list(islice(corners(2), 5))
        [0, 3, 1, 2, 0]
    """
    ones = np.zeros(1, np.int64)
    for _ in range(columns):
        ones = np.concatenate([ones, ones + 1])
    every = np.arange(ones.size)
    while True:
        free = np.ones(every.size, np.bool_)
        taken = [0]
        free[0] = False
        yield 0
        while free.any():
            best = every[free]
            for last in reversed(taken):
                differing = ones[best ^ last]
                best = best[differing == differing.max()]
                if best.size == 1:
                    break
            taken.append(int(best[0]))
            free[taken[-1]] = False
            yield taken[-1]


def _from_corner(points: Points, live: NDArray[np.bool_], corner: int) -> NDArray[np.intp]:
    """The live rows by their distance from a corner, then by their values."""
    rows = np.flatnonzero(live)
    columns = points.shape[1]
    ends = np.array([corner >> j & 1 for j in range(columns)], np.float64)
    there = points[rows]
    distance = np.zeros(rows.size)
    for j in range(columns):  # column after column: the same sum for a record in every table
        distance += (there[:, j] - ends[j]) ** 2
    return np.asarray(rows[np.lexsort([*there.T[::-1], distance])])
