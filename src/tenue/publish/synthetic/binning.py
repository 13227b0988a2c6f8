"""Few groups of a column's places, and where rows lie inside them.

A table of groups says how many rows each cell has. If more than independence would give are in the
next cell, then inside this one they are more likely near it, too: the departure from independence
is taken to be straight lines from cell to cell, not steps. It is made of a released table only.

Groups are made from released numbers, so they cost nothing, and never from rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...noise.source import Source
from .counts import Counts, Weights, uniforms
from .domain import Axis, Places
from .independent_columns import Margin

_FLAT = 1e-6
_LISTED = 1 << 16


def leanings(table: Weights, axis: int, *, blank: bool) -> Weights:
    """For each cell by how much its rows lean towards the next along an axis, in [−1, 1]: their
    density rises from 1 − lean at one end of the cell to 1 + lean at the other.

    blank: whether the last group has no neighbours, since it stands for missing values.
    """
    line = np.moveaxis(_over_independence(table), axis, 0)
    held = line.shape[0] - blank
    lean = np.zeros(line.shape)
    if held > 1:
        line = line[:held]
        between = (line[1:] + line[:-1]) / 2
        # beyond the last cell the line goes on as it came
        ends = np.maximum(2 * line[[0, -1]] - between[[0, -1]], 0.0)
        low = np.concatenate([ends[:1], between])
        high = np.concatenate([between, ends[1:]])
        lean[:held] = (high - low) / np.maximum(high + low, 1e-300)
    return np.moveaxis(lean, 0, axis)


def within(lean: Weights, source: Source) -> NDArray[np.float64]:
    """A position in [0, 1) for each row, by the straight density that it leans with."""
    rank = uniforms(lean.size, source)
    flat = np.abs(lean) < _FLAT
    steep = np.where(flat, 1.0, lean)
    leaning = (steep - 1 + np.sqrt((1 - steep) ** 2 + 4 * steep * rank)) / (2 * steep)
    return np.asarray(np.clip(np.where(flat, rank, leaning), 0.0, np.nextafter(1.0, 0.0)))


def along(table: NDArray[Any], axis: int) -> NDArray[Any]:
    """The sums over all axes but one, which the others keep as one cell."""
    others = tuple(i for i in range(table.ndim) if i != axis)
    return np.asarray(table.sum(axis=others, keepdims=True))


def _over_independence(table: Weights) -> Weights:
    ratio = table / table.sum()
    for axis in range(table.ndim):
        ratio = ratio / np.maximum(along(table, axis) / table.sum(), 1e-300)
    return np.asarray(ratio)


@dataclass(frozen=True)
class Binning:
    """The cells of a margin in few groups of about equal weight in its *noisy* distribution:
    neighbours together in an ordered column, rare ones in another; a blank alone.

    label: the group of each cell, numbered from 0.
    blank: whether the last group is of blanks.
    ordered: whether the groups follow each other on a line.
    """

    margin: Margin
    label: NDArray[np.int64]
    blank: bool = False
    ordered: bool = False

    @classmethod
    def of(
        cls, margin: Margin, *, ordered: bool, blank: bool, most: int, near: bool = False
    ) -> Binning:
        """At most `most` groups, one more for a blank.

        near: whether values of one group shall also lie near each other. Then long tails, which
            weigh little, are divided too.
        """
        weights = np.diff(margin.ends)
        held = weights.size - blank
        if held <= most:
            label = np.arange(held)
        elif ordered:
            label = np.zeros(held, np.int64)
            label[_starts(_nearness(margin, held) if near else weights[:held], most)[1:]] = 1
            label = np.cumsum(label)
        else:
            label = np.empty(held, np.int64)
            falling = np.argsort(-weights[:held], kind="stable")
            label[falling] = np.minimum(np.arange(held), most - 1)
        label = np.append(label, label.max() + 1) if blank else label
        return cls(margin, label, blank, ordered)

    @property
    def many(self) -> int:
        return int(self.label.max()) + 1

    @cached_property
    def weights(self) -> Weights:
        """The weight of each group, sum 1."""
        cells = np.diff(self.margin.ends)
        return np.bincount(self.label, weights=cells, minlength=self.many).astype(np.float64)

    def number(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The group of each place."""
        if self._of_place is not None:
            return np.asarray(self._of_place[places])
        cell = np.searchsorted(self.margin.edges, places, side="right") - 1
        return np.asarray(self.label[cell])

    @cached_property
    def _of_place(self) -> NDArray[np.int64] | None:
        """The group of every place, where there are not too many to list."""
        if self.margin.edges[-1] > _LISTED:
            return None
        return np.repeat(self.label, np.diff(self.margin.edges))

    def drawn(
        self, numbers: NDArray[np.int64], source: Source, lean: Weights | None = None
    ) -> NDArray[np.int64]:
        """A place in each of these groups, such that a group's places follow the margin.

        lean: of an ordered column, how each row leans towards the next group.
        """
        cells = np.argsort(self.label, kind="stable")
        ends = np.concatenate([[0.0], np.cumsum(np.diff(self.margin.ends)[cells])])
        begins = np.cumsum(self.weights) - self.weights
        order, sizes = by_group(numbers, self.many, source, lean)
        group = numbers[order]
        nth = np.arange(numbers.size) - (np.cumsum(sizes) - sizes)[group]
        inside = (nth + uniforms(numbers.size, source)) / sizes[group]
        rank = begins[group] + inside * self.weights[group]
        at = np.searchsorted(ends, rank, side="right") - 1
        # rounding at the end of a group must not lead into the next
        first = np.searchsorted(self.label[cells], group, side="left")
        last = np.searchsorted(self.label[cells], group, side="right") - 1
        cell = cells[np.clip(at, first, last)]
        width = np.diff(self.margin.edges)[cell]
        offset = (uniforms(numbers.size, source) * width).astype(np.int64)
        made = np.empty(numbers.size, np.int64)
        made[order] = self.margin.edges[cell] + np.minimum(offset, width - 1)
        return made


