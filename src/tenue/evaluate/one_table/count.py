"""Rows in groups of equal codes, and how often each value occurs in each group.

A missing quasi-identifier is a value like any other, equal to another missing one, because a reader
of the table sees it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..factorize import Codes, Whole

_LARGEST_KEY = 2**62


@dataclass(frozen=True, eq=False)
class Groups:
    """Every row in one group; groups are numbered from 0 and none is empty."""

    labels: Whole
    count: int

    @cached_property
    def sizes(self) -> Whole:
        return np.bincount(self.labels, minlength=self.count)

    @cached_property
    def heads(self) -> Whole:
        """The first row of each group."""
        heads = np.empty(self.count, np.int64)
        heads[self.labels[::-1]] = np.arange(self.labels.size)[::-1]
        return heads

    def units(self, unit: Codes) -> Whole:
        """The number of different units of each group; missing ones are one and the same."""
        many = unit.count + 1
        key = self.labels * many + unit.codes + 1
        pairs = _occurring(key, self.count * many)[0]
        return np.bincount(pairs // many, minlength=self.count)


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each value occurs in each group, one entry for each pair that occurs.

    group, value: the pair; entries are in the order of groups, then of values.
    times: the number of rows with this pair.
    sizes: the number of rows of each group with a value.
    totals: the number of rows of the whole table with each value.
    """

    group: Whole
    value: Whole
    times: Whole
    sizes: Whole
    totals: Whole

    @cached_property
    def rows(self) -> int:
        """The number of rows of the whole table with a value; the groups may be some of it."""
        return int(self.totals.sum())

    @cached_property
    def distinct(self) -> Whole:
        """The number of different values of each group."""
        return np.bincount(self.group, minlength=self.sizes.size)

    @cached_property
    def filled(self) -> Whole:
        """The groups that have a value, in order."""
        return np.flatnonzero(self.sizes)

    @cached_property
    def starts(self) -> Whole:
        """Where the entries of each filled group begin."""
        ends: Whole = np.cumsum(self.distinct[self.filled])
        return np.concatenate(([0], ends[:-1])).astype(np.int64)


def grouped(columns: Sequence[Codes], rows: int) -> Groups:
    """Rows that are equal in every column share a group; without columns all of them do."""
    key = np.zeros(rows, np.int64)
    span = 1
    for column in columns:
        if span > _LARGEST_KEY // (column.count + 1):
            numbered = _numbered(key, span)
            key, span = numbered.labels, numbered.count
        key = key * (column.count + 1) + (column.codes + 1)
        span *= column.count + 1
    return _numbered(key, span)


def counted(groups: Groups, values: Codes, times: Whole | None = None) -> Counts:
    """The counts of a column's values; missing ones are left out.

    Parameters
        times: how many rows of the table each row stands for; one by default.
    """
    present = values.codes >= 0
    labels, codes = groups.labels, values.codes
    if not present.all():
        labels, codes = labels[present], codes[present]
    width = max(values.count, 1)
    key = labels * width + codes
    if times is None:
        pairs, weights = _occurring(key, groups.count * width)
        sizes = np.bincount(labels, minlength=groups.count)
        totals = np.bincount(codes, minlength=values.count)
    else:
        times = times[present]
        pairs, numbers = np.unique(key, return_inverse=True)
        weights = total(numbers.reshape(-1), times, pairs.size)
        sizes = total(labels, times, groups.count)
        totals = total(codes, times, values.count)
    return Counts(pairs // width, pairs % width, weights, sizes, totals)


def total(indices: Whole, times: Whole, count: int) -> Whole:
    """The sum of the times at each index below `count`."""
    found = np.zeros(count, np.int64)
    np.add.at(found, indices, times)
    return found


def _dense(rows: int) -> int:
    """Up to this many different keys, a table of all of them is faster than sorting."""
    return 4 * rows + 1000


def _occurring(key: Whole, span: int) -> tuple[Whole, Whole]:
    """The keys that occur, ascending, and how often."""
    if span > _dense(key.size):
        return np.unique(key, return_counts=True)
    table = np.bincount(key, minlength=span)
    keys = np.flatnonzero(table)
    return keys, table[keys]


def _numbered(key: Whole, span: int) -> Groups:
    if span <= _dense(key.size):
        seen = np.zeros(span, np.bool_)
        seen[key] = True
        numbers = np.cumsum(seen) - 1
        return Groups(numbers[key], int(numbers[-1]) + 1)
    bits = max(key.size - 1, 1).bit_length()
    if span > _LARGEST_KEY >> bits:
        _, labels = np.unique(key, return_inverse=True)
        return Groups(labels.astype(np.int64), int(labels.max()) + 1)
    # sorting keys packed with their row is several times faster than sorting rows by key
    packed = np.sort((key << bits) | np.arange(key.size))
    rows = packed & ((1 << bits) - 1)
    packed >>= bits
    ranks = np.cumsum(np.append(False, packed[1:] != packed[:-1]))
    labels = np.empty(key.size, np.int64)
    labels[rows] = ranks
    return Groups(labels, int(ranks[-1]) + 1)
