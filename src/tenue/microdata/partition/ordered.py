"""Groups of records that follow each other in one fixed order of the declared domain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import nearest, refuse
from ...number import checked_call, exact
from ...order.hilbert import MOST_COLUMNS
from ...order.key import bits_for, ranked
from .partition import Partition
from .points import Points, enough_rows, numbers_of

ORDERS = ("hilbert",)

Bounds = Sequence[tuple[object, object]]


@checked_call
def ordered(X: ArrayLike, k: int, order: str = "hilbert", *, bounds: Bounds) -> Partition:
    """Groups of exactly `k` records in the order of the Hilbert curve; the last has up to 2k - 1.

    Guarantee
        The order is that of the declared domain: a record's place in it depends on no other row,
        and rows decide nothing but between identical records. So one replaced record moves each
        group by one record at most, and all of them together along a chain
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
        raise refuse("microdata.unknown-record-order", order=order, nearest=nearest(order, ORDERS))
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
        raise refuse("microdata.too-many-ordered-columns", many=columns, most=MOST_COLUMNS)
    try:
        low, high = (
            np.array([float(exact(pair[end], "bounds")) for pair in bounds]) for end in (0, 1)
        )
    except (TypeError, ValueError, IndexError, OverflowError):
        low = high = np.empty(0)
    with np.errstate(over="ignore"):
        width = high - low
    if width.shape != (columns,) or not ((width > 0) & np.isfinite(width)).all():
        raise refuse("microdata.bounds-per-column", columns=columns)
    return np.asarray((np.clip(points, low, high) - low) / width)
