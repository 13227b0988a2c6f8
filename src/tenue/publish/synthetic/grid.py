"""Noisy counts of every combination of groups of some columns: a grid.

A grid says how its columns depend on each other. It also counts each of them once more, in few
groups, and so improves their margins. Everything that follows its noise is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...engine.contract import Passes
from ...noise.source import Source
from ..permute import shuffled
from .binning import Binning, leanings, located
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
    """The groups with margins that take the counts of the grids into account."""
    result = []
    for j, (column, group) in enumerate(zip(measured, groups, strict=True)):
        counts = [grid.about(j) for grid in grids if j in grid.columns]
        if counts:
            precision = np.array([1 / variance for _, variance in counts])
            # each grid has all rows, whatever its noise sums to
            fair = [totals + (column.rows - totals.sum()) / totals.size for totals, _ in counts]
            totals = precision @ np.array(fair) / precision.sum()
            margin = column.refined(group.label, totals, 1 / float(precision.sum()))
            group = replace(group, margin=margin)
        result.append(group)
    return result


def independent(groups: Sequence[Binning], rows: float) -> Weights:
    """The grid of these columns if they were independent of each other."""
    expected = np.array(float(rows))
    for group in groups:
        expected = np.multiply.outer(expected, group.weights)
    return expected


@dataclass(frozen=True)
class Gridded:
    """Rows whose columns follow their margins; those of the table depend on each other as it says,
    the others on nothing.

    columns: of the table, one for each of its axes.
    ordered: whether each of them is a line, on which rows lean towards the next group.
    """

    table: Weights
    columns: Sequence[int]
    groups: Sequence[Binning]
    ordered: Sequence[bool]

    def block(self, rows: range, source: Source) -> Places:
        size = len(rows)
        cell = np.repeat(np.arange(self.table.size), apportioned(self.table, size, source).ravel())
        cell = cell[shuffled(size, source)]
        made = np.empty((size, len(self.groups)), np.int64)
        for j, group in enumerate(self.groups):
            if j not in self.columns:
                made[:, j] = group.margin.sample(size, source)
        numbers = np.unravel_index(cell, self.table.shape)
        groups = [self.groups[j] for j in self.columns]
        leans = {axis: lean[cell] for axis, lean in self._leanings.items()}
        made[:, list(self.columns)] = located(numbers, groups, leans, source)
        return made

    @cached_property
    def _leanings(self) -> dict[int, Weights]:
        """How the rows of each cell lean, along each ordered axis."""
        return {
            axis: leanings(self.table, axis, blank=self.groups[j].blank).ravel()
            for axis, (j, line) in enumerate(zip(self.columns, self.ordered, strict=True))
            if line
        }
