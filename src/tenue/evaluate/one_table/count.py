"""Rows in groups of equal codes, and how often each value occurs in each group.

A missing quasi-identifier is a value like any other, equal to another missing one: whoever reads
the table sees the blank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..factorize import Codes

Whole = NDArray[np.int64]

_LARGEST_KEY = 2**62


@dataclass(frozen=True, eq=False)
class Groups:
    """Every row in one group; groups are numbered from 0 and none is empty."""

    labels: Whole
    count: int

    @cached_property
    def sizes(self) -> Whole:
        """How many rows each group has."""
        return np.bincount(self.labels, minlength=self.count)

    def units(self, unit: Codes) -> Whole:
        """How many different units each group has; missing ones are one and the same."""
        many = unit.count + 1
        pairs = _distinct(self.labels * many + unit.codes + 1, self.count * many)
        return np.bincount(pairs // many, minlength=self.count)


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each value occurs in each group, one entry for each pair that occurs.

    group, value: the pair; entries are in the order of groups, then of values.
    times: how many rows have it.
    sizes: how many rows of each group have a value at all.
    totals: how many rows of the whole table have each value.
    """

    group: Whole
    value: Whole
    times: Whole
    sizes: Whole
    totals: Whole

    @cached_property
    def rows(self) -> int:
        """How many rows of the whole table have a value; these may be some of its groups."""
        return int(self.totals.sum())

    @cached_property
    def distinct(self) -> Whole:
        """How many different values each group has."""
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
        times: how many rows of the table each row stands for; one if nothing is said.
    """
    present = values.codes >= 0
    labels, codes = groups.labels, values.codes
    if not present.all():
        labels, codes = labels[present], codes[present]
    if times is not None:
        return _weighted(Groups(labels, groups.count), Codes(codes, values.count), times[present])
    width = max(values.count, 1)
    key = labels * width + codes
    span = groups.count * width
    if span <= _dense(key.size):
        table = np.bincount(key, minlength=span)
        pairs = np.flatnonzero(table)
        times = table[pairs]
    else:
        pairs, times = np.unique(key, return_counts=True)
    return Counts(
        group=pairs // width,
        value=pairs % width,
        times=times,
        sizes=np.bincount(labels, minlength=groups.count),
        totals=np.bincount(codes, minlength=values.count),
    )


def _weighted(groups: Groups, values: Codes, times: Whole) -> Counts:
    width = max(values.count, 1)
    pairs, places = np.unique(groups.labels * width + values.codes, return_inverse=True)
    return Counts(
        group=pairs // width,
        value=pairs % width,
        times=total(places.reshape(-1), times, pairs.size),
        sizes=total(groups.labels, times, groups.count),
        totals=total(values.codes, times, values.count),
    )


def total(places: Whole, times: Whole, count: int) -> Whole:
    """The sum of the times at each place below `count`."""
    found = np.zeros(count, np.int64)
    np.add.at(found, places, times)
    return found


def _dense(rows: int) -> int:
    """Up to this many different keys, a table of all of them is faster than sorting."""
    return 4 * rows + 1000


def _distinct(key: Whole, span: int) -> Whole:
    if span <= _dense(key.size):
        return np.flatnonzero(np.bincount(key, minlength=span))
    return np.unique(key)


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
    # one sort of keys that carry their row is several times faster than sorting rows by key
    packed = np.sort((key << bits) | np.arange(key.size))
    rows = packed & ((1 << bits) - 1)
    packed >>= bits
    ranks = np.cumsum(np.append(False, packed[1:] != packed[:-1]))
    labels = np.empty(key.size, np.int64)
    labels[rows] = ranks
    return Groups(labels, int(ranks[-1]) + 1)
