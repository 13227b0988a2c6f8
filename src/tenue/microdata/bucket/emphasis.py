"""How many units of each bucket every group has: as many of one bucket as t allows.

A group that has one bucket t times as often as the table, and the others as rarely as is allowed,
uses up t, and leaves most freedom to put similar people together. Which bucket a group emphasises
goes round, so that neighbouring groups emphasise different ones and all buckets are used up.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...errors import Fault
from .feasible import Numbers, rooms, sizes_of

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
    """So many places among numbered kinds, in proportion to their weights and well mixed."""
    total = int(weights.sum())
    if total == 0:
        return np.arange(size) % weights.size
    ends = [int(end) * size // total for end in np.cumsum(weights)]
    many = np.diff(ends, prepend=0)
    kinds = np.repeat(np.arange(weights.size), many)
    place = np.arange(size) - np.repeat(np.cumsum(many) - many, many)
    return kinds[np.argsort((2 * place + 1) * _FINE // many[kinds], kind="stable")]


def most_preferred(supply: Numbers, demand: Numbers, room: Matrix, preferred: Numbers) -> Matrix:
    """The flow from rows to columns that has most where each row prefers it.

    A flow of least cost by shortest augmenting paths: what goes to the preferred column earns one.
    It starts with preferred edges alone, which no flow of that size does better than, and after
    each shortest path it is again the best of its size.

    Parameters
        supply, demand: what each row gives and each column takes, in whole numbers.
        room: how much may go from each row to each column.
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
    """Sends as much as fits along one cheapest path from what is left to give."""
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
    forward, backward = [], []
    row = int(column_from[column])
    forward.append((row, column))
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
    """Totals shared out among groups: each gets the same share of each, up to one, and as many
    of all together.

    Bucket after bucket is dealt out like cards, where the last one ended.

    Example
        >>> dealt(np.array([5, 4]), 3).tolist()
        [[2, 1], [2, 1], [1, 2]]
    """
    ends = np.concatenate(([0], np.cumsum(totals)))
    before = -((np.arange(groups)[:, None] - ends[None, :]) // groups)
    return np.diff(before, axis=1)
