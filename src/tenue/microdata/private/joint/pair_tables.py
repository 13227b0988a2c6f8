"""Which pairs of columns depend on each other most, and noisy tables of these pairs.

Columns become few groups each, from their private margins alone. The pairs form a spanning tree:
along it rows are drawn, one column after the other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ....engine.contract import Passes
from ....mechanism.choose.score import HighScore
from ....noise.discrete_laplace import DiscreteLaplace
from ....noise.source import Source
from ...permute import shuffled
from ..column import Margin
from ..counts import MOVED, Counts, Weights, apportioned, noisy
from ..domain import Domain, Places
from .grouping import Groups, by_group

Pair = tuple[int, int]

_ROWS_A_CELL = 12
_MOST_GROUPS = 32
_CHOICES = Fraction(1, 10)
"""The part of the budget of pair tables that chooses the pairs; none if there is one pair."""
_SURE = 0.5
"""Departures from independence below this many scales of the noise are taken for noise."""
_SWEEPS = 30


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
    def choosing(self) -> Fraction:
        """Epsilon of each choice of a pair."""
        return _CHOICES * self.epsilon / (self.columns - 1) if self.columns > 2 else Fraction(0)

    @property
    def counting(self) -> Fraction:
        """Epsilon of each table."""
        return self.epsilon / (self.columns - 1) - self.choosing

    @property
    def groups(self) -> int:
        """The most groups of a column, so that cells hold enough rows for their noise."""
        cells = int(self.rows * self.counting / _ROWS_A_CELL)
        return min(max(math.isqrt(cells), 2), _MOST_GROUPS)

    def grouped(self, domain: Domain, margins: Sequence[Margin]) -> list[Groups]:
        return [
            Groups.of(
                margin,
                ordered=axis.ordered,
                blank=axis.blank and int(margin.edges[-2]) == axis.held,
                most=self.groups,
            )
            for axis, margin in zip(domain.axes, margins, strict=True)
        ]

    def release(self, records: Passes, groups: Sequence[Groups], source: Source) -> Walk:
        """The tables that rows are drawn from."""

        def numbered(places: Places) -> Places:
            return np.stack([g.number(places[:, j]) for j, g in enumerate(groups)], axis=1)

        with records.map(numbered, [group.many for group in groups]) as numbers:
            return Walk(self.tables(numbers, groups, source), groups)

    def tables(
        self, numbers: Passes, groups: Sequence[Groups], source: Source
    ) -> dict[Pair, Weights]:
        """The pairs of a spanning tree in the order of choice, each with its fitted table.

        numbers: the group of each record in each column.
        """
        counts = {}
        for i, j in itertools.combinations(range(len(groups)), 2):
            both = numbers.only(i, j)
            counts[i, j] = both.sum(_crossing(groups[i].many, groups[j].many))
        independent = {
            (i, j): np.outer(groups[i].weights, groups[j].weights) * self.rows for i, j in counts
        }
        scores = {pair: self.score(table, independent[pair]) for pair, table in counts.items()}
        found = {}
        for pair in self.spanned(scores, source):
            released = noisy(counts[pair], self.counting, source)
            found[pair] = self.fitted(released, independent[pair])
        return found

    def score(self, counts: Counts, independent: Weights) -> int:
        """How far a table is from independence, less what its noise would be.

        What is subtracted is made of released margins, so a record moves the score by 2 at most.
        """
        distance = int(np.abs(counts - np.rint(independent).astype(np.int64)).sum())
        return distance - math.ceil(counts.size / self.counting)

    def spanned(self, scores: Mapping[Pair, int], source: Source) -> list[Pair]:
        """The pairs of a spanning tree, one after the other, higher scores rather than lower."""
        tree = list(range(self.columns))
        found: list[Pair] = []
        while len(found) < self.columns - 1:
            open_ = [pair for pair in scores if tree[pair[0]] != tree[pair[1]]]
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
        return pairs[HighScore(self.choosing, MOVED).choose(list(scores.values()), source)]

    def fitted(self, released: Counts, independent: Weights) -> Weights:
        """The table that rows are drawn from: independence, and as much of the noisy departure
        from it as is not likely to be noise; its margins are those of the columns."""
        scale = DiscreteLaplace(sensitivity=MOVED, epsilon=self.counting).scale
        apart = released - independent
        kept = np.sign(apart) * np.maximum(np.abs(apart) - _SURE * scale, 0.0)
        table = np.maximum(independent + kept, 1e-9 * self.rows / released.size)
        for _ in range(_SWEEPS):
            for axis in (1, 0):
                wanted = independent.sum(axis=axis, keepdims=True)
                table = table * (wanted / table.sum(axis=axis, keepdims=True).clip(1e-300))
        return np.asarray(table)


@dataclass(frozen=True)
class Walk:
    """Rows whose columns follow the margins, and whose chosen pairs follow noisy tables."""

    tables: Mapping[Pair, Weights]
    groups: Sequence[Groups]

    def block(self, rows: range, source: Source) -> Places:
        made = walked(self.tables, self.groups, len(rows), source)
        columns = [group.drawn(made[j], source) for j, group in enumerate(self.groups)]
        return np.stack(columns, axis=1)[shuffled(len(rows), source)]


def _crossing(many: int, others: int) -> Callable[[Places], Counts]:
    return lambda pair: cross(pair[:, 0], pair[:, 1], many, others)


def cross(
    one: NDArray[np.int64], other: NDArray[np.int64], many: int, others: int
) -> NDArray[np.int64]:
    """How many rows each pair of groups has."""
    return np.bincount(one * others + other, minlength=many * others).reshape(many, others)


def walked(
    tables: Mapping[Pair, Weights], groups: Sequence[Groups], rows: int, source: Source
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
