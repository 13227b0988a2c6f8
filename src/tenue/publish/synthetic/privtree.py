"""A tree of boxes that is deep where many records are: noisy decisions, then noisy counts.

A box that holds c records and lies below t earlier decisions is split if

    max(c − t·bias, −bias) + noise > 0,

with noise of mass proportional to e^(−rate·|k|) on whole numbers. A record is counted by the boxes
of one path only. Along a path counts never rise and t rises by one, so the biased counts x fall by
`bias` or more from one decision to the next, down to −bias, where they no longer follow the record.

Boxes are halved at the middle of the declared domain, along up to four columns at a time; a blank
is set apart first, and a column of one place is not split. No edge depends on a row, so that one
pass can count the records in boxes several depths ahead of the decisions about them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...engine.contract import Passes
from ...errors import refuse
from ...noise.discrete_laplace import DiscreteLaplace
from ...noise.enclosure import exp_minus
from ...noise.samplers import uniform
from ...noise.source import Source
from ..permute import shuffled
from .counts import MOVED, Counts, Weights, apportioned, fitted, noisy
from .domain import Domain, Places
from .synthesis import Synthesis

SPLITS = Fraction(3, 10)
"""The part of the budget of a tree that decides about splits; the rest is for counts."""

_BITS = 128
_TERMS = 12
_FINENESS = 1024
_TOGETHER = 4
"""Columns that are halved at once: 16 parts at most."""
_AHEAD = 1 << 18
"""One pass looks as deep as it can with so many boxes, or one depth further."""


@dataclass(frozen=True)
class SplitLaw:
    """Decides which boxes are split; the same law for every box of a tree.

    Guarantee
        All decisions of a tree together are `loss`-differentially private when one record is
        replaced by another and the number of records is public, whatever the fan-outs are.
    """

    rate: Fraction
    bias: int

    @classmethod
    @lru_cache(maxsize=256)
    def within(cls, budget: Fraction, fan_out: int) -> SplitLaw:
        """The law with the least noise whose loss keeps within the budget.

        `fan_out` is the greatest number of parts of a box. The bias is large enough for empty boxes
        to have less than half an offspring on average, so that noise alone grows no tree.
        """
        rates = (budget * k / _FINENESS for k in range(_FINENESS // 3, _FINENESS // 4, -1))
        laws = [cls(rate, math.ceil(math.log(fan_out) / float(rate))) for rate in rates]
        return next((law for law in laws if law.loss <= budget), laws[-1]).require_within(budget)

    @cached_property
    def loss(self) -> Fraction:
        """An upper bound on the log-ratio of the law of all decisions, and hardly above it.

        The record that leaves lowers the counts of one path, the one that enters raises those of
        another, and boxes that hold both are as before. Let a = e^-rate and f(x) the probability of
        a split. Where a record left, splits became less likely, and only the last box of the path,
        which is not split, contributes, by (1 − f(x−1))/(1 − f(x)) ≤ 1/a. Where one entered, the
        splits contribute, each f(x+1)/f(x): 1/a for −bias ≤ x ≤ 0, falling for x > 0, and nothing
        below. So the worst path meets −bias, 0, bias, 2·bias and so on.
        """
        return 3 * self.rate + self._above

    @property
    def _above(self) -> Fraction:
        """A bound on Σ ln(f(x+1)/f(x)) over x = bias, 2·bias, …, f(x) = 1 − a^x/(1+a)."""
        low, _ = self._power(1)
        total = Fraction(0)
        for m in range(1, _TERMS + 1):
            _, fallen = self._power(m * self.bias)
            ratio = fallen * (1 - low) / (1 + low - fallen)
            total += ratio - ratio**2 / 2 + ratio**3 / 3  # ln(1 + ratio) is less
        _, step = self._power(self.bias)
        return total + fallen * step / (1 - step) * (1 - low) / (1 + low - step)

    def _power(self, steps: int) -> tuple[Fraction, Fraction]:
        power = exp_minus(self.rate * steps, _BITS)
        return Fraction(power.low, 1 << _BITS), Fraction(power.high, 1 << _BITS)

    def require_within(self, budget: Fraction) -> SplitLaw:
        """Refuses a law whose decisions cost more than the budget."""
        if self.loss > budget:
            raise refuse(
                "publish.tree-decisions-over-budget", loss=float(self.loss), budget=float(budget)
            )
        return self

    def decide(
        self, counts: NDArray[np.int64], tests: NDArray[np.int64], source: Source
    ) -> NDArray[np.bool_]:
        """Which boxes are split, given the number of records of each and of decisions above it."""
        noise = DiscreteLaplace(sensitivity=1, epsilon=self.rate).steps(counts.size, source=source)
        biased = np.maximum(counts - tests * self.bias, -self.bias)
        return np.asarray(biased + noise > 0)

    def depth(self, rows: int, fan_out: int) -> int:
        """How often boxes are split where records are spread evenly, without noise."""
        depth = 0
        while rows > fan_out**depth * max(depth, 1) * self.bias:
            depth += 1
        return depth


@dataclass(frozen=True)
class SplitLine:
    """The places of one column that a tree splits. The last `apart` of them, which stand for
    blanks, are separated before anything else."""

    size: int
    apart: int = 0


@dataclass(frozen=True)
class Boxes:
    """Boxes of places that do not overlap and cover the domain: low ≤ place < high."""

    low: Places
    high: Places

    @property
    def many(self) -> int:
        return len(self.low)

    def drawn(self, counts: NDArray[np.int64], source: Source) -> Places:
        """That many rows of each box, every place of a box equally likely."""
        width = self.high - self.low
        made = np.repeat(self.low, counts, axis=0)
        for j in range(self.low.shape[1]):
            made[:, j] += uniform(np.repeat(width[:, j], counts), made.shape[0], source)
        return made


def parts(lines: Sequence[SplitLine]) -> int:
    """The greatest number of parts of one box; at least 2."""
    wide = sum(line.size > 1 for line in lines)
    return 1 << max(1, min(_TOGETHER, wide))


def grown(
    records: Passes, lines: Sequence[SplitLine], law: SplitLaw, source: Source
) -> tuple[Boxes, Counts]:
    """The leaves of a tree, and the number of records of each, which is secret.

    Guarantee
        The boxes are `law.loss`-differentially private: each follows from the domain and from the
        law's decisions alone.
    """
    many = -(-len(lines) // _TOGETHER)
    turns = [list(range(turn, len(lines), many)) for turn in range(many)]
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
        landing = np.full(len(depths[-1].parent), -1, np.int64)
        landing[numbers] = np.arange(numbers.size)
        stages.append((depths, landing))
    low, high, held = (np.concatenate(column) for column in zip(*leaves, strict=True))
    return Boxes(low, high), held


@dataclass(frozen=True, eq=False)
class _Front(Boxes):
    """Boxes of one depth that may still be split.

    tests: how many decisions were made above each.
    """

    tests: Counts

    @classmethod
    def whole(cls, lines: Sequence[SplitLine]) -> _Front:
        high = np.array([[line.size for line in lines]], np.int64)
        return cls(np.zeros_like(high), high, np.zeros(1, np.int64))

    def tested(self, together: Sequence[int]) -> NDArray[np.bool_]:
        """Which boxes can be halved along one of these columns."""
        return np.asarray((self.high - self.low > 1)[:, together].any(axis=1))

    def decided(
        self, held: Counts, together: Sequence[int], law: SplitLaw, source: Source
    ) -> NDArray[np.bool_]:
        """Which boxes are no leaves: those split now, and those that wait for their turn."""
        split: NDArray[np.bool_] = np.asarray((self.high - self.low > 1).any(axis=1))
        tested = np.flatnonzero(self.tested(together))
        split[tested] = law.decide(held[tested], self.tests[tested], source)
        return split

    def kept(self, which: NDArray[np.intp]) -> _Front:
        return _Front(self.low[which], self.high[which], self.tests[which])


@dataclass(frozen=True, eq=False)
class _Depth:
    """All boxes one depth below some others, and how to find the box of a record.

    parent: which of the boxes above each lies in.
    edges: along which columns the boxes above are halved, one after the other, and where.
    onto: the box of each half; −1 for an empty half, which is no box.
    """

    boxes: _Front
    parent: Counts
    edges: tuple[tuple[int, Places], ...]
    onto: Counts

    @classmethod
    def below(cls, above: _Front, together: Sequence[int], lines: Sequence[SplitLine]) -> _Depth:
        """Halves every box along these columns, as far as they have two places or more."""
        low, high, parent = above.low, above.high, np.arange(len(above.low))
        edges = []
        for j in together:
            first, last = low[:, j], high[:, j]
            held = lines[j].size - lines[j].apart
            middle = first + (last - first) // 2
            edge = np.where((first < held) & (held < last), held, middle)
            edge = np.where(last - first > 1, edge, last)
            edges.append((j, edge))
            low, high, parent = (np.repeat(column, 2, axis=0) for column in (low, high, parent))
            high[::2, j], low[1::2, j] = edge, edge
        exists = np.asarray((low < high).all(axis=1))
        tests = np.repeat(above.tests + above.tested(together), 2 ** len(together))
        boxes = _Front(low[exists], high[exists], tests[exists])
        onto = np.where(exists, np.cumsum(exists) - 1, -1)
        return cls(boxes, parent[exists], tuple(edges), onto)

    def inside(self, numbers: Counts) -> Counts:
        """The boxes inside those of these numbers, which rise."""
        chosen = np.zeros(int(self.parent[-1]) + 1, bool)
        chosen[numbers] = True
        return np.flatnonzero(chosen[self.parent])

    def found(self, columns: Sequence[Places], box: Counts) -> Counts:
        """The box of each record, given its box of the depth above."""
        for j, edge in self.edges:
            box = 2 * box + (columns[j] >= edge[box])
        return np.asarray(self.onto[box])


_Stage = tuple[Sequence[_Depth], Counts]
"""The depths that one pass counted, and the position of each of the last boxes on the front; −1 for
those in leaves."""


def _ahead(
    front: _Front, lines: Sequence[SplitLine], turns: Sequence[list[int]], depth: int, rows: int
) -> list[_Depth]:
    """The depths below the front: at least one, and more while there are few boxes."""
    most = min(_AHEAD, 4 * rows)
    depths = [_Depth.below(front, turns[depth % len(turns)], lines)]
    while True:
        depth += 1
        last, together = depths[-1].boxes, turns[depth % len(turns)]
        wide = (last.high - last.low > 1).any()
        if not wide or len(last.low) << len(together) > most:
            return depths
        depths.append(_Depth.below(last, together, lines))


def _tallied(records: Passes, stages: Sequence[_Stage], depths: Sequence[_Depth]) -> list[Counts]:
    """The number of records of each box of these depths, in one pass."""
    many = len(depths[-1].parent)

    def counted(places: Places) -> Counts:
        columns = [np.ascontiguousarray(places[:, j]) for j in range(places.shape[1])]
        box = np.zeros(len(places), np.int64)
        for earlier, landing in stages:
            for below in earlier:
                box = below.found(columns, box)
            box = landing[box]
            columns, box = [column[box >= 0] for column in columns], box[box >= 0]
        for below in depths:
            box = below.found(columns, box)
        return np.bincount(box, minlength=many)

    counts = [records.sum(counted)]
    for below in reversed(depths[1:]):
        above = np.zeros(int(below.parent[-1]) + 1, np.int64)
        np.add.at(above, below.parent, counts[-1])
        counts.append(above)
    return counts[::-1]


@dataclass(frozen=True)
class Leaves:
    """Rows from the boxes of a tree, by their weights."""

    boxes: Boxes
    weights: Weights

    def block(self, rows: range, source: Source) -> Places:
        made = self.boxes.drawn(apportioned(self.weights, len(rows), source), source)
        return np.asarray(made[shuffled(len(rows), source)])


@dataclass(frozen=True, kw_only=True)
class Tree(Synthesis):
    """Rows drawn from the boxes into which a private tree divides the domain.

    Guarantee
        `epsilon`-differential privacy for one record that takes any other value: decisions about
        splits keep within three tenths of it, and the counts of leaves, which a record moves by 2
        in all, have the rest.

    Source
        Zhang, Xiao and Xie 2016 (PrivTree); for whole numbers and replaced records: `SplitLaw`.
    """

    name: ClassVar[str] = "tree"
    mechanism: ClassVar[str] = "tree of boxes with noisy decisions and noisy counts"
    source: ClassVar[str] = "Zhang, Xiao and Xie 2016, with the exact loss for whole numbers"

    @classmethod
    def planned(cls, domain: Domain, rows: int, epsilon: Fraction, **options: Any) -> Self:
        planned = super().planned(domain, rows, epsilon, **options)
        planned.law.require_within(SPLITS * epsilon)
        return planned

    @property
    def lines(self) -> tuple[SplitLine, ...]:
        return tuple(SplitLine(axis.size, int(axis.blank)) for axis in self.domain.axes)

    @property
    def law(self) -> SplitLaw:
        return SplitLaw.within(SPLITS * self.epsilon, parts(self.lines))

    def release(self, records: Passes, source: Source) -> Leaves:
        return Leaves(*weighed(records, self.lines, self.epsilon, source))

    @property
    def expected_error(self) -> float:
        return tree_error(self.lines, self.rows, self.epsilon)

    @property
    def least_epsilon(self) -> Fraction:
        return tree_least(self.epsilon)

    @property
    def parameters(self) -> Mapping[str, str]:
        counts = DiscreteLaplace(sensitivity=MOVED, epsilon=(1 - SPLITS) * self.epsilon)
        return {
            "splits": (
                "Whether a box is halved is decided with noise of scale "
                f"{float(1 / self.law.rate):.6g}, {self.law.bias} records harder with every level, "
                f"for epsilon {float(SPLITS * self.epsilon):.6g}."
            ),
            "counts": (
                f"The number of records in a box has noise of scale {counts.scale:.6g}, "
                f"for epsilon {float((1 - SPLITS) * self.epsilon):.6g}."
            ),
        }

    @property
    def limits(self) -> Sequence[str]:
        return ("Inside a box of the tree all values are equally likely, whatever they were.",)


def weighed(
    records: Passes, lines: Sequence[SplitLine], epsilon: Fraction, source: Source
) -> tuple[Boxes, Weights]:
    """The leaves of a tree and their weights, none below 0, which sum to the number of rows.

    Guarantee
        `epsilon`-differential privacy for one record that is replaced.
    """
    law = SplitLaw.within(SPLITS * epsilon, parts(lines))
    boxes, counts = grown(records, lines, law, source)
    released = noisy(counts, (1 - SPLITS) * epsilon, source)
    return boxes, fitted(released, max(records.rows, 1))


def tree_least(epsilon: Fraction) -> Fraction:
    """`Synthesis.least_epsilon` of a tree: no decision gets less than a quarter of its part."""
    return SPLITS * epsilon / 4


def tree_error(lines: Sequence[SplitLine], rows: int, epsilon: Fraction) -> float:
    """`Synthesis.expected_error` of a tree: noise of the leaves inside an interval, and the rows
    of the leaves at its two ends."""
    many = parts(lines)
    depth = SplitLaw.within(SPLITS * epsilon, many).depth(rows, many)
    sd = math.sqrt(DiscreteLaplace(sensitivity=MOVED, epsilon=(1 - SPLITS) * epsilon).variance)
    most = math.prod(min(line.size, 2**depth) for line in lines)
    leaves = min(float(many) ** depth, most)
    noise = interval_error(leaves, sd, rows)
    ends = math.sqrt(2 / 6 * 2.0**-depth / rows)
    return math.hypot(noise, ends)


def interval_error(cells: float, sd: float, rows: int) -> float:
    """The mean absolute error of the share of a random interval of `cells` cells with independent
    noise that is then fitted to the number of rows: √(2/π)·sd·√cells·E√(p(1 − p)), p the share."""
    return math.sqrt(2 / math.pi) * math.pi / 8 * sd * math.sqrt(cells) / rows
