"""Groups by an order of the declared domain: neighbours in it, or nearest to a corner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import checked_call, exact
from ...errors import nearest, refuse
from ...taxonomy.total_order import MOST_COLUMNS, bits_for, ranked
from .exact_means import Points, enough_rows, numbers_of
from .partition import Partition

ORDERS = ("hilbert",)

Bounds = Sequence[tuple[object, object]]


@checked_call
def ordered(X: ArrayLike, k: int, order: str = "hilbert", *, bounds: Bounds) -> Partition:
    """Groups of exactly `k` records in the order of the Hilbert curve; the last has up to 2k - 1.

    Guarantee
        The order is that of the declared domain: a record's position in it depends on no other row,
        and the order of rows matters between identical records only. So one replaced record moves
        each group by one record at most, and all of them together along a chain
        (`tn.sensitivity.chain`). The labels number the groups along the order. Not private by
        itself: the groups are those of the true records.

    Parameters
        X: a matrix of finite numbers, one row for each record and at most 16 columns.
        k: the least size of a group, at least 1 and at most the number of rows.
        order: "hilbert". With one column that is the order of its values.
        bounds: (low, high) for each column, stated without looking at the rows; values beyond them
            count as the bound.

    Example
        >>> square = [[0, 0], [9, 0], [0, 9], [9, 9], [1, 1], [8, 8]]
        >>> ordered(square, k=2, bounds=[(0, 9), (0, 9)]).labels.tolist()
        [0, 1, 2, 2, 0, 1]

    Source
        Thesis, chapter 6; the bound: `sensitivity/chain.py`.
    """
    if order not in ORDERS:
        raise refuse("publish.unknown-record-order", order=order, nearest=nearest(order, ORDERS))
    points = clamped(numbers_of(X), bounds)
    k = enough_rows(points, k)
    rows, columns = points.shape
    bits = bits_for(columns) if columns > 1 else 0
    at = np.minimum((points * 2.0**bits).astype(np.int64), (1 << bits) - 1)
    sorted_rows = ranked(at[:, : columns if bits else 0], bits, list(points.T))
    labels = np.empty(rows, np.int64)
    labels[sorted_rows] = intervals(rows, k)
    return Partition(labels)


def intervals(rows: int, k: int) -> NDArray[np.int64]:
    """The group of each rank: k each, the last of k to 2k - 1.

    Example
        >>> intervals(7, 3).tolist()
        [0, 0, 0, 1, 1, 1, 1]
    """
    return np.minimum(np.arange(rows, dtype=np.int64) // k, rows // k - 1)


def clamped(points: Points, bounds: Bounds) -> Points:
    """The values as shares of their declared range, from 0 to 1."""
    columns = points.shape[1]
    if columns > MOST_COLUMNS:
        raise refuse("publish.too-many-ordered-columns", many=columns, most=MOST_COLUMNS)
    try:
        low, high = (
            np.array([float(exact(pair[end], "bounds")) for pair in bounds]) for end in (0, 1)
        )
    except (TypeError, ValueError, IndexError, OverflowError):
        low = high = np.empty(0)
    with np.errstate(over="ignore"):
        width = high - low
    if width.shape != (columns,) or not ((width > 0) & np.isfinite(width)).all():
        raise refuse("publish.bounds-per-column", columns=columns)
    return np.asarray((np.clip(points, low, high) - low) / width)


_KEPT = 64  # orders of all records that are remembered


@checked_call
def reference_points(X: ArrayLike, k: int, *, bounds: Bounds) -> Partition:
    """Groups of exactly `k` records, each nearest to a corner of the domain; the last has up to
    2k - 1.

    Guarantee
        The corners and the orders by distance from them are fixed by the declared domain, so one
        replaced record changes every group by one record at most. It may change every one of them:
        the sums of N groups move by up to N times as much as one record can move a sum
        (`tn.sensitivity.chain.separate`), and not by as much as one group, as the thesis has it.

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
    every = np.arange(1 << columns)
    ones = np.array([corner.bit_count() for corner in range(every.size)])
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
