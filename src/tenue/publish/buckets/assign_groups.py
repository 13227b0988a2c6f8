"""The members of groups: people with similar quasi-identifiers, as many of each bucket as counted.

In memory (`filled`), all groups together are halved, along the quasi-identifier in which their
people differ most, and each half again, down to single groups. A half gets from each bucket the
people at its own end, as many as its groups need. So the counts hold for any people, and people who
are close stay together as far as their buckets allow. Then groups have centres, and are filled
again around these while that brings people closer.

In the end people are exchanged (`exchanged`). Two of one bucket may always be, since no count
changes. The squared error of a group from its mean is the sum of squares less |sum|²/size, so one
exchange changes two sums, and its gain follows from these. All is in whole numbers and every
exchange lowers the error, so the search ends.

In passes (`along`, `group_at`), people are in the order of a Hilbert curve through the declared
domain of the quasi-identifiers. Each group takes from every cell of buckets the next people, as
many as counted. People who are close on the curve stay together as far as their buckets allow, and
nobody is exchanged afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...schema import Column
from ...taxonomy.total_order import MOST_COLUMNS, bits_for, cells, index
from ..table.cells import Cells, Numbers
from ..table.records import classes_of, order_of, records_of
from .bucket_counts import Matrix

MOST = 3_000
"""Everybody is compared with everybody in their bucket: in larger tables that takes too long."""

_STEPS = (1 << 16) - 1
_WORD = 63
_FINE = 1 << 10
_ROUNDS = 3
"""How often groups are filled again at most; later rounds hardly change anything."""


def sums_of(where: Matrix, groups: Numbers) -> tuple[Numbers, Matrix]:
    """The size of each group, and the sum of its members' positions."""
    sizes = np.bincount(groups)
    sums = np.zeros((sizes.size, where.shape[1]), np.int64)
    order = np.argsort(groups, kind="stable")
    np.add.reduceat(where[order], np.cumsum(sizes) - sizes, axis=0, out=sums)
    return sizes, sums


def likeness(where: Matrix, groups: Numbers) -> float:
    """A measure that grows as squared errors inside the groups shrink."""
    sizes, sums = sums_of(where, groups)
    return float((np.square(sums.astype(np.float64)).sum(axis=1) / sizes).sum())


def exchanged(where: Matrix, buckets: Numbers, groups: Numbers) -> Numbers:
    """The group of each unit, after all exchanges of two units of a bucket with a gain.

    Guarantee
        Each group has as many units of each bucket as before, and no exchange of two units of one
        bucket brings the groups closer. Tables with more than `MOST` units are left as they are.

    Parameters
        where: a row for each unit, whole numbers below 2^16.

    Example
        >>> where = np.array([[1], [9], [2], [8]])
        >>> exchanged(where, np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0])).tolist()
        [1, 0, 1, 0]
    """
    if buckets.size > MOST:
        return groups
    result = groups.copy()
    sizes, sums = sums_of(where, result)
    members = [np.flatnonzero(buckets == bucket) for bucket in range(int(buckets.max()) + 1)]
    unmoved = 0
    while True:
        for unit in range(buckets.size):
            others, here = members[buckets[unit]], result[unit]
            there = result[others]
            gain = _gains(where[others] - where[unit], sums, sizes, here, there)
            best = int(gain.argmax())
            if gain[best] > 0:
                other = others[best]
                sums[here] += where[other] - where[unit]
                sums[there[best]] -= where[other] - where[unit]
                result[unit], result[other] = result[other], here
                unmoved = 0
                continue
            unmoved += 1
            if unmoved == buckets.size:
                return result


def _gains(far: Matrix, sums: Matrix, sizes: Numbers, here: int, there: Numbers) -> Numbers:
    """The gain of exchanges with units at these differences, times the sizes of both groups."""
    own, other = sizes[here], sizes[there]
    apart = sums[here] * other[:, np.newaxis] - sums[there] * own
    gain: Numbers = 2 * (far * apart).sum(axis=1) + (far * far).sum(axis=1) * (own + other)
    gain[there == here] = 0
    return gain


def positions(cells: Sequence[Cells], persons: Numbers | None = None) -> Matrix:
    """Where each unit lies: columns divided by the width of their domain, in whole steps, as fine
    as the widest of them allows; a category with a taxonomy at its depth-first position."""
    columns = []
    for column in cells:
        records = records_of([column], persons)
        if records.semantic:
            classes = classes_of(column)
            line = classes.line[classes.codes] / max(float(classes.line[-1]), 1.0)
            if persons is not None:
                line = np.bincount(persons, weights=line) / np.bincount(persons)
            columns.append(line[:, np.newaxis])
        else:
            columns.append(records.coordinates)
    where = np.concatenate(columns, axis=1)
    where -= where.min(axis=0)
    widest = float(where.max())
    return np.floor(where / (widest or 1.0) * _STEPS).astype(np.int64)


