"""Noisy counts of every combination of groups of some columns: a grid.

A grid says how its columns depend on each other. It also counts each of them once more, in few
groups, and so improves their margins. Everything that follows its noise is post-processing.

Columns of numbers are looked at coarsely first, two and two groups together again and again: an
effect that is small in every cell, but the same in many, is seen there. What was found there stays:
a closer look only shares it out. So the noise of many cells that are nearly empty, of which only
the part above 0 could be kept, adds no rows to regions that have none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, reduce

import numpy as np

from ...engine.contract import Passes
from ...noise.source import Source
from ..permute import shuffled
from .binning import Binning, along, leanings, located, numbered, tabulated
from .counts import Counts, Weights, apportioned, noisy, variance
from .domain import Places
from .independent_columns import Measured

_BETWEEN, _LAST = 10, 30
"""Sweeps that fit the margins after each look, and after the last."""
_LEAST = 1e-6
"""The part of what is expected of a cell that it keeps, whatever the noise says."""


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
        totals = along(self.counts, self.columns.index(column)).ravel()
        return totals.astype(np.float64), self.variance * self.counts.size / totals.size

    def table(self, groups: Sequence[Binning], rows: int) -> Weights:
        """The table that rows are drawn from, whose margins are those of the groups.

        groups: of all columns.
        """
        axes = [groups[j] for j in self.columns]
        expected, scale = independent(axes, max(rows, 1)), math.sqrt(self.variance / 2)
        return dependent(self.counts, expected, scale, [axis.ordered for axis in axes])


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
    axes = [groups[j] for j in columns]
    counts = records.only(*columns).sum(lambda places: tabulated(numbered(axes, places), axes))
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
    return reduce(np.multiply.outer, (group.weights for group in groups), np.array(float(rows)))


def dependent(
    counts: Counts | Weights, expected: Weights, scale: float, ordered: Sequence[bool]
) -> Weights:
    """The table that rows are drawn from: the expected one, and as much of the noisy departure from
    it as is not likely to be noise; its margins are those of the expected table.

    scale: of the noise of each count.
    """
    expected = np.maximum(expected, 1e-9 * expected.sum() / expected.size)
    halvings = [
        max((size - 1).bit_length() - 1, 0) if line else 0
        for size, line in zip(expected.shape, ordered, strict=True)
    ]
    whole = [np.zeros(size, np.int64) for size in expected.shape]
    above, table, wanted = whole, _summed(expected, whole), _summed(expected, whole)
    for level in reversed(range(max(halvings) + 1)):
        parts = [
            np.arange(size) >> min(level, most)
            for size, most in zip(expected.shape, halvings, strict=True)
        ]
        inside = np.ix_(*(far[_begins(near)] for far, near in zip(above, parts, strict=True)))
        here, seen = _summed(expected, parts), _summed(counts, parts)
        cells = _summed(np.ones(expected.shape), parts)
        likely = here * (table / wanted)[inside]
        apart = _centred(seen - likely)
        shared = _shared(likely + _surely(apart, scale * np.sqrt(cells)), table, inside)
        margins = {axis: along(here, axis) for axis in reversed(range(here.ndim))}
        table = raked(np.maximum(shared, _LEAST * likely), margins, _BETWEEN if level else _LAST)
        above, wanted = parts, here
    return table


def _surely(apart: Weights, noise: Weights) -> Weights:
    """Keeps nothing of departures within the scale of their noise, and nearly all far beyond it
    (Breiman 1995, the garrote)."""
    beyond = np.abs(apart) > noise
    over = np.where(beyond, apart, 1.0)
    return np.asarray(np.where(beyond, apart - noise * (noise / over), 0.0))


def _begins(part: Counts) -> Counts:
    return np.flatnonzero(np.diff(part, prepend=-1))


def _summed(table: Weights | Counts, parts: Sequence[Counts]) -> Weights:
    sums = np.asarray(table, np.float64)
    for axis, part in enumerate(parts):
        sums = np.add.reduceat(sums, _begins(part), axis=axis)
    return sums


def _centred(apart: Weights) -> Weights:
    """Removes what would change a margin, which is known better."""
    for axis in range(apart.ndim):
        apart = apart - along(apart, axis) * (apart.shape[axis] / apart.size)
    return apart


def _shared(values: Weights, totals: Weights, inside: tuple[Counts, ...]) -> Weights:
    """The nearest numbers that are none below 0 and, over the cells inside each coarser cell, sum
    to its total."""
    owner = np.arange(totals.size).reshape(totals.shape)[inside].ravel()
    order = np.argsort(owner, kind="stable")
    sizes = np.bincount(owner, minlength=totals.size)
    nth = np.arange(owner.size) - (np.cumsum(sizes) - sizes)[owner[order]]
    rows = np.full((totals.size, sizes.max()), -np.inf)
    rows[owner[order], nth] = values.ravel()[order]
    falling = -np.sort(-rows, axis=1)
    many = np.arange(1, sizes.max() + 1)
    excess = (np.cumsum(falling, axis=1) - totals.reshape(-1, 1)) / many
    # one is kept, also of a total that rounding swallows
    last = np.maximum(np.count_nonzero(falling > excess, axis=1) - 1, 0)
    rows = np.maximum(rows - np.take_along_axis(excess, last[:, None], axis=1), 0.0)
    shared = np.empty(owner.size)
    shared[order] = rows[owner[order], nth]
    return shared.reshape(values.shape)


def raked(table: Weights, wanted: Mapping[int, Weights], sweeps: int) -> Weights:
    """The table scaled to these sums along its axes, one after the other: the last ones exactly,
    the others as nearly as possible."""
    for _ in range(sweeps):
        for axis, sums in wanted.items():
            table = table * (sums / along(table, axis).clip(1e-300))
    return table


@dataclass(frozen=True)
class Gridded:
    """Rows whose columns follow their margins; those of the table depend on each other as it says,
    the others on nothing.

    columns: of the table, one for each of its axes.
    """

    table: Weights
    columns: Sequence[int]
    groups: Sequence[Binning]

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
            for axis, j in enumerate(self.columns)
            if self.groups[j].ordered
        }
