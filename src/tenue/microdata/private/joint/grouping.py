"""Few groups of a column's places, of about equal weight in its *noisy* distribution.

Groups are made from what was released already, so they cost nothing, and never from rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ....noise.source import Source
from ..column import Margin
from ..counts import Weights, uniforms
from ..domain import Domain, Places
from .leaning import within

_LISTED = 1 << 16


@dataclass(frozen=True)
class Groups:
    """The cells of a margin in few groups: neighbours together in an ordered column, rare ones in
    another; a blank alone.

    label: the group of each cell, numbered from 0.
    blank: whether the last group is of blanks.
    """

    margin: Margin
    label: NDArray[np.int64]
    blank: bool = False

    @classmethod
    def of(
        cls, margin: Margin, *, ordered: bool, blank: bool, most: int, near: bool = False
    ) -> Groups:
        """At most `most` groups, one more for a blank.

        near: whether values of one group shall also lie near each other. Then long tails, which
            weigh little, are cut too.
        """
        weights = np.diff(margin.ends)
        held = weights.size - blank
        if held <= most:
            label = np.arange(held)
        elif ordered:
            label = np.zeros(held, np.int64)
            cut_by = _nearness(margin, held) if near else weights[:held]
            label[_cuts(cut_by, most)[1:]] = 1
            label = np.cumsum(label)
        else:
            label = np.empty(held, np.int64)
            falling = np.argsort(-weights[:held], kind="stable")
            label[falling] = np.minimum(np.arange(held), most - 1)
        return cls(margin, np.append(label, label.max() + 1) if blank else label, blank)

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
        order, held = by_group(numbers, self.many, source, lean)
        group = numbers[order]
        nth = np.arange(numbers.size) - (np.cumsum(held) - held)[group]
        inside = (nth + uniforms(numbers.size, source)) / held[group]
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


def grouped(
    domain: Domain,
    margins: Sequence[Margin],
    ordered: Sequence[bool],
    most: int,
    *,
    near: bool = False,
) -> list[Groups]:
    """The groups of each column; a tree that was not split has no cell of blanks."""
    return [
        Groups.of(
            margin,
            ordered=line,
            blank=axis.blank and int(margin.edges[-2]) == axis.held,
            most=most,
            near=near,
        )
        for axis, margin, line in zip(domain.axes, margins, ordered, strict=True)
    ]


def numbered(groups: Sequence[Groups]) -> Callable[[Places], Places]:
    """What gives the group of each record in each column."""

    def of(places: Places) -> Places:
        return np.stack([group.number(places[:, j]) for j, group in enumerate(groups)], axis=1)

    return of


def located(
    numbers: Sequence[NDArray[np.int64]],
    groups: Sequence[Groups],
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
    that lose least in distance if each stands for its middle (Panter and Dite 1951)."""
    weights, width = np.diff(margin.ends)[:held], np.diff(margin.edges)[:held]
    far = np.cbrt(weights * width.astype(np.float64) ** 2)
    return np.asarray(weights / weights.sum() + far / far.sum()) / 2


def _cuts(weights: Weights, most: int) -> NDArray[np.int64]:
    """The first pieces of at most `most` runs; a piece heavier than its share is a run by itself.

    Each run takes an equal part of what the runs before it have left.
    """
    if weights.size <= most:
        return np.arange(weights.size)
    ends = np.cumsum(weights)
    cuts, first = [0], 0
    for left in range(most, 1, -1):
        taken = ends[first - 1] if first else 0.0
        wanted = taken + (ends[-1] - taken) / left
        after = int(np.searchsorted(ends, wanted, side="left"))
        # the piece in which the part ends goes to the nearer side
        if after > first and wanted - ends[after - 1] < ends[after] - wanted:
            after -= 1
        first = min(max(after + 1, first + 1), weights.size - 1)
        if first <= cuts[-1]:
            break
        cuts.append(first)
    return np.array(cuts)
