"""Several confidential columns at once: one partition in which each of them is t-close by itself.

Units with the same buckets in all columns are a cell. Cells are laid out so that neighbours differ
in one column only, and units are dealt out to the groups one by one, so that every group gets
nearly its share of each bucket of each column. Whether that is within t is measured, and where it
is not, there are fewer groups. One column alone has better counts (`emphasis`): with several, no
bucket is emphasised.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from .emphasis import Matrix, dealt, emphasised
from .feasible import Numbers, most_groups
from .measure import ratio_of_counts

_SLOWLY = 256
"""The number of groups falls by one in so many, at least by one, until counts are found."""


def cells_of(columns: Sequence[Numbers]) -> Numbers:
    """Which cell each unit is in; those of one column are its buckets.

    Cells are numbered as a walk visits them that turns back at the end of each column.
    """
    cell = np.zeros(columns[0].size, np.int64)
    for buckets in columns:
        many = int(buckets.max()) + 1
        there = np.where(cell % 2 == 0, buckets, many - 1 - buckets)
        cell = cell * many + there
    return np.unique(cell, return_inverse=True)[1].astype(np.int64).reshape(-1)


def counts_for(columns: Sequence[Numbers], cells: Numbers, k: int, t: Fraction) -> Matrix:
    """How many units of each cell every group has; a row for each group.

    Guarantee
        Every group has at least k units, and in each column by itself the share of each bucket in
        it is within a factor t of its share in the table.

    Parameters
        columns: the bucket of each unit, of each column.
        cells: the cell of each unit.
    """
    first = np.unique(cells, return_index=True)[1]
    of_cells = [buckets[first] for buckets in columns]
    return counts_of_cells(of_cells, np.bincount(cells), k, t)


def counts_of_cells(columns: Sequence[Numbers], totals: Numbers, k: int, t: Fraction) -> Matrix:
    """The same of cells in their order.

    Parameters
        columns: the bucket of each cell, of each column.
        totals: how many units each cell has.
    """
    margins = []
    for buckets in columns:
        margin = np.zeros(int(buckets.max()) + 1, np.int64)
        np.add.at(margin, buckets, totals)
        margins.append(margin.tolist())
    most = min(most_groups(margin, k, t) for margin in margins)
    if len(columns) == 1:
        return emphasised(margins[0], most, t)
    while True:
        counts = dealt(totals, most)
        if most == 1 or all(_is_close(counts, buckets, t) for buckets in columns):
            return counts
        most -= max(1, most // _SLOWLY)


def _is_close(counts: Matrix, buckets: Numbers, t: Fraction) -> bool:
    """Whether the groups are t-close in a column, given the bucket of each cell in it."""
    found = np.zeros((counts.shape[0], int(buckets.max()) + 1), np.int64)
    for cell, bucket in enumerate(buckets):
        found[:, bucket] += counts[:, cell]
    far = ratio_of_counts(found)
    return far is not None and far <= t
