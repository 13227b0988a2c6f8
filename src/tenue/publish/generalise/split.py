"""How groups could be split by one column, all groups of a level at once.

Splits depend on how often each value occurs in each group, never on the order of rows, so that the
same people give the same groups however a file is sorted. Every part has at least k units; of equal
splits, the first in the order of the domain is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...taxonomy.tree import Tree

Numbers = NDArray[np.int64]
Share = Callable[[Numbers, Numbers], Numbers]
"""The share of its domain that everything from one value to another is, as a whole number."""

NONE = -1
"""The gain of a group that cannot be split."""

_FAR = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Level:
    """Rows in groups, some of which may be split.

    node: the group of each row, numbered from 0; none is empty.
    count: how many groups there are.
    persons: whose each row is; None if each row is a person.
    """

    node: Numbers
    count: int
    persons: Numbers | None = None

    @cached_property
    def members(self) -> tuple[Numbers, Numbers]:
        """Each person of each group: the one of each row, and the group of each."""
        if self.persons is None:
            return np.arange(self.node.size), self.node
        many = int(self.persons.max(initial=0)) + 1
        members, which = np.unique(self.node * many + self.persons, return_inverse=True)
        return which.reshape(-1), members // many

    @cached_property
    def units(self) -> Numbers:
        return np.bincount(self.members[1], minlength=self.count)


@dataclass(frozen=True, eq=False)
class Tally:
    """How often each value of a column occurs in each group, one entry for each pair that occurs.

    ranks: the place of each row's value among the different values.
    values: the different values, in order.
    keys: of each entry its group and its value, in that order.
    rows: how many rows it has.
    """

    level: Level
    ranks: Numbers
    values: Numbers
    keys: Numbers
    rows: Numbers

    @classmethod
    def of(cls, level: Level, ranks: Numbers, values: Numbers) -> Tally:
        """The tally of a column; by counting where values are few, else by sorting."""
        key, span = level.node * values.size + ranks, level.count * values.size
        if span <= 4 * key.size + 1000:
            table = np.bincount(key, minlength=span)
            keys = np.flatnonzero(table)
            return cls(level, ranks, values, keys, table[keys])
        key.sort()
        begin = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
        return cls(level, ranks, values, key[begin], np.diff(begin, append=key.size))

    @cached_property
    def node(self) -> Numbers:
        """The group of each entry."""
        return self.keys // self.values.size

    @cached_property
    def code(self) -> Numbers:
        """The value of each entry."""
        return self.values[self.keys % self.values.size]

    @cached_property
    def first(self) -> Numbers:
        """The first entry of each group."""
        return np.flatnonzero(np.append(True, self.node[1:] != self.node[:-1]))

    @cached_property
    def last(self) -> Numbers:
        """The last entry of each group."""
        return np.append(self.first[1:], self.node.size) - 1

    @cached_property
    def upto(self) -> Numbers:
        """How many rows of its group have the entry's value or a lower one."""
        total = np.cumsum(self.rows)
        return total - (total[self.first] - self.rows[self.first])[self.node]

    @property
    def entries(self) -> Numbers:
        """The entry of each row."""
        return np.searchsorted(self.keys, self.level.node * self.values.size + self.ranks)

    def units_beside(self) -> tuple[Numbers, Numbers]:
        """How many units have a row at each entry or below it, and how many have one above it.

        A person with rows on both sides is on both sides.
        """
        if self.level.persons is None:
            return self.upto, self.upto[self.last][self.node] - self.upto
        which, home = self.level.members
        base, many = home * self.values.size, home.size
        low, high = np.full(many, self.values.size), np.zeros(many, np.int64)
        np.minimum.at(low, which, self.ranks)
        np.maximum.at(high, which, self.ranks)
        starts = np.cumsum(self.level.units) - self.level.units
        begun, ended = (
            np.searchsorted(np.sort(base + end), self.keys, side="right") - starts[self.node]
            for end in (low, high)
        )
        return begun, self.level.units[self.node] - ended


