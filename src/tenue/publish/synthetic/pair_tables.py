"""Noisy tables of pairs of columns: of those that depend on each other most, or of all.

Columns become few groups each, from their private margins alone. The pairs form a spanning tree:
along it rows are drawn, one column after the other.

With many rows a spanning tree misses more by the pairs that it leaves out than noise does harm.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...engine.contract import Passes
from ...mechanism.exponential_mechanism import Exponential
from ...noise.source import Source
from ..permute import shuffled
from .binning import Binning, by_group, grouped, leanings, located, numbered
from .counts import MOVED, Counts, Weights, apportioned, noisy, variance
from .dependence import dependent
from .domain import Domain, Places
from .grid import Grid, independent, refined
from .independent_columns import Measured

Pair = tuple[int, int]

_ROWS_A_CELL = 20
_MOST_GROUPS = 32
_CHOICES = Fraction(1, 10)
"""The part of the budget of pair tables that chooses the pairs; none if there is one pair."""


@dataclass(frozen=True)
class PairTables:
    """Chooses and counts the pairs of a spanning tree.

    Guarantee
        `epsilon`-differential privacy for one record that is replaced, given private margins: each
        of the D − 1 choices is an exponential mechanism on scores that one record moves by 2, each
        of the D − 1 tables has noise for a record that moves between two cells, in every cell.
    """

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
        cells = int(self.rows * self.counting / _ROWS_A_CELL)
        return min(max(math.isqrt(cells), 2), _MOST_GROUPS)

    def release(
        self, domain: Domain, records: Passes, measured: Sequence[Measured], source: Source
    ) -> Walk:
        """The tables that rows are drawn from, and margins that are better for them."""
        ordered = [axis.ordered for axis in domain.axes]
        margins = [column.margin for column in measured]
        groups = grouped(domain, margins, ordered, self.groups)
        with records.map(numbered(groups), [group.many for group in groups]) as numbers:
            grids = self.grids(numbers, groups, ordered, source)
        groups = refined(measured, groups, grids)
        return Walk(tables_of(grids, groups, ordered, max(self.rows, 1)), groups, ordered)

    def grids(
        self, numbers: Passes, groups: Sequence[Binning], ordered: Sequence[bool], source: Source
    ) -> list[Grid]:
        """The pairs of a spanning tree in the order of choice, each with its noisy table.

        numbers: the group of each record in each column.
        """
        counts = crossed(numbers, groups)
        scores = {
            (i, j): self.score(table, independent([groups[i], groups[j]], self.rows))
            for (i, j), table in counts.items()
        }
        return [
            Grid(pair, noisy(counts[pair], self.counting, source), variance(self.counting))
            for pair in self.spanned(scores, ordered, source)
        ]

    def score(self, counts: Counts, independent: Weights) -> int:
        """How far a table is from independence, less what its noise would be.

        What is subtracted is made of released margins, so a record moves the score by 2 at most.
        """
        distance = int(np.abs(counts - np.rint(independent).astype(np.int64)).sum())
        return distance - math.ceil(counts.size / self.counting)

    def spanned(
        self, scores: Mapping[Pair, int], ordered: Sequence[bool], source: Source
    ) -> list[Pair]:
        """The pairs of a spanning tree, one after the other, higher scores rather than lower.

        Columns of numbers are joined to each other first: more is asked of them.
        """
        tree = list(range(self.columns))
        found: list[Pair] = []
        while len(found) < self.many:
            open_ = [pair for pair in scores if tree[pair[0]] != tree[pair[1]]]
            open_ = [(i, j) for i, j in open_ if ordered[i] and ordered[j]] or open_
            one, other = pair = self._chosen({pair: scores[pair] for pair in open_}, source)
            found.append(pair)
            joined, gone = tree[one], tree[other]
            tree = [joined if name == gone else name for name in tree]
        return found

    def _chosen(self, scores: Mapping[Pair, int], source: Source) -> Pair:
        """One pair, with probability proportional to e^(choosing·score/(2·MOVED))."""
        pairs = list(scores)
        if len(pairs) == 1:
            return pairs[0]
        rule = Exponential(len(pairs), self.choosing, MOVED)
        return pairs[rule.choose(list(scores.values()), source)]


@dataclass(frozen=True)
class Walk:
    """Rows whose columns follow the margins, and whose chosen pairs follow noisy tables."""

    tables: Mapping[Pair, Weights]
    groups: Sequence[Binning]
    ordered: Sequence[bool]

    def block(self, rows: range, source: Source) -> Places:
        made = walked(self.tables, self.groups, len(rows), source)
        numbers = [made[j] for j in range(len(self.groups))]
        leans = {j: self._leans(j, made) for j, line in enumerate(self.ordered) if line}
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


def tables_of(
    grids: Sequence[Grid], groups: Sequence[Binning], ordered: Sequence[bool], rows: int
) -> dict[Pair, Weights]:
    """The tables of two columns that rows are drawn from, by their noisy counts."""
    tables = {}
    for grid in grids:
        i, j = grid.columns
        expected = independent([groups[i], groups[j]], rows)
        scale = math.sqrt(grid.variance / 2)
        tables[i, j] = dependent(grid.counts, expected, scale, [ordered[i], ordered[j]])
    return tables


def crossed(numbers: Passes, groups: Sequence[Binning]) -> dict[Pair, Counts]:
    """How many records every two groups of every two columns have, which is secret.

    numbers: the group of each record in each column.
    """
    return {
        (i, j): numbers.only(i, j).sum(_crossing(groups[i].many, groups[j].many))
        for i, j in itertools.combinations(range(len(groups)), 2)
    }


def _crossing(many: int, others: int) -> Callable[[Places], Counts]:
    return lambda pair: cross(pair[:, 0], pair[:, 1], many, others)


def cross(
    one: NDArray[np.int64], other: NDArray[np.int64], many: int, others: int
) -> NDArray[np.int64]:
    """How many rows each pair of groups has."""
    return np.bincount(one * others + other, minlength=many * others).reshape(many, others)


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
            known, new, ways = (i, j, table) if i in made else (j, i, table.T)
            order, held = by_group(made[known], groups[known].many, source)
            made[new] = np.empty(rows, np.int64)
            ends = np.cumsum(held)
            for g in np.flatnonzero(held):
                size = int(held[g])
                counts = apportioned(ways[g], size, source)
                here = order[ends[g] - size : ends[g]]
                made[new][here] = np.repeat(np.arange(counts.size), counts)
    return made


# Noisy tables of every two of few columns, and one table of all of them that agrees with each.

_ROWS_A_CELL_OF_ALL = 24
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
        cells = int(self.rows * self.counting / _ROWS_A_CELL_OF_ALL)
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

    def grids(self, numbers: Passes, groups: Sequence[Binning], source: Source) -> list[Grid]:
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
    groups: Sequence[Binning]
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
