"""Few groups of a column's places, of about equal weight in its *noisy* distribution.

Groups are made from what was released already, so they cost nothing, and never from rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...noise.exact import uniform
from ...noise.source import Source
from .column import Margin
from .counts import Counts, Weights, uniforms
from .domain import Axis

MOST_GROUPS = 16
"""Groups of a column in a table of several columns, at most; and two at least."""


@dataclass(frozen=True, eq=False)
class Groups:
    """A column's places, put together.

    order: all pieces of the margin, those of one group beside each other.
    starts: the first piece of each group in that order, and the end.
    """

    margin: Margin
    order: Counts
    starts: Counts

    @property
    def count(self) -> int:
        return self.starts.size - 1

    @property
    def weights(self) -> Weights:
        """The noisy weight of each group."""
        return np.asarray(np.add.reduceat(self.margin.weights[self.order], self.starts[:-1]))

    def codes(self, places: Counts) -> Counts:
        """The group of each place."""
        group = np.repeat(np.arange(self.count), np.diff(self.starts))
        of_piece = np.empty(self.order.size, np.int64)
        of_piece[self.order] = group
        return of_piece[np.searchsorted(self.margin.edges, places, side="right") - 1]

    def places(self, codes: Counts, source: Source) -> Counts:
        """A place for each code, spread over its group as the margin spreads its weight."""
        weights = self.margin.weights[self.order]
        ends = np.cumsum(weights)
        total = self.weights[codes]
        first = np.concatenate([[0.0], ends])[self.starts[:-1]][codes]
        # stratified: the i-th of m rows of a group draws from the i-th of m equal slices
        slice_, many = _ranks(codes, self.count, source)
        u = first + (slice_ + uniforms(codes.size, source)) / many[codes] * total
        last = self.starts[1:][codes] - 1
        piece = np.minimum(np.searchsorted(ends, u, side="right"), last)
        piece = np.maximum(piece, self.starts[:-1][codes])
        begin, width = self.margin.edges[:-1], np.diff(self.margin.edges)
        found = self.order[piece]
        return np.asarray(begin[found] + uniform(width[found], codes.size, source))


def _ranks(codes: Counts, count: int, source: Source) -> tuple[Counts, Counts]:
    """The place of each row among those of its code, in random order; and how many those are."""
    order = np.lexsort((source.words(codes.size, 64), codes))
    many = np.bincount(codes, minlength=count)
    begin = np.cumsum(many) - many
    ranks = np.empty(codes.size, np.int64)
    ranks[order] = np.arange(codes.size) - begin[codes[order]]
    return ranks, np.maximum(many, 1)


def grouped(axis: Axis, margin: Margin, most: int) -> Groups:
    """At most `most` groups: neighbours of about equal weight for a column with an order; else the
    heaviest places by themselves, and all the others together. A blank stands alone."""
    pieces = margin.weights.size
    if axis.ordered:
        blank = axis.blank and most > 2
        held = pieces - blank
        cuts = _cuts(margin.weights[:held], most - blank)
        starts = np.concatenate([cuts, [held], [pieces][: int(blank)]])
        return Groups(margin, np.arange(pieces), starts.astype(np.int64))
    if pieces <= most:
        return Groups(margin, np.arange(pieces), np.arange(pieces + 1))
    order = np.argsort(-margin.weights, kind="stable")
    starts = np.concatenate([np.arange(most), [pieces]])
    return Groups(margin, order, starts.astype(np.int64))


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
