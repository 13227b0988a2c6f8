"""Who is in which group of a table that is read in passes: people in one fixed order.

The order is that of a Hilbert curve through the declared domain of the quasi-identifiers. Each
group takes from every cell of buckets the people who come next, as many as counted. So the counts
hold whatever the people are like. People who are close on the curve stay together as far as their
buckets allow, and nobody changes places afterwards: `fill` brings them closer, and holds the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...order.hilbert import MOST_COLUMNS, index
from ...order.key import bits_for, cells
from ...schema import Column
from ..table.records import order_of
from .emphasis import Matrix
from .feasible import Numbers


def along(
    columns: Sequence[Column], places: Sequence[int], sizes: Sequence[int]
) -> Callable[[Numbers], Numbers]:
    """Where rows lie on the curve; of many columns the first ones decide.

    Parameters
        places: which number of a row is the value of each column, as `Coding` numbers them.
        sizes: above those numbers.
    """
    taken = list(zip(map(order_of, columns), places, sizes, strict=True))[:MOST_COLUMNS]
    bits = bits_for(len(taken))

    def where(rows: Numbers) -> Numbers:
        lines = [cells(order(rows[:, j]), size, bits) for order, j, size in taken]
        return index(np.stack(lines, axis=1), bits).astype(np.int64)

    return where


def group_at(counts: Matrix) -> Callable[[Numbers], Numbers]:
    """The group of each place, where units are in the order of cells and then of the curve.

    Guarantee
        Group i has counts[i, j] units of cell j.

    Parameters
        counts: a row for each group, a column for each cell.

    Example
        >>> group_at(np.array([[1, 2], [2, 0]]))(np.arange(5)).tolist()
        [0, 1, 1, 0, 0]
    """
    groups, ends = counts.shape[0], np.cumsum(counts.T.reshape(-1))
    return lambda places: np.searchsorted(ends, places, side="right") % groups
