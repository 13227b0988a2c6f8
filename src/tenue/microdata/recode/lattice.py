"""Levels of generalisation, one for each column, and the classes that they make of a table.

Rows with equal quasi-identifiers stay together on all levels, so that the different combinations
are what is grouped; and the classes of some levels are made of those of lower levels (roll-up).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ...errors import refuse
from ...evaluate.code import Codes
from ...evaluate.group.count import grouped
from ..table.cells import Numbers
from .loss import Classes, joined
from .need import Need
from .scale import Run, Scale

Levels = tuple[int, ...]

MOST = 2**20
"""So many combinations of levels are searched."""

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
        values, ranks = np.unique(scale.codes, return_inverse=True)
        runs: list[Run] = []
        for run in scale.levels(values, widths):
            # a level by which the schema's next one is not coarser says nothing new
            if not runs or not (run[0] == runs[-1][0]).all() or not (run[1] == runs[-1][1]).all():
                runs.append(run)
        classes = []
        for low, _ in runs:
            found, codes = np.unique(low, return_inverse=True)
            classes.append(Codes(codes.astype(np.int64).reshape(-1), found.size))
        return cls(scale, ranks.astype(np.int64).reshape(-1), runs, classes)

    @property
    def top(self) -> int:
        return len(self.runs) - 1


@dataclass(frozen=True, eq=False)
class Grouping:
    """The classes of some levels, in the order of their codes, whatever they were made of.

    first: of each class one of the combinations that it holds.
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
        many = 1
        for scale, given in zip(scales, widths, strict=True):
            many *= len(scale.levels(np.zeros(1, np.int64), given))
        if many > MOST:
            raise refuse("microdata.too-many-levels", many=many, most=MOST)
        return cls([Ladder.of(scale, given) for scale, given in zip(scales, widths, strict=True)])

    @property
    def top(self) -> Levels:
        return tuple(ladder.top for ladder in self.ladders)

    @cached_property
    def combination(self) -> Numbers:
        """The combination of values of each row, numbered from 0."""
        size = self.ladders[0].ranks.size
        columns = [Codes(one.ranks, one.classes[0].codes.size) for one in self.ladders]
        return grouped(columns, size).labels

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
        """The classes of these levels, made of the fewest that are remembered below them."""
        known = self._remembered.get(levels)
        if known is not None:
            return known
        below = [made for lower, made in self._remembered.items() if _below(lower, levels)]
        basis = min(below, key=lambda one: one.rows.size, default=self._finest)
        labels, count = self._labels(levels, basis.first)
        first = np.empty(count, np.int64)
        first[labels[::-1]] = basis.first[::-1]
        found = Grouping(first, joined(basis.rows, labels, count))
        self._remembered[levels] = found
        if len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)
        return found

    def labels(self, levels: Levels) -> tuple[Numbers, int]:
        """The class of each row, as `grouping` numbers them, and how many there are."""
        labels, count = self._labels(levels, self._finest.first)
        return labels[self.combination], count

    def _labels(self, levels: Levels, combinations: Numbers) -> tuple[Numbers, int]:
        columns = []
        for ladder, level, values in zip(self.ladders, levels, self._each, strict=True):
            classes = ladder.classes[level]
            columns.append(Codes(classes.codes[values[combinations]], classes.count))
        found = grouped(columns, combinations.size)
        return found.labels, found.count

    def classes(self, levels: Levels, kept: Numbers | None = None, suppressed: int = 0) -> Classes:
        """All classes of these levels, or those of them that are kept."""
        grouping = self.grouping(levels)
        which = np.arange(grouping.rows.size) if kept is None else kept
        penalties = []
        for ladder, level, values in zip(self.ladders, levels, self._each, strict=True):
            low, high = ladder.runs[level]
            mine = values[grouping.first[which]]
            penalties.append((ladder.scale.penalty(low[mine], high[mine]), ladder.scale.whole))
        return Classes(grouping.rows[which], penalties, suppressed)

    def units(self, levels: Levels, need: Need) -> tuple[Numbers, Numbers]:
        """Of each class how many units and how many rows it has."""
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


def _below(lower: Levels, levels: Levels) -> bool:
    return all(one <= other for one, other in zip(lower, levels, strict=True))