def binned(
    axis: Axis, margin: Margin, most: int, *, line: bool = False, near: bool = False
) -> Binning:
    """The groups of one column; a tree that was not split has no cell of blanks.

    line: whether it is taken for a line even if it is not ordered.
    """
    blank = axis.blank and int(margin.edges[-2]) == axis.held
    return Binning.of(margin, ordered=axis.ordered or line, blank=blank, most=most, near=near)


def numbered(groups: Sequence[Binning], places: Places) -> list[NDArray[np.int64]]:
    """The group of each record in each column."""
    return [group.number(places[:, j]) for j, group in enumerate(groups)]


def tabulated(numbers: Sequence[NDArray[np.int64]], groups: Sequence[Binning]) -> Counts:
    """How many records each cell has, given the group of each in each column."""
    shape = tuple(group.many for group in groups)
    cells = np.ravel_multi_index(tuple(numbers), shape)
    return np.bincount(cells, minlength=math.prod(shape)).reshape(shape)


def located(
    numbers: Sequence[NDArray[np.int64]],
    groups: Sequence[Binning],
    leans: Mapping[int, Weights],
    source: Source,
) -> Places:
    """A place of each row in each column, by its groups; each column follows its margin.

    leans: of each ordered column, how each row leans towards the next group.
    """
    columns = [
        forced(number, group.margin, source, leans[j])
        if j in leans
        else group.drawn(number, source)
        for j, (number, group) in enumerate(zip(numbers, groups, strict=True))
    ]
    return np.stack(columns, axis=1)


def forced(
    ranks: NDArray[np.int64], margin: Margin, source: Source, lean: Weights | None = None
) -> NDArray[np.int64]:
    """Places in the order of the ranks, distributed as the margin says; rows of one rank in random
    order, or as they lean towards the next rank."""
    rows = ranks.size
    order = np.argsort(ranks + (uniforms(rows, source) if lean is None else within(lean, source)))
    made = np.empty(rows, np.int64)
    made[order] = margin.quantile((np.arange(rows) + uniforms(rows, source)) / rows)
    return made


def by_group(
    numbers: NDArray[np.int64], many: int, source: Source, lean: Weights | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows group by group, inside a group in random order or as they lean towards the next;
    and how many each group has."""
    if lean is not None:
        return np.argsort(numbers + within(lean, source)), np.bincount(numbers, minlength=many)
    bits = max(many - 1, 1).bit_length()
    words = source.words(numbers.size, 64) >> np.uint64(bits)
    key = (numbers.astype(np.uint64) << np.uint64(64 - bits)) | words
    return np.argsort(key), np.bincount(numbers, minlength=many)


def _nearness(margin: Margin, held: int) -> Weights:
    """Half the weight of each cell, and half its part of Σ density^(1/3): groups of equal parts of
    that sum lose least in distance if each stands for its middle (Panter and Dite 1951)."""
    weights, width = np.diff(margin.ends)[:held], np.diff(margin.edges)[:held]
    far = np.cbrt(weights * width.astype(np.float64) ** 2)
    return np.asarray(weights / weights.sum() + far / far.sum()) / 2


def _starts(weights: Weights, most: int) -> NDArray[np.int64]:
    """The first pieces of at most `most` runs, fewer than there are pieces; a piece heavier than
    its share is a run by itself. Each run takes an equal part of what the runs before it have left.
    """
    ends = np.cumsum(weights)
    starts, first = [0], 0
    for left in range(most, 1, -1):
        taken = ends[first - 1] if first else 0.0
        wanted = taken + (ends[-1] - taken) / left
        after = int(np.searchsorted(ends, wanted, side="left"))
        # the piece in which the part ends goes to the nearer side
        if after > first and wanted - ends[after - 1] < ends[after] - wanted:
            after -= 1
        first = min(max(after + 1, first + 1), weights.size - 1)
        if first <= starts[-1]:
            break
        starts.append(first)
    return np.array(starts)
