"""How a tree of boxes grows: deep where many records are, in few passes over them.

Boxes are halved at the middle of the declared domain, along up to four columns at a time; a blank
is set apart first, and a column of one place is not split. No edge is read from a row, so that one
pass can count the records in boxes several depths ahead of the decisions about them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...engine.contract import Passes
from ...noise.exact import uniform
from ...noise.source import Source
from .counts import Counts
from .domain import Places
from .tree_loss import SplitLaw

_TOGETHER = 4
"""Columns that are halved at once: 16 parts at most."""
_AHEAD = 1 << 18
"""One pass looks as deep as it can with so many boxes, or one depth further."""


@dataclass(frozen=True)
class Line:
    """The places of one column that a tree splits. The last `apart` of them, which stand for
    blanks, are set apart before anything else."""

    size: int
    apart: int = 0


@dataclass(frozen=True)
class Boxes:
    """Boxes of places that do not overlap and leave nothing out: low ≤ place < high."""

    low: Places
    high: Places

    @property
    def many(self) -> int:
        return len(self.low)

    def drawn(self, counts: NDArray[np.int64], source: Source) -> Places:
        """So many rows of each box, every place of a box equally likely."""
        width = self.high - self.low
        made = np.repeat(self.low, counts, axis=0)
        for j in range(self.low.shape[1]):
            made[:, j] += uniform(np.repeat(width[:, j], counts), made.shape[0], source)
        return made


def parts(lines: Sequence[Line]) -> int:
    """The greatest number of parts of one box; at least 2."""
    wide = sum(line.size > 1 for line in lines)
    return 1 << max(1, min(_TOGETHER, wide))


def grown(
    records: Passes, lines: Sequence[Line], law: SplitLaw, source: Source
) -> tuple[Boxes, Counts]:
    """The leaves of a tree, and how many records each holds, which is secret.

    Guarantee
        The boxes are `law.loss`-differentially private: each follows from the domain and from the
        law's decisions alone.
    """
    turns = _turns(len(lines))
    front, held = _Front.whole(lines), np.array([records.rows], np.int64)
    stages: list[_Stage] = []
    leaves: list[tuple[Places, Places, Counts]] = []

    def decided(depth: int) -> NDArray[np.intp]:
        """Which boxes of the front are split; the others are leaves."""
        split = front.decided(held, turns[depth % len(turns)], law, source)
        leaves.append((front.low[~split], front.high[~split], held[~split]))
        return np.flatnonzero(split)

    depth = 0
    going = decided(depth)
    while going.size:
        depths = _ahead(front.kept(going), lines, turns, depth, records.rows)
        numbers = np.arange(going.size)
        for below, counts in zip(depths, _tallied(records, stages, depths), strict=True):
            numbers = below.inside(numbers)
            front, held = below.boxes.kept(numbers), counts[numbers]
            depth += 1
            going = decided(depth)
            numbers = numbers[going]
            if not going.size:
                break
        stages.append(_Stage.of(depths, numbers))
    low, high, held = (np.concatenate(column) for column in zip(*leaves, strict=True))
    return Boxes(low, high), held


@dataclass(frozen=True, eq=False)
class _Front:
    """Boxes of one depth that may still be split.

    tests: how many decisions were made above each.
    """

    low: Places
    high: Places
    tests: Counts

    @classmethod
    def whole(cls, lines: Sequence[Line]) -> _Front:
        high = np.array([[line.size for line in lines]], np.int64)
        return cls(np.zeros_like(high), high, np.zeros(1, np.int64))

    def tested(self, together: Sequence[int]) -> NDArray[np.bool_]:
        """Which boxes can be halved along one of these columns."""
        return np.asarray((self.high - self.low > 1)[:, together].any(axis=1))

    def decided(
        self, held: Counts, together: Sequence[int], law: SplitLaw, source: Source
    ) -> NDArray[np.bool_]:
        """Which boxes go on: those that are to be split now, and those that wait for their turn."""
        on: NDArray[np.bool_] = np.asarray((self.high - self.low > 1).any(axis=1))
        tested = np.flatnonzero(self.tested(together))
        on[tested] = law.decide(held[tested], self.tests[tested], source)
        return on

    def kept(self, which: NDArray[np.intp]) -> _Front:
        return _Front(self.low[which], self.high[which], self.tests[which])


@dataclass(frozen=True, eq=False)
class _Depth:
    """All boxes one depth below some others, and how a record finds its own among them.

    parent: which of the boxes above each lies in.
    cuts: along which columns the boxes above are halved, one after the other, and where.
    onto: the number of the box that each half is; −1 for an empty half, which is no box.
    """

    boxes: _Front
    parent: Counts
    cuts: tuple[tuple[int, Places], ...]
    onto: Counts

    @classmethod
    def below(cls, above: _Front, together: Sequence[int], lines: Sequence[Line]) -> _Depth:
        """Halves every box along these columns, as far as they have two places or more."""
        low, high, parent = above.low, above.high, np.arange(len(above.low))
        cuts = []
        for j in together:
            first, last = low[:, j], high[:, j]
            cut = first + (last - first) // 2
            held = lines[j].size - lines[j].apart
            cut = np.where((first < held) & (held < last), held, cut)
            cut = np.where(last - first > 1, cut, last)
            cuts.append((j, cut))
            low, high, parent = (np.repeat(column, 2, axis=0) for column in (low, high, parent))
            high[::2, j], low[1::2, j] = cut, cut
        there = np.asarray((low < high).all(axis=1))
        tests = np.repeat(above.tests + above.tested(together), 2 ** len(together))
        boxes = _Front(low[there], high[there], tests[there])
        onto = np.where(there, np.cumsum(there) - 1, -1)
        return cls(boxes, parent[there], tuple(cuts), onto)

    def inside(self, numbers: Counts) -> Counts:
        """The boxes that lie in those of these numbers, which rise."""
        chosen = np.zeros(int(self.parent[-1]) + 1, bool)
        chosen[numbers] = True
        return np.flatnonzero(chosen[self.parent])

    def found(self, columns: Sequence[Places], box: Counts) -> Counts:
        """The box of each record, given that of the depth above."""
        for j, cut in self.cuts:
            box = 2 * box + (columns[j] >= cut[box])
        return np.asarray(self.onto[box])


@dataclass(frozen=True, eq=False)
class _Stage:
    """The depths that one pass looked ahead, and where each of the last boxes is on the front that
    was left; −1 for those in leaves."""

    depths: Sequence[_Depth]
    landing: Counts

    @classmethod
    def of(cls, depths: Sequence[_Depth], numbers: Counts) -> _Stage:
        landing = np.full(len(depths[-1].parent), -1, np.int64)
        landing[numbers] = np.arange(numbers.size)
        return cls(depths, landing)


def _turns(columns: int) -> list[list[int]]:
    """Which columns are halved together, in turn and again."""
    turns = -(-columns // _TOGETHER)
    return [list(range(turn, columns, turns)) for turn in range(turns)]


def _ahead(
    front: _Front, lines: Sequence[Line], turns: Sequence[list[int]], depth: int, rows: int
) -> list[_Depth]:
    """The depths below the front: at least one, and more while there are few boxes."""
    most = min(_AHEAD, 4 * rows)
    found = [_Depth.below(front, turns[depth % len(turns)], lines)]
    while True:
        depth += 1
        last, together = found[-1].boxes, turns[depth % len(turns)]
        wide = (last.high - last.low > 1).any()
        if not wide or len(last.low) << len(together) > most:
            return found
        found.append(_Depth.below(last, together, lines))


def _tallied(records: Passes, stages: Sequence[_Stage], depths: Sequence[_Depth]) -> list[Counts]:
    """How many records each box of these depths holds, in one pass."""
    many = len(depths[-1].parent)

    def counted(places: Places) -> Counts:
        columns = [np.ascontiguousarray(places[:, j]) for j in range(places.shape[1])]
        box = np.zeros(len(places), np.int64)
        for stage in stages:
            for below in stage.depths:
                box = below.found(columns, box)
            box = stage.landing[box]
            columns, box = [column[box >= 0] for column in columns], box[box >= 0]
        for below in depths:
            box = below.found(columns, box)
        return np.bincount(box, minlength=many)

    held = [records.sum(counted)]
    for below in reversed(depths[1:]):
        above = np.zeros(int(below.parent[-1]) + 1, np.int64)
        np.add.at(above, below.parent, held[-1])
        held.append(above)
    return held[::-1]
