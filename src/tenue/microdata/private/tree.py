"""A tree of boxes that is deep where many records are: noisy decisions, then noisy counts.

Boxes are halved at the middle of the declared domain, along up to four columns at a time; a blank
is set apart first, and a column of one place is not split. No edge is read from a row.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...noise.discrete_laplace import DiscreteLaplace
from ...noise.exact import uniform
from ...noise.source import Source
from ..permute import shuffled
from .counts import MOVED, Weights, apportioned, fitted, noisy
from .domain import Domain, Places
from .synthesis import Synthesis
from .tree_loss import SplitLaw

SPLITS = Fraction(3, 10)
"""The part of the budget of a tree that decides about splits; the rest is for counts."""

_TOGETHER = 4
"""Columns that are halved at once: 16 parts at most."""


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
    places: Places, lines: Sequence[Line], law: SplitLaw, source: Source
) -> tuple[Boxes, NDArray[np.int64]]:
    """The leaves of a tree, and how many rows each holds, which is secret.

    Guarantee
        The boxes are `law.loss`-differentially private: each follows from the domain and from the
        law's decisions alone.
    """
    front = _Front(places, lines)
    leaves: list[tuple[Places, Places, NDArray[np.int64]]] = []
    for together in _rounds(len(lines)):
        split = front.decided(together, law, source)
        leaves.append((front.low[~split], front.high[~split], front.counts[~split]))
        if not split.any():
            break
        front.keep(split)
        front.halve(together)
    low, high, counts = (np.concatenate(column) for column in zip(*leaves, strict=True))
    return Boxes(low, high), counts


class _Front:
    """The boxes of one depth that may still be split, and the box in which each row lies."""

    def __init__(self, places: Places, lines: Sequence[Line]) -> None:
        self.lines = lines
        self.low = np.zeros((1, len(lines)), np.int64)
        self.high = np.array([[line.size for line in lines]], np.int64)
        self.tests = np.zeros(1, np.int64)
        self.columns = [np.ascontiguousarray(places[:, j]) for j in range(len(lines))]
        self.box = np.zeros(places.shape[0], np.int64)
        self.counts = np.array([places.shape[0]], np.int64)

    def decided(self, together: list[int], law: SplitLaw, source: Source) -> NDArray[np.bool_]:
        """Which boxes go on: those that are to be split now, and those that wait for their turn."""
        wide = self.high - self.low > 1
        on: NDArray[np.bool_] = np.asarray(wide.any(axis=1))
        tested = np.flatnonzero(wide[:, together].any(axis=1))
        on[tested] = law.decide(self.counts[tested], self.tests[tested], source)
        self.tests[tested] += 1
        return on

    def keep(self, kept: NDArray[np.bool_]) -> None:
        if not kept.all():
            rows = kept[self.box]
            self.columns = [column[rows] for column in self.columns]
            self.box = (np.cumsum(kept) - 1)[self.box[rows]]
            self.low, self.high, self.tests = self.low[kept], self.high[kept], self.tests[kept]

    def halve(self, together: list[int]) -> None:
        """Halves every box along these columns, as far as they have two places or more."""
        for j in together:
            first, last = self.low[:, j], self.high[:, j]
            cut = first + (last - first) // 2
            held = self.lines[j].size - self.lines[j].apart
            cut = np.where((first < held) & (held < last), held, cut)
            cut = np.where(last - first > 1, cut, last)
            self.box = 2 * self.box + (self.columns[j] >= cut[self.box])
            self.low, self.high = np.repeat(self.low, 2, axis=0), np.repeat(self.high, 2, axis=0)
            self.high[::2, j], self.low[1::2, j] = cut, cut
        there = (self.low < self.high).all(axis=1)
        self.tests = np.repeat(self.tests, 2 ** len(together))[there]
        self.counts = np.bincount(self.box, minlength=there.size)[there]
        self.box = (np.cumsum(there) - 1)[self.box]
        self.low, self.high = self.low[there], self.high[there]


def _rounds(columns: int) -> Iterator[list[int]]:
    """Which columns are halved together, in turn and again."""
    turns = -(-columns // _TOGETHER)
    return itertools.cycle([list(range(turn, columns, turns)) for turn in range(turns)])


@dataclass(frozen=True, kw_only=True)
class Tree(Synthesis):
    """Rows drawn from boxes that a private tree cuts the whole domain into.

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
        planned = cls(domain=domain, rows=rows, epsilon=epsilon, **options)
        planned.law.require_within(SPLITS * epsilon)
        return planned

    @property
    def lines(self) -> tuple[Line, ...]:
        return tuple(Line(axis.size, int(axis.blank)) for axis in self.domain.axes)

    @property
    def law(self) -> SplitLaw:
        """How splits are decided."""
        return SplitLaw.within(SPLITS * self.epsilon, parts(self.lines))

    def draw(self, places: Places, source: Source) -> Places:
        boxes, weights = weighed(places, self.lines, self.epsilon, source)
        made = boxes.drawn(apportioned(weights, self.rows, source), source)
        return np.asarray(made[shuffled(self.rows, source)])

    @property
    def expected_error(self) -> float:
        return tree_error(self.lines, self.rows, self.epsilon)

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
    places: Places, lines: Sequence[Line], epsilon: Fraction, source: Source
) -> tuple[Boxes, Weights]:
    """The leaves of a tree and how many rows each is taken to hold, none below 0.

    Guarantee
        `epsilon`-differential privacy for one record that is replaced.
    """
    law = SplitLaw.within(SPLITS * epsilon, parts(lines))
    boxes, counts = grown(places, lines, law, source)
    released = noisy(counts, (1 - SPLITS) * epsilon, source)
    return boxes, fitted(released, max(places.shape[0], 1))


def tree_error(lines: Sequence[Line], rows: int, epsilon: Fraction) -> float:
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
