"""Noisy tables of every two of few columns, and one table of all of them that agrees with each.

With many rows a spanning tree misses more by the pairs that it leaves out than noise does harm.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ....engine.contract import Passes
from ....noise.source import Source
from ...permute import shuffled
from ..column import Measured
from ..counts import Weights, apportioned, noisy, variance
from ..domain import Domain, Places
from .grid import Grid, independent, refined
from .grouping import Groups, grouped, located, numbered
from .leaning import leanings
from .pair_tables import Pair, crossed, tables_of

_ROWS_A_CELL = 24
_MOST_GROUPS = 32
_SWEEPS = 30
_NEAR = 1e-4
"""Shares of rows by which the table of all columns may miss a table of two."""


@dataclass(frozen=True)
class AllPairs:
    """Counts every pair of columns.

    Guarantee
        `epsilon`-differential privacy for one record that is replaced, given private margins: each
        of the D·(D − 1)/2 tables has noise for a record that moves between two cells, in every
        cell.
    """

    columns: int
    rows: int
    epsilon: Fraction

    @property
    def many(self) -> int:
        """How many tables there are."""
        return math.comb(self.columns, 2)

    @property
    def choosing(self) -> Fraction:
        """Nothing is chosen."""
        return Fraction(0)

    @property
    def counting(self) -> Fraction:
        """Epsilon of each table."""
        return self.epsilon / self.many

    @property
    def groups(self) -> int:
        """The most groups of a column, so that cells hold enough rows for their noise."""
        cells = int(self.rows * self.counting / _ROWS_A_CELL)
        return min(max(math.isqrt(cells), 2), _MOST_GROUPS)

    def release(
        self, domain: Domain, records: Passes, measured: Sequence[Measured], source: Source
    ) -> Crossed:
        """The table that rows are drawn from, and margins that are better for the tables of two."""
        ordered = [axis.ordered for axis in domain.axes]
        groups = grouped(domain, [column.margin for column in measured], ordered, self.groups)
        with records.map(numbered(groups), [group.many for group in groups]) as numbers:
            grids = self.grids(numbers, groups, source)
        groups = refined(measured, groups, grids)
        rows = max(self.rows, 1)
        pairs = tables_of(grids, groups, ordered, rows)
        return Crossed(agreeing(independent(groups, rows), pairs), groups, ordered)

    def grids(self, numbers: Passes, groups: Sequence[Groups], source: Source) -> list[Grid]:
        """The noisy table of every pair.

        numbers: the group of each record in each column.
        """
        return [
            Grid(pair, noisy(counts, self.counting, source), variance(self.counting))
            for pair, counts in crossed(numbers, groups).items()
        ]


def agreeing(expected: Weights, pairs: Mapping[Pair, Weights]) -> Weights:
    """The table of all columns nearest to what was expected whose tables of two are these, as
    nearly as they agree with each other: iterative proportional fitting."""
    table = expected
    for _ in range(_SWEEPS):
        missed = 0.0
        for pair, wanted in pairs.items():
            others = tuple(axis for axis in range(table.ndim) if axis not in pair)
            held = table.sum(axis=others)
            missed = max(missed, float(np.abs(wanted - held).sum()))
            table = table * np.expand_dims(wanted / held.clip(1e-300), others)
        if missed <= _NEAR * expected.sum():
            break
    return table


@dataclass(frozen=True)
class Crossed:
    """Rows whose columns follow the margins, and whose groups follow one table of all columns."""

    table: Weights
    groups: Sequence[Groups]
    ordered: Sequence[bool]

    def block(self, rows: range, source: Source) -> Places:
        size = len(rows)
        held = np.repeat(np.arange(self.table.size), apportioned(self.table, size, source).ravel())
        held = held[shuffled(size, source)]
        cells = np.unravel_index(held, self.table.shape)
        leans = {j: lean.ravel()[held] for j, lean in self._leanings.items()}
        return located(cells, self.groups, leans, source)

    @cached_property
    def _leanings(self) -> dict[int, Weights]:
        """How the rows of each cell lean, for each ordered column."""
        return {
            j: leanings(self.table, j, blank=self.groups[j].blank)
            for j, line in enumerate(self.ordered)
            if line
        }
