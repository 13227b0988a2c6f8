"""How many units of each bucket every group has, for one confidential column or several.

Of a group of s units out of N, x = s·|B|/N have bucket B if the group is like the table; from
⌈x/t⌉ to ⌊x·t⌋ are allowed. Counts that also add up to the sizes of groups and of buckets are a flow
from groups to buckets. Groups have one of two sizes, and those of one size can share their counts
evenly, for a flow with whole capacities that exists in fractions exists in whole numbers. So the
flow is one from two nodes, and exists if and only if the counts of the larger groups can be chosen
between two bounds so that they add up.

A group that has one bucket t times as often as the table, and the others as rarely as allowed, uses
up t, and leaves most freedom to put similar people together. Groups emphasise the buckets in turn,
so that neighbouring groups emphasise different ones and all buckets are used up.

Units with the same buckets in all columns are a cell. Cells are ordered so that neighbours differ
in one column only, and units are dealt to the groups one by one, so that every group gets nearly
its share of each bucket of each column. If the counts are not within t, there are fewer groups. One
column alone has better counts (`emphasised`): with several, no bucket is emphasised.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...errors import Fault
from ..table.cells import Numbers
from .closeness_ratio import ratio_of_counts


@dataclass(frozen=True)
class Room:
    """The least and the largest number of units of each bucket in a group of one size.

    groups: how many groups have this size.
    """

    size: int
    groups: int
    low: tuple[int, ...]
    high: tuple[int, ...]


def sizes_of(units: int, groups: int) -> Numbers:
    """The sizes of the groups, which differ by one at most, the larger ones spread evenly."""
    return np.diff(np.arange(groups + 1) * units // groups)


def rooms(buckets: Sequence[int], groups: int, t: Fraction) -> tuple[Room, ...]:
    """The counts that t allows in groups of each size.

    Parameters
        buckets: how many units each bucket has.
    """
    units = sum(buckets)
    least, larger = divmod(units, groups)

    def room(size: int, many: int) -> Room:
        shares = [Fraction(size * bucket, units) for bucket in buckets]
        low = tuple(math.ceil(share / t) for share in shares)
        return Room(size, many, low, tuple(math.floor(share * t) for share in shares))

    sizes = ((least, groups - larger), (least + 1, larger))
    return tuple(room(size, many) for size, many in sizes if many)


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
        if low > high:
            return False
        least, most = least + low, most + high
    return least <= first.groups * first.size <= most


def most_groups(buckets: Sequence[int], k: int, t: Fraction) -> int:
    """The largest number of groups of at least k units for which counts exist; at least 1.

    Every group has at least one unit of every bucket, which bounds their number from above.

    Source
        Thesis, section 7.2.2, corrected: its counts need not add up, and need not exist.
    """
    units = sum(buckets)
    groups = max(1, min(units // k, min(buckets), units // len(buckets)))
    while groups > 1 and not feasible(buckets, groups, t):
        groups -= 1
    return groups


Matrix = NDArray[np.int64]

_FINE = 1 << 32


def emphasised(buckets: Sequence[int], groups: int, t: Fraction) -> Matrix:
    """The counts: a row for each group, a column for each bucket.

    Guarantee
        Each count lies between ⌈x/t⌉ and ⌊x·t⌋; rows add up to the sizes of groups, columns to
        those of buckets. Given which bucket each group emphasises, no other such counts have more
        units in the emphasised ones, up to one in each group.

    Parameters
        groups: as many as are `feasible`.

    Example
        >>> emphasised([4, 4, 4], 3, Fraction(3, 2)).tolist()
        [[2, 1, 1], [1, 2, 1], [1, 1, 2]]

    Source
        Thesis, section 7.2.2. Groups of one size that emphasise one bucket are alike, so the flow
        is computed for all of them together and then shared out.
    """
    sizes = sizes_of(sum(buckets), groups)
    of_size = {room.size: room for room in rooms(buckets, groups, t)}
    left = np.array(buckets, np.int64)
    for room in of_size.values():
        left -= room.groups * np.array(room.low)
    favourite = in_turn(left, groups)
    keys = sizes * len(buckets) + favourite
    kinds, kind = np.unique(keys, return_inverse=True)
    many = np.bincount(kind)
    bound = [of_size[int(key) // len(buckets)] for key in kinds]
    low = np.array([room.low for room in bound]) * many[:, None]
    spare = np.array([room.high for room in bound]) * many[:, None] - low
    supply = many * (kinds // len(buckets)) - low.sum(axis=1)
    flow = low + most_preferred(supply, left, spare, kinds % len(buckets))
    counts = np.empty((groups, len(buckets)), np.int64)
    for number, totals in enumerate(flow):
        counts[kind == number] = dealt(totals, int(many[number]))
    return counts


def in_turn(weights: Numbers, size: int) -> Numbers:
    """A sequence of kinds, in proportion to their weights and well mixed."""
    total = int(weights.sum())
    if total == 0:
        return np.arange(size) % weights.size
    ends = [int(end) * size // total for end in np.cumsum(weights)]
    many = np.diff(ends, prepend=0)
    kinds = np.repeat(np.arange(weights.size), many)
    nth = np.arange(size) - np.repeat(np.cumsum(many) - many, many)
    return kinds[np.argsort((2 * nth + 1) * _FINE // many[kinds], kind="stable")]


def most_preferred(supply: Numbers, demand: Numbers, room: Matrix, preferred: Numbers) -> Matrix:
    """The flow from rows to columns with most on the preferred column of each row.

    A flow of least cost by shortest augmenting paths: a unit on the preferred column earns one. It
    starts with preferred edges alone, the best flow of that size, and after each shortest path it
    is again the best of its size.

    Parameters
        supply, demand: of each row and of each column, in whole numbers.
        room: the largest flow from each row to each column.
        preferred: the column that each row prefers.
    """
    rows = np.arange(supply.size)
    flow = np.zeros_like(room)
    give, take = supply.copy(), demand.copy()
    for row, column in zip(rows, preferred, strict=True):
        amount = min(give[row], take[column], room[row, column])
        flow[row, column] = amount
        give[row] -= amount
        take[column] -= amount
    cost = np.zeros_like(room)
    cost[rows, preferred] = -1
    while give.any():
        _augment(flow, room, cost, give, take)
    return flow


def _augment(flow: Matrix, room: Matrix, cost: Matrix, give: Numbers, take: Numbers) -> None:
    """Sends as much as fits along one cheapest path from a row with supply left."""
    far = flow.shape[0] + flow.shape[1] + 1  # no path costs as much
    forth = np.where(flow < room, cost, 2 * far)
    back = np.where(flow > 0, -cost, 2 * far)
    to_row, row_from = np.where(give > 0, 0, 2 * far), np.full(give.size, -1)
    to_column, column_from = np.full(take.size, far), np.full(take.size, -1)
    while True:  # Bellman and Ford, all edges at once; there is no cycle of negative cost
        paths = to_row[:, None] + forth
        better = paths.min(axis=0) < to_column
        if not better.any():
            break
        to_column[better] = paths.min(axis=0)[better]
        column_from[better] = paths.argmin(axis=0)[better]
        returns = to_column[None, :] + back
        better = returns.min(axis=1) < np.minimum(to_row, far)
        to_row[better] = returns.min(axis=1)[better]
        row_from[better] = returns.argmin(axis=1)[better]
    end = column = int(np.where(take > 0, to_column, far).argmin())
    if take[end] == 0 or to_column[end] == far:
        raise Fault("no counts exist for groups that were found feasible")
    row = int(column_from[column])
    forward, backward = [(row, column)], []
    while row_from[row] >= 0:
        column = int(row_from[row])
        backward.append((row, column))
        row = int(column_from[column])
        forward.append((row, column))
    amount = min(
        give[row],
        take[end],
        *(room[edge] - flow[edge] for edge in forward),
        *(flow[edge] for edge in backward),
    )
    for edge in forward:
        flow[edge] += amount
    for edge in backward:
        flow[edge] -= amount
    give[row] -= amount
    take[end] -= amount


def dealt(totals: Numbers, groups: int) -> Matrix:
    """Totals divided among groups: each gets the same share of each, up to one, and of their sum.
    Bucket after bucket is dealt like cards, from where the last one ended.

    Example
        >>> dealt(np.array([5, 4]), 3).tolist()
        [[2, 1], [2, 1], [1, 2]]
    """
    ends = np.concatenate(([0], np.cumsum(totals)))
    before = -((np.arange(groups)[:, None] - ends[None, :]) // groups)
    return np.diff(before, axis=1)


_SLOWLY = 256
"""The number of groups falls by one in 256, at least by one, until counts are found."""


def cells_of(columns: Sequence[Numbers]) -> Numbers:
    """The cell of each unit, numbered along a walk that turns back at the end of each column; the
    cells of one column are its buckets."""
    cell = np.zeros(columns[0].size, np.int64)
    for buckets in columns:
        many = int(buckets.max()) + 1
        cell = cell * many + np.where(cell % 2 == 0, buckets, many - 1 - buckets)
    return np.unique(cell, return_inverse=True)[1].astype(np.int64).reshape(-1)


def counts_for(columns: Sequence[Numbers], cells: Numbers, k: int, t: Fraction) -> Matrix:
    """The number of units of each cell in every group; a row for each group.

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
    """The same for cells in their order.

    Parameters
        columns: the bucket of each cell, of each column.
        totals: how many units each cell has.
    """
    margins = [_of_buckets(totals[None], buckets)[0].tolist() for buckets in columns]
    most = min(most_groups(margin, k, t) for margin in margins)
    if len(columns) == 1:
        return emphasised(margins[0], most, t)
    while True:
        counts = dealt(totals, most)
        ratios = (ratio_of_counts(_of_buckets(counts, buckets)) for buckets in columns)
        if most == 1 or all(ratio is not None and ratio <= t for ratio in ratios):
            return counts
        most -= max(1, most // _SLOWLY)


def _of_buckets(counts: Matrix, buckets: Numbers) -> Matrix:
    """The counts of the buckets of a column, given those of cells, and the bucket of each cell."""
    sums = np.zeros((counts.shape[0], int(buckets.max()) + 1), np.int64)
    for cell, bucket in enumerate(buckets):
        sums[:, bucket] += counts[:, cell]
    return sums