def filled(where: Matrix, buckets: Numbers, counts: Matrix) -> Numbers:
    """The group of each unit.

    Guarantee
        Group i has counts[i, j] units of bucket j. Deterministic: units at equal positions are
        taken in the order of rows, which must therefore mean nothing.

    Parameters
        where: a row for each unit, from `positions`.
        buckets: the bucket of each unit, numbered from 0.
        counts: a row for each group; column j adds up to the size of bucket j.

    Example
        >>> where = np.array([[1], [9], [2], [8]])
        >>> filled(where, np.array([0, 0, 1, 1]), np.array([[1, 1], [1, 1]])).tolist()
        [0, 1, 0, 1]
    """
    groups = _divided(where, buckets, counts)
    for _ in range(_ROUNDS):
        sizes, sums = sums_of(where, groups)
        again = _divided(where, buckets, counts, sums // sizes[:, np.newaxis])
        if likeness(where, again) <= likeness(where, groups):
            break
        groups = again
    return exchanged(where, buckets, groups)


def _divided(
    where: Matrix, buckets: Numbers, counts: Matrix, centres: Matrix | None = None
) -> Numbers:
    """Halves down to single groups; each group goes to the half of its centre or, without centres,
    to the half where the bucket that it emphasises is frequent."""
    groups, kinds = counts.shape
    parts = _Parts(np.arange(groups), np.array([0]), np.array([groups]))
    part = np.zeros(buckets.size, np.int64)
    while parts.open:
        if centres is None:
            axis = _widest(where, part, parts.first.size)
            along = where[np.arange(buckets.size), axis[part]]
            key = parts.by_frequency(counts, _ahead(part, buckets, along, kinds, parts))
        else:
            axis = _widest(centres[parts.groups], parts.of_groups, parts.first.size)
            along = where[np.arange(buckets.size), axis[part]]
            key = centres[parts.groups, axis[parts.of_groups]]
        parts, needed = parts.halved(counts, key)
        segment = part * kinds + buckets
        order = _sorted(segment, along)
        right = np.empty(buckets.size, np.bool_)
        right[order] = _ranks(np.bincount(segment)) >= needed.reshape(-1)[segment[order]]
        part = parts.number[2 * part + right]
    return parts.groups[parts.first[part]]


@dataclass(frozen=True, eq=False)
class _Parts:
    """Groups in parts that are halved until each is one group.

    groups: their numbers, part after part.
    first, last: where each part begins and ends among them.
    number: which part each half became; a part of one group has no first half.
    """

    groups: Numbers
    first: Numbers
    last: Numbers
    number: Numbers = field(default_factory=lambda: np.zeros(1, np.int64))

    @property
    def open(self) -> bool:
        return bool((self.last - self.first > 1).any())

    @property
    def left(self) -> Numbers:
        """How many groups the first half of each part gets."""
        return (self.last - self.first) // 2

    @property
    def of_groups(self) -> Numbers:
        """The part of each group, in the order of `groups`."""
        return np.repeat(np.arange(self.first.size), self.last - self.first)

    def by_frequency(self, counts: Matrix, ahead: Matrix) -> Numbers:
        """A key by which groups that emphasise a bucket go where it is frequent.

        Parameters
            ahead: how many units of each bucket lie in the first half of each part.
        """
        part, counts = self.of_groups, counts[self.groups]
        favourite = _favourites(counts)
        wish = _wish(counts, part, favourite, self.left, ahead)
        order = np.lexsort((self.groups, favourite, part))
        kind = (part * counts.shape[1] + favourite)[order]
        key = np.empty(order.size, np.int64)
        key[order] = 2 * _ranks(np.bincount(kind)) + 1 - wish.reshape(-1)[kind]
        return key

    def halved(self, counts: Matrix, key: Numbers) -> tuple[_Parts, Matrix]:
        """The halves, those with the smaller keys first, and how many units of each bucket the
        first ones need."""
        groups = self.groups[np.lexsort((self.groups, key, self.of_groups))]
        before = np.zeros((groups.size + 1, counts.shape[1]), np.int64)
        np.cumsum(counts[groups], axis=0, out=before[1:])
        middle = self.first + self.left
        needed = before[middle] - before[self.first]
        begins = np.stack([self.first, middle], axis=1).reshape(-1)
        ends = np.stack([middle, self.last], axis=1).reshape(-1)
        kept = ends > begins
        return _Parts(groups, begins[kept], ends[kept], np.cumsum(kept) - 1), needed


def _ranks(sizes: Numbers) -> Numbers:
    """The rank of each element inside its run, of runs of these sizes."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _favourites(counts: Matrix) -> Numbers:
    """The bucket that each group has most often, relative to its frequency in the table."""
    totals, sizes = counts.sum(axis=0), counts.sum(axis=1)
    more = counts * (sizes.sum() * _FINE // totals) - (sizes * _FINE)[:, None]
    favourites: Numbers = more.argmax(axis=1)
    return favourites


def _wish(
    counts: Matrix, part: Numbers, favourite: Numbers, left: Numbers, ahead: Matrix
) -> Matrix:
    """Twice the number of groups that emphasise each bucket in the first half of each part, so that
    it needs the units in it."""
    parts, kinds = ahead.shape
    key = part * kinds + favourite
    own = np.zeros(parts * kinds, np.int64)
    np.add.at(own, key, counts[np.arange(part.size), favourite])
    many = np.bincount(key, minlength=parts * kinds).reshape(parts, kinds)
    own = own.reshape(parts, kinds)
    groups = np.bincount(part, minlength=parts)[:, None]
    total = np.add.reduceat(counts, np.cumsum(groups) - groups[:, 0])
    high = own * _FINE // np.maximum(many, 1)
    low = (total - own) * _FINE // np.maximum(groups - many, 1)
    excess = high - low
    known = (many > 0) & (many < groups) & (excess > 0)
    wanted = 2 * (ahead * _FINE - left[:, None] * low) // np.where(known, excess, 1)
    wish: Matrix = np.where(known, wanted, 2 * many * left[:, None] // groups)
    return wish


def _ahead(part: Numbers, buckets: Numbers, along: Numbers, kinds: int, parts: _Parts) -> Matrix:
    """How many units of each bucket lie in the first half of each part."""
    sizes = np.bincount(part, minlength=parts.first.size)
    order = _sorted(part, along)
    rows = order[_ranks(sizes) < (sizes * parts.left // (parts.last - parts.first))[part[order]]]
    pairs = np.bincount(part[rows] * kinds + buckets[rows], minlength=sizes.size * kinds)
    return pairs.reshape(sizes.size, kinds)


def _widest(where: Matrix, part: Numbers, parts: int) -> Numbers:
    """The column in which the units of each part are most spread out."""
    sizes = np.bincount(part, minlength=parts)
    order = np.argsort(part, kind="stable")
    starts = np.cumsum(sizes) - sizes
    spread = np.empty((where.shape[1], parts), np.int64)
    for column, line in enumerate(where.T):
        lined = line[order]
        middle = np.add.reduceat(lined, starts) // sizes
        spread[column] = np.add.reduceat((lined - np.repeat(middle, sizes)) ** 2, starts)
    widest: Numbers = spread.argmax(axis=0)
    return widest


def _sorted(segment: Numbers, along: Numbers) -> Numbers:
    """Rows by segment, then along the line, then as they come."""
    bits = max(int(segment.size - 1).bit_length(), 1)
    span = int(segment.max()).bit_length()
    if span + _STEPS.bit_length() + bits > _WORD:
        return np.lexsort((along, segment))
    packed = (((segment << _STEPS.bit_length()) | along) << bits) | np.arange(segment.size)
    packed.sort()
    rows: Numbers = packed & ((1 << bits) - 1)
    return rows


def along(
    columns: Sequence[Column], places: Sequence[int], sizes: Sequence[int]
) -> Callable[[Numbers], Numbers]:
    """Where rows lie on the curve; of many columns the first ones decide.

    Parameters
        places: the position of each column in a row, as `Coding` numbers values.
        sizes: above those numbers.
    """
    taken = list(zip(map(order_of, columns), places, sizes, strict=True))[:MOST_COLUMNS]
    bits = bits_for(len(taken))

    def where(rows: Numbers) -> Numbers:
        lines = [cells(order(rows[:, j]), size, bits) for order, j, size in taken]
        return index(np.stack(lines, axis=1), bits).astype(np.int64)

    return where


def group_at(counts: Matrix) -> Callable[[Numbers], Numbers]:
    """The group of each rank, where units are in the order of cells and then of the curve.

    Guarantee
        Group i has counts[i, j] units of cell j.

    Parameters
        counts: a row for each group, a column for each cell.

    Example
        >>> group_at(np.array([[1, 2], [2, 0]]))(np.arange(5)).tolist()
        [0, 1, 1, 0, 0]
    """
    groups, ends = counts.shape[0], np.cumsum(counts.T.reshape(-1))
    return lambda ranks: np.searchsorted(ends, ranks, side="right") % groups
