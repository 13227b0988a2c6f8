"""Noisy tables of pairs of columns: of those that depend on each other most, or of all.

Columns become few groups each, from their private margins alone. The pairs form a spanning tree:
along it rows are drawn, one column after the other. With many rows a spanning tree misses more by
the pairs that it leaves out than noise does harm; then every pair has a table.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...engine.contract import Passes
from ...mechanism.exponential_mechanism import Exponential
from ...noise.source import Source
from ..permute import shuffled
from .binning import Binning, binned, by_group, leanings, located, numbered, tabulated
from .counts import MOVED, Counts, Weights, apportioned, noisy, variance
from .domain import Domain, Places
from .grid import Grid, Gridded, independent, refined
from .independent_columns import Measured
from .synthesis import Drawing

Pair = tuple[int, int]

_MOST_GROUPS = 32
_CHOICES = Fraction(1, 10)
"""The part of the budget of pair tables that chooses the pairs; none if there is one pair."""
_SWEEPS = 30
_NEAR = 1e-4
"""Shares of rows by which the table of all columns may miss a table of two."""


@dataclass(frozen=True)
class PairTables:
    """Chooses and counts the pairs of a spanning tree.

    Guarantee
        `epsilon`-differential privacy for one record that is replaced, given private margins: each
        of the D − 1 choices is an exponential mechanism on scores that one record moves by 2, each
        of the D − 1 tables has noise for a record that moves between two cells, in every cell.
    """

    rows_a_cell: ClassVar[int] = 20

    columns: int
    rows: int
    epsilon: Fraction

    @property
    def many(self) -> int:
        """How many tables there are."""
        return self.columns - 1

    @property
    def choosing(self) -> Fraction:
        """Epsilon of each choice of a pair."""
        return _CHOICES * self.epsilon / self.many if self.columns > 2 else Fraction(0)

    @property
    def counting(self) -> Fraction:
        """Epsilon of each table."""
        return self.epsilon / self.many - self.choosing

    @property
    def groups(self) -> int:
        """The most groups of a column, so that cells hold enough rows for their noise."""
        cells = int(self.rows * self.counting / self.rows_a_cell)
        return min(max(math.isqrt(cells), 2), _MOST_GROUPS)

    def release(
        self, domain: Domain, records: Passes, measured: Sequence[Measured], source: Source
    ) -> Drawing:
        """The tables that rows are drawn from, and margins that are better for them."""
        groups = [
            binned(axis, column.margin, self.groups)
            for axis, column in zip(domain.axes, measured, strict=True)
        ]
        sizes = [group.many for group in groups]
        with records.map(lambda rows: np.stack(numbered(groups, rows), axis=1), sizes) as numbers:
            grids = self.grids(numbers, groups, source)
        groups = refined(measured, groups, grids)
        tables = {
            (grid.columns[0], grid.columns[1]): grid.table(groups, self.rows) for grid in grids
        }
        return self.drawing(tables, groups)

    def grids(self, numbers: Passes, groups: Sequence[Binning], source: Source) -> list[Grid]:
        """The noisy table of each pair, in the order of choice.

        numbers: the group of each record in each column.
        """
        counts = crossed(numbers, groups)
        return [
            Grid(pair, noisy(counts[pair], self.counting, source), variance(self.counting))
            for pair in self.selected(counts, groups, source)
        ]

    def selected(
        self, counts: Mapping[Pair, Counts], groups: Sequence[Binning], source: Source
    ) -> list[Pair]:
        """The pairs that have a table."""
        scores = {
            (i, j): self.score(table, independent([groups[i], groups[j]], self.rows))
            for (i, j), table in counts.items()
        }
        return self.spanned(scores, [group.ordered for group in groups], source)

    def score(self, counts: Counts, independent: Weights) -> int:
        """How far a table is from independence, less the expected sum of its noise.

        The table of independence follows from released margins, so a record moves the score by 2
        at most.
        """
        distance = int(np.abs(counts - np.rint(independent).astype(np.int64)).sum())
        return distance - math.ceil(counts.size / self.counting)

    def spanned(
        self, scores: Mapping[Pair, int], ordered: Sequence[bool], source: Source
    ) -> list[Pair]:
        """The pairs of a spanning tree, chosen one after the other.

        Columns of numbers are joined to each other first: more is asked of them.
        """
        tree = list(range(self.columns))
        chosen: list[Pair] = []
        while len(chosen) < self.many:
            pairs = [pair for pair in scores if tree[pair[0]] != tree[pair[1]]]
            pairs = [(i, j) for i, j in pairs if ordered[i] and ordered[j]] or pairs
            chosen.append(self._chosen({pair: scores[pair] for pair in pairs}, source))
            kept, joined = (tree[column] for column in chosen[-1])
            tree = [kept if name == joined else name for name in tree]
        return chosen

    def _chosen(self, scores: Mapping[Pair, int], source: Source) -> Pair:
        """One pair, with probability proportional to e^(choosing·score/(2·MOVED))."""
        pairs = list(scores)
        if len(pairs) == 1:
            return pairs[0]
        rule = Exponential(len(pairs), self.choosing, MOVED)
        return pairs[rule.choose(list(scores.values()), source)]

    def drawing(self, tables: Mapping[Pair, Weights], groups: Sequence[Binning]) -> Drawing:
        """The rows that follow from the tables of two columns."""
        return Walk(tables, groups)


@dataclass(frozen=True)
class AllPairs(PairTables):
    """Counts every pair of columns.

    Guarantee
        `epsilon`-differential privacy for one record that is replaced, given private margins: each
        of the D·(D − 1)/2 tables has noise for a record that moves between two cells, in every
        cell.
    """

    rows_a_cell = 24

    @property
    def many(self) -> int:
        return math.comb(self.columns, 2)

    @property
    def choosing(self) -> Fraction:
        return Fraction(0)

    def selected(self, counts: Mapping[Pair, Counts], *_: object) -> list[Pair]:
        return list(counts)

    def drawing(self, tables: Mapping[Pair, Weights], groups: Sequence[Binning]) -> Drawing:
        table = agreeing(independent(groups, max(self.rows, 1)), tables)
        return Gridded(table, range(self.columns), groups)


@dataclass(frozen=True)
class Walk:
    """Rows whose columns follow the margins, and whose chosen pairs follow noisy tables."""

    tables: Mapping[Pair, Weights]
    groups: Sequence[Binning]

    def block(self, rows: range, source: Source) -> Places:
        made = walked(self.tables, self.groups, len(rows), source)
        numbers = [made[j] for j in range(len(self.groups))]
        leans = {j: self._leans(j, made) for j, group in enumerate(self.groups) if group.ordered}
        placed = located(numbers, self.groups, leans, source)
        return np.asarray(placed[shuffled(len(rows), source)])

    def _leans(self, column: int, made: Mapping[int, NDArray[np.int64]]) -> Weights:
        """By how much the rows lean towards the next group of a column, by all its tables."""
        lean = np.zeros(made[column].size)
        for (i, j), table in self.tables.items():
            if column in (i, j):
                blank = self.groups[column].blank
                lean += leanings(table, int(column == j), blank=blank)[made[i], made[j]]
        return lean.clip(-1.0, 1.0)


def crossed(numbers: Passes, groups: Sequence[Binning]) -> dict[Pair, Counts]:
    """How many records every two groups of every two columns have, which is secret.

    numbers: the group of each record in each column.
    """

    def counts(i: int, j: int) -> Counts:
        return numbers.only(i, j).sum(lambda pair: tabulated([*pair.T], [groups[i], groups[j]]))

    return {pair: counts(*pair) for pair in itertools.combinations(range(len(groups)), 2)}


def walked(
    tables: Mapping[Pair, Weights], groups: Sequence[Binning], rows: int, source: Source
) -> dict[int, NDArray[np.int64]]:
    """The group of each row in each column: from the first column along the pairs."""
    first = apportioned(groups[0].weights, rows, source)
    made = {0: np.repeat(np.arange(groups[0].many), first)}
    while len(made) < len(groups):
        for (i, j), table in tables.items():
            if (i in made) == (j in made):
                continue
            known, new, weights = (i, j, table) if i in made else (j, i, table.T)
            order, sizes = by_group(made[known], groups[known].many, source)
            made[new] = np.empty(rows, np.int64)
            ends = np.cumsum(sizes)
            for g in np.flatnonzero(sizes):
                counts = apportioned(weights[g], int(sizes[g]), source)
                members = order[ends[g] - sizes[g] : ends[g]]
                made[new][members] = np.repeat(np.arange(counts.size), counts)
    return made


def agreeing(expected: Weights, pairs: Mapping[Pair, Weights]) -> Weights:
    """The table of all columns nearest to the expected one whose tables of two are these, as
    nearly as they agree with each other: iterative proportional fitting."""
    table = expected
    for _ in range(_SWEEPS):
        missed = 0.0
        for pair, wanted in pairs.items():
            others = tuple(axis for axis in range(table.ndim) if axis not in pair)
            sums = table.sum(axis=others)
            missed = max(missed, float(np.abs(wanted - sums).sum()))
            table = table * np.expand_dims(wanted / sums.clip(1e-300), others)
        if missed <= _NEAR * expected.sum():
            break
    return table