@dataclass(frozen=True, eq=False)
class Borders:
    """Two parts; `border` is the greatest value of the lower one, by group."""

    border: Numbers

    def part(self, group: Numbers, code: Numbers) -> Numbers:
        return (code > self.border[group]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Branches:
    """Parts by the concept that covers a value.

    below: the depth of that concept in the tree, by group.
    keys: each group and concept that occurs, as one number, in order.
    parts: the part of each.
    """

    tree: Tree
    below: Numbers
    keys: Numbers
    parts: Numbers

    @classmethod
    def joined(cls, some: Sequence[Branches]) -> Branches:
        """The rule of all these groups, numbered on."""
        many = np.cumsum([0, *(one.below.size for one in some[:-1])])
        width = len(some[0].tree.names)
        return cls(
            some[0].tree,
            np.concatenate([one.below for one in some]),
            np.concatenate([one.keys + n * width for n, one in zip(many, some, strict=True)]),
            np.concatenate([one.parts for one in some]),
        )

    def part(self, group: Numbers, code: Numbers) -> Numbers:
        concept = self.tree.lines[code, self.below[group]]
        key = group * len(self.tree.names) + concept
        parts: Numbers = self.parts[np.searchsorted(self.keys, key)]
        return parts


Rule = Borders | Branches
"""The part of its group to which a value belongs, of groups that can be split."""


@dataclass(frozen=True, eq=False)
class Offer:
    """How each group would be split by one column.

    gain: by how much that shrinks the share of the domain that its values may be, summed over rows;
        `NONE` of a group that cannot be split.
    parts: into how many parts.
    rule: to which part a value belongs.
    """

    gain: Numbers
    parts: Numbers
    rule: Rule


def halved(tally: Tally, k: int, share: Share) -> Offer:
    """Two parts, low and high values, with the border nearest to the middle row."""
    below, above = tally.units_beside()
    first, last, node = tally.first, tally.last, tally.node
    size = tally.upto[last]
    off = np.abs(2 * tally.upto - size[node])
    off[(below < k) | (above < k)] = _FAR
    least = np.minimum.reduceat(off, first)
    can = least < _FAR
    where = np.flatnonzero(off == np.where(can, least, NONE)[node])
    border = first.copy()
    border[node[where][::-1]] = where[::-1]  # the lowest of equals
    after = np.minimum(border + 1, last)
    ends = tally.code[first], tally.code[border], tally.code[after], tally.code[last]
    return in_two(can, size, tally.upto[border], ends, share)


def in_two(
    can: NDArray[np.bool_],
    size: Numbers,
    left: Numbers,
    ends: tuple[Numbers, Numbers, Numbers, Numbers],
    share: Share,
) -> Offer:
    """The offer of two parts.

    Parameters
        can: whether a group can be split.
        size, left: how many rows it has, and its lower part.
        ends: the least and the greatest value of each part, in order.
    """
    low, border, after, high = ends
    gain = size * share(low, high)
    gain -= left * share(low, border)
    gain -= (size - left) * share(after, high)
    return Offer(np.where(can, gain, NONE), np.where(can, 2, 1), Borders(border))


def by_children(tally: Tally, k: int, share: Share, tree: Tree) -> Offer:
    """A part for each concept below the one that covers a group.

    Concepts with fewer than k units are one part together, still covered by the concept above; if
    that has too few, the smallest of the others joins it.
    """
    low, high = tally.code[tally.first], tally.code[tally.last]
    below = np.minimum(tree.depth_of(low, high) + 1, tree.depth)
    child = tree.lines[tally.code, below[tally.node]]
    fresh = (child[1:] != child[:-1]) | (tally.node[1:] != tally.node[:-1])
    begin = np.flatnonzero(np.append(True, fresh))  # leaves are in the order of their concepts
    branch = np.cumsum(np.append(True, fresh)) - 1
    home = tally.node[begin]
    units = _units(tally, branch, home.size)
    small, count = units < k, tally.level.count
    pool = np.where(small, home, home.size + np.arange(home.size))
    pooled = _units(tally, np.where(small, home, count)[branch], count + 1)[:count]
    lonely = (np.bincount(home[small], minlength=count) > 0) & (pooled < k)
    smallest = np.lexsort((units, small, home))
    joins = smallest[np.flatnonzero(np.append(True, np.diff(home[smallest])))]
    joins = joins[lonely & ~small[joins]]
    pool[joins] = home[joins]
    fits = ~lonely
    fits[home[joins]] = True
    _, part_of = np.unique(pool + home * (2 * home.size), return_inverse=True)
    part_of = part_of.reshape(-1)
    start = np.full(count, part_of.size)
    np.minimum.at(start, home, part_of)
    many = np.bincount(home[np.unique(part_of, return_index=True)[1]], minlength=start.size)
    can = fits & (many > 1)
    gain = tally.upto[tally.last] * share(low, high) - _kept(tally, part_of[branch], share)

    keys = home * len(tree.names) + child[begin]
    order = np.argsort(keys)
    rule = Branches(tree, below, keys[order], (part_of - start[home])[order])
    return Offer(np.where(can, gain, NONE), np.where(can, many, 1), rule)


def _units(tally: Tally, part: Numbers, count: int) -> Numbers:
    """How many units each part has, given the part of each entry."""
    persons = tally.level.persons
    if persons is None:
        units = np.zeros(count, np.int64)
        np.add.at(units, part, tally.rows)
        return units
    many = int(persons.max(initial=0)) + 1
    return np.bincount(np.unique(part[tally.entries] * many + persons) // many, minlength=count)


def _kept(tally: Tally, part: Numbers, share: Share) -> Numbers:
    """The loss of each group once it is split into these parts, each a run or a pool."""
    count = int(part.max()) + 1
    low, high = np.full(count, _FAR), np.full(count, NONE)
    np.minimum.at(low, part, tally.code)
    np.maximum.at(high, part, tally.code)
    rows, home = np.zeros(count, np.int64), np.zeros(count, np.int64)
    np.add.at(rows, part, tally.rows)
    home[part] = tally.node
    lost = np.zeros(tally.level.count, np.int64)
    np.add.at(lost, home, rows * share(low, high))
    return lost
