"""Full-domain generalisation: a level for each column, with the least loss that keeps the promise.

Every measure of loss grows when classes are joined, and a suppressed row costs at least as much as
any other could. So the loss of all classes, none of them suppressed, bounds the loss of everything
that generalises them further from below.

Rows with equal quasi-identifiers stay together on all levels, so that different combinations are
grouped, not rows; and the classes of some levels are unions of those of lower levels (roll-up).

Every level of every column is considered. The search goes up from the values themselves, always
from the levels with the least loss. Two facts spare it most of the lattice. Levels that keep k keep
it further up, so that two columns which together break it, all others generalised to everything,
break it on every level of those. And loss grows upwards: once the least bound of any open levels is
no better than the best loss, the search is over.

Source
    Samarati 2001 for levels; LeFevre, DeWitt and Ramakrishnan 2005 (Incognito) for pruning by
    subsets of columns; Kohlmayer et al. 2012 for the search of a globally optimal node.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...errors import Fault, refuse
from ...evaluate.factorize import Codes
from ...evaluate.one_table.count import grouped
from ..table.cells import Numbers
from .hierarchy import Run, Scale
from .privacy_condition import Flags, Need


@dataclass(frozen=True, eq=False)
class PublishedClasses:
    """The classes that are published, and the number of suppressed rows.

    rows: how many rows each class has.
    penalties: of each column the penalty of each class, and of the whole domain.
    """

    rows: Numbers
    penalties: Sequence[tuple[Numbers, int]]
    suppressed: int = 0

    @property
    def all_rows(self) -> int:
        return int(self.rows.sum()) + self.suppressed


def discernibility(classes: PublishedClasses) -> Fraction:
    """The sum of squared class sizes; a suppressed row counts as many as there are rows."""
    squares = int((classes.rows.astype(object) ** 2).sum())
    return Fraction(squares + classes.suppressed * classes.all_rows)


def average_class_size(classes: PublishedClasses) -> Fraction:
    """Rows for each class."""
    return Fraction(classes.all_rows, classes.rows.size)


def ncp(classes: PublishedClasses) -> Fraction:
    """The normalised certainty penalty, from 0 to 1; a suppressed row counts 1."""
    columns = len(classes.penalties)
    total = Fraction(classes.suppressed * columns)
    for penalty, whole in classes.penalties:
        wide = whole * classes.all_rows >= 2**62
        rows = classes.rows.astype(object) if wide else classes.rows
        total += Fraction(int((rows * penalty).sum()), whole)
    return total / (classes.all_rows * columns)


Measure = Callable[[PublishedClasses], Fraction]

MEASURES: dict[str, Measure] = {
    "ncp": ncp,
    "discernibility": discernibility,
    "average-class-size": average_class_size,
}
"""The measures that can be minimised; the first is the default."""


def joined(rows: Numbers, labels: Numbers, count: int) -> Numbers:
    """The number of rows of classes that join these ones by their labels."""
    total = np.zeros(count, np.int64)
    np.add.at(total, labels, rows)
    return total


Levels = tuple[int, ...]

MOST = 2**20
"""Combinations of levels that are searched at most."""

_REMEMBERED = 64


@dataclass(frozen=True, eq=False)
class Ladder:
    """The levels of one column, for the different values that occur.

    runs: of each level the run of each value.
    classes: of each level the class of each value, and how many there are.
    """

    scale: Scale
    ranks: Numbers
    runs: Sequence[Run]
    classes: Sequence[Codes]

    @classmethod
    def of(cls, scale: Scale, widths: Sequence[int]) -> Ladder:
        values = np.unique(scale.codes)
        runs: list[Run] = []
        for run in scale.levels(values, widths):
            # skip a level of the schema that is not coarser than the one below it
            if not runs or not np.array_equal(run, runs[-1]):
                runs.append(run)
        return cls(scale, _codes(scale.codes).codes, runs, [_codes(low) for low, _ in runs])

    @property
    def top(self) -> int:
        return len(self.runs) - 1


def _codes(values: Numbers) -> Codes:
    different, codes = np.unique(values, return_inverse=True)
    return Codes(codes.astype(np.int64).reshape(-1), different.size)


@dataclass(frozen=True, eq=False)
class Grouping:
    """The classes of some levels, in the order of their codes.

    first: one combination of each class.
    rows: how many rows it has.
    """

    first: Numbers
    rows: Numbers


@dataclass(frozen=True, eq=False)
class Lattice:
    """All levels of all columns of a table."""

    ladders: Sequence[Ladder]
    _remembered: OrderedDict[Levels, Grouping] = field(default_factory=OrderedDict)

    @classmethod
    def of(cls, scales: Sequence[Scale], widths: Sequence[Sequence[int]]) -> Lattice:
        """Refused if there are more levels than can be searched; that follows from the schema."""
        pairs = list(zip(scales, widths, strict=True))
        many = math.prod(len(scale.levels(np.zeros(1, np.int64), given)) for scale, given in pairs)
        if many > MOST:
            raise refuse("publish.too-many-levels", many=many, most=MOST)
        return cls([Ladder.of(scale, given) for scale, given in pairs])

    @property
    def top(self) -> Levels:
        return tuple(ladder.top for ladder in self.ladders)

    @cached_property
    def combination(self) -> Numbers:
        """The combination of values of each row, numbered from 0."""
        columns = [Codes(one.ranks, one.classes[0].codes.size) for one in self.ladders]
        return grouped(columns, self.ladders[0].ranks.size).labels

    @cached_property
    def _each(self) -> tuple[Numbers, ...]:
        """Of each column the value of every combination."""
        first = np.unique(self.combination, return_index=True)[1]
        return tuple(ladder.ranks[first] for ladder in self.ladders)

    @cached_property
    def _finest(self) -> Grouping:
        rows = np.bincount(self.combination)
        return Grouping(np.arange(rows.size), rows)

    def grouping(self, levels: Levels) -> Grouping:
        """The classes of these levels, joined from the fewest that are remembered below them."""
        known = self._remembered.get(levels)
        if known is not None:
            return known
        below = [
            grouping
            for lower, grouping in self._remembered.items()
            if all(one <= other for one, other in zip(lower, levels, strict=True))
        ]
        basis = min(below, key=lambda one: one.rows.size, default=self._finest)
        labels, count = self._labels(levels, basis.first)
        first = np.empty(count, np.int64)
        first[labels[::-1]] = basis.first[::-1]
        self._remembered[levels] = Grouping(first, joined(basis.rows, labels, count))
        if len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)
        return self._remembered[levels]

    def labels(self, levels: Levels) -> tuple[Numbers, int]:
        """The class of each row, numbered as in `grouping`, and how many there are."""
        labels, count = self._labels(levels, self._finest.first)
        return labels[self.combination], count

    def _labels(self, levels: Levels, combinations: Numbers) -> tuple[Numbers, int]:
        columns = []
        for ladder, level, values in zip(self.ladders, levels, self._each, strict=True):
            classes = ladder.classes[level]
            columns.append(Codes(classes.codes[values[combinations]], classes.count))
        groups = grouped(columns, combinations.size)
        return groups.labels, groups.count

    def classes(
        self, levels: Levels, kept: Numbers | None = None, suppressed: int = 0
    ) -> PublishedClasses:
        """All classes of these levels, or those that are kept."""
        grouping = self.grouping(levels)
        which = np.arange(grouping.rows.size) if kept is None else kept
        penalties = []
        for ladder, level, values in zip(self.ladders, levels, self._each, strict=True):
            low, high = (end[values[grouping.first[which]]] for end in ladder.runs[level])
            penalties.append((ladder.scale.penalty(low, high), ladder.scale.whole))
        return PublishedClasses(grouping.rows[which], penalties, suppressed)

    def units(self, levels: Levels, need: Need) -> tuple[Numbers, Numbers]:
        """The number of units and of rows of each class."""
        grouping = self.grouping(levels)
        if need.persons is None:
            return grouping.rows, grouping.rows
        labels, count = self.labels(levels)
        return need.units(labels, count), np.bincount(labels, minlength=count)

    def above(self, levels: Levels) -> list[Levels]:
        """The levels one step up in one column."""
        return [
            (*levels[:column], level + 1, *levels[column + 1 :])
            for column, (level, top) in enumerate(zip(levels, self.top, strict=True))
            if level < top
        ]


@dataclass(frozen=True, eq=False)
class Found:
    """The best levels.

    labels: the class of each row, numbered from 0; -1 if it is suppressed.
    """

    levels: Levels
    labels: Numbers
    loss: Fraction


def full_domain(lattice: Lattice, need: Need, measure: Measure, most: int = 0) -> Found:
    """The levels with the least loss of all that meet the condition.

    Guarantee
        No other such levels lose less; of equals, the first in the order of the search, which
        follows from how often each combination of values occurs, not from the order of rows.

    Parameters
        most: how many rows may be suppressed.
    """
    allowed = _Pairs(lattice, need, most)
    bottom = allowed.lowest
    best: tuple[Fraction, Levels, Numbers] | None = None
    waiting = [(measure(lattice.classes(bottom)), sum(bottom), bottom)]
    seen = {bottom}
    while waiting:
        bound, _, levels = heapq.heappop(waiting)
        if best is not None and bound >= best[0]:
            break
        if allowed(levels):
            bound = measure(lattice.classes(levels))
            if best is None or bound < best[0]:
                kept = _kept(lattice, levels, need, most)
                if kept is not None:
                    lost = measure(lattice.classes(levels, *kept))
                    if best is None or lost < best[0]:
                        best = lost, levels, kept[0]
                    if kept[1] == 0:
                        continue  # all above lose more
        for higher in lattice.above(levels):
            if higher not in seen:
                seen.add(higher)
                heapq.heappush(waiting, (bound, sum(higher), higher))
    if best is None:
        raise Fault("the whole table as one class does not meet the condition")
    loss, levels, classes = best
    labels, count = lattice.labels(levels)
    number = np.full(count, -1, np.int64)
    number[classes] = np.arange(classes.size)
    return Found(levels, number[labels], loss)


def _kept(lattice: Lattice, levels: Levels, need: Need, most: int) -> tuple[Numbers, int] | None:
    """The classes that are published, and the number of suppressed rows; None if these are too
    many."""
    units, rows = lattice.units(levels, need)
    if not need.looks_inside:
        good = units >= need.k
    else:
        if int(rows[units < need.k].sum()) > most:
            return None
        labels, count = lattice.labels(levels)
        good = (units >= need.k) & need.diverse(labels, count)
        good = _close(need, labels, good)
    lost = int(rows[~good].sum())
    return None if lost > most or not good.any() else (np.flatnonzero(good), lost)


def _close(need: Need, labels: Numbers, good: Flags) -> Flags:
    """Those classes that are also close to all published rows, which change with each class that is
    suppressed."""
    while need.t is not None and good.any():
        rows = np.flatnonzero(good[labels])
        dense = _codes(labels[rows])
        near = need.of(rows).close(dense.codes, dense.count)
        if near.all():
            break
        good = good.copy()
        good[np.flatnonzero(good)[~near]] = False
    return good


class _Pairs:
    """Which levels may keep k, judged by every two columns on their own."""

    def __init__(self, lattice: Lattice, need: Need, most: int) -> None:
        self._least: dict[tuple[int, int], list[int]] = {}
        top = lattice.top

        def keeps(levels: Levels) -> bool:
            units, rows = lattice.units(levels, need)
            return int(rows[units < need.k].sum()) <= most

        lowest = []
        for column, highest in enumerate(top):
            level = 0
            while level < highest and not keeps(_with(top, {column: level})):
                level += 1
            lowest.append(level)
        self.lowest: Levels = tuple(lowest)
        for one, other in itertools.combinations(range(len(top)), 2):
            keeps(_with(top, {one: 0, other: 0}))  # the others join its classes
            level, least = top[other], []
            for first in range(lowest[one], top[one] + 1):
                while level > lowest[other] and keeps(_with(top, {one: first, other: level - 1})):
                    level -= 1
                least.append(level)
            self._least[one, other] = least

    def __call__(self, levels: Levels) -> bool:
        return all(
            levels[other] >= least[levels[one] - self.lowest[one]]
            for (one, other), least in self._least.items()
        )


def _with(levels: Levels, changed: dict[int, int]) -> Levels:
    return tuple(changed.get(column, level) for column, level in enumerate(levels))
