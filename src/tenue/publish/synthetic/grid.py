"""Noisy counts of every combination of groups of some columns: a grid.

A grid says how its columns depend on each other. It also counts each of them once more, in few
groups, and so makes their margins better. Everything that follows its noise is free.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ...engine.contract import Passes
from ...noise.source import Source
from ..permute import shuffled
from .binning import Binning, forced, leanings
from .counts import Counts, Weights, apportioned, noisy, variance
from .domain import Places
from .independent_columns import Measured


@dataclass(frozen=True)
class Grid:
    """Noisy counts of cells, which are released.

    columns: their numbers; one axis of `counts` for each, one cell of an axis for each group.
    variance: of each count.
    """

    columns: tuple[int, ...]
    counts: Counts
    variance: float

    def about(self, column: int) -> tuple[Weights, float]:
        """The totals of the groups of one column, and the variance of each."""
        here = self.columns.index(column)
        totals = self.counts.sum(axis=tuple(i for i in range(self.counts.ndim) if i != here))
        return totals.astype(np.float64), self.variance * self.counts.size / totals.size


def private_grid(
    records: Passes,
    columns: Sequence[int],
    groups: Sequence[Binning],
    epsilon: Fraction,
    source: Source,
) -> Grid:
    """The grid of these columns, in groups that are released already.

    Guarantee
        `epsilon`-differential privacy for one record that is replaced: it leaves one cell and
        enters another, and every cell has noise, empty ones too.
    """
    shape = tuple(groups[j].many for j in columns)

    def counted(places: Places) -> Counts:
        numbers = [groups[j].number(places[:, i]) for i, j in enumerate(columns)]
        return np.bincount(np.ravel_multi_index(numbers, shape), minlength=math.prod(shape))

    counts = records.only(*columns).sum(counted).reshape(shape)
    return Grid(tuple(columns), noisy(counts, epsilon, source), variance(epsilon))


def refined(
    measured: Sequence[Measured], groups: Sequence[Binning], grids: Sequence[Grid]
) -> list[Binning]:
    """The groups with margins that count what the grids tell of them."""
    found = []
    for j, (column, group) in enumerate(zip(measured, groups, strict=True)):
        told = [grid.about(j) for grid in grids if j in grid.columns]
        if told:
            sure = np.array([1 / variance for _, variance in told])
            # each grid has all rows, whatever its noise sums to
            fair = [totals + (column.rows - totals.sum()) / totals.size for totals, _ in told]
            totals = sure @ np.array(fair) / sure.sum()
            margin = column.refined(group.label, totals, 1 / float(sure.sum()))
            group = replace(group, margin=margin)
        found.append(group)
    return found


def independent(groups: Sequence[Binning], rows: int) -> Weights:
    """What a grid of these columns would be if they had nothing to do with each other."""
    found = np.array(float(rows))
    for group in groups:
        found = np.multiply.outer(found, group.weights)
    return found


@dataclass(frozen=True)
class Gridded:
    """Rows whose columns follow their margins; those of the grid depend as it says, others on
    nothing.

    columns: of the grid, which are ordered.
    """

    table: Weights
    columns: Sequence[int]
    groups: Sequence[Binning]

    def block(self, rows: range, source: Source) -> Places:
        size = len(rows)
        made = np.empty((size, len(self.groups)), np.int64)
        held = np.repeat(np.arange(self.table.size), apportioned(self.table, size, source).ravel())
        held = held[shuffled(size, source)]
        cells = np.unravel_index(held, self.table.shape)
        for j, group in enumerate(self.groups):
            if j not in self.columns:
                made[:, j] = group.margin.sample(size, source)
        for axis, (j, numbers) in enumerate(zip(self.columns, cells, strict=True)):
            lean = leanings(self.table, axis, blank=self.groups[j].blank).ravel()[held]
            made[:, j] = forced(numbers, self.groups[j].margin, source, lean)
        return made
