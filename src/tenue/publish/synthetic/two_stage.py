"""First each column by itself, then how columns depend on each other, on the scale of ranks.

On that scale columns are spread evenly, whatever their heaps and tails, so that the second stage
spends nothing on the results of the first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from ...engine.contract import Passes
from ...errors import refuse
from ...noise.source import Source
from ...text import many
from ..permute import shuffled
from .binning import Binning, binned, forced
from .counts import Counts, Weights, apportioned, fitted, variance
from .domain import Domain, Places
from .grid import Grid, Gridded, dependent, independent, private_grid, refined
from .independent_columns import ColumnsFirst, Margin, has_counts
from .pair_tables import AllPairs, PairTables
from .privtree import SPLITS, Boxes, SplitLine, tree_least, weighed
from .synthesis import Drawing

_AT_ONCE = 1 << 12


@dataclass(frozen=True)
class Coarse:
    """The groups of ordered columns, whose cells follow each other, as intervals of ranks."""

    groups: Sequence[Binning]
    ranks: int

    @cached_property
    def ends(self) -> list[Weights]:
        """Where the groups of each column but the last end."""
        return [np.cumsum(group.weights)[:-1] * self.ranks for group in self.groups]

    def cells(self, ranks: Places) -> Counts:
        """The coarse cell of each row of ranks."""
        numbers = [np.searchsorted(end, ranks[:, j] + 0.5) for j, end in enumerate(self.ends)]
        return np.ravel_multi_index(numbers, [group.many for group in self.groups])

    def factors(self, boxes: Boxes, weights: Weights, variance: float, grid: Grid) -> Weights:
        """The rows that each cell should have, over those that the boxes give it: their share and
        the count of the grid are weighed by their variances.

        variance: of the weight of each box.
        """
        held, spread = np.zeros(grid.counts.shape), np.zeros(grid.counts.shape)
        for begin in range(0, boxes.many, _AT_ONCE):
            part = slice(begin, begin + _AT_ONCE)
            inside = self._inside(boxes.low[part], boxes.high[part])
            held += _outer(inside, weights[part])
            spread += _outer([share**2 for share in inside], np.full(len(inside[0]), variance))
        rows = float(weights.sum())
        weight = grid.variance / (grid.variance + spread)
        both = fitted(weight * held + (1 - weight) * grid.counts, rows)
        flat = [False] * grid.counts.ndim
        table = dependent(both, independent(self.groups, rows), 0.0, flat)
        return np.asarray(np.where(held > 0, table / np.maximum(held, 1e-300), 0.0).ravel())

    def _inside(self, low: Places, high: Places) -> list[Weights]:
        """For each column the share of each box in each group."""
        shares = []
        for j, end in enumerate(self.ends):
            first, last = low[:, j, None], high[:, j, None]
            below = np.clip((np.append(end, self.ranks) - first) / (last - first), 0.0, 1.0)
            below[:, -1] = 1.0
            shares.append(np.diff(below, axis=1, prepend=0.0))
        return shares


def _outer(shares: Sequence[Weights], weights: Weights) -> Weights:
    """The sum over boxes of the products of their shares, each with its weight."""
    half = len(shares) // 2
    left, right = weights[:, None], np.ones((len(weights), 1))
    for share in shares[:half]:
        left = (left[:, :, None] * share[:, None, :]).reshape(len(weights), -1)
    for share in shares[half:]:
        right = (right[:, :, None] * share[:, None, :]).reshape(len(weights), -1)
    return np.asarray(left.T @ right).reshape([share.shape[1] for share in shares])


Joint = Literal["grid", "tree", "pair-tables", "all-pairs"]

_RANKS = 1 << 20
"""Steps of the scale of ranks that a tree splits."""
_SPARE = 2
"""How many times the rows are drawn from a tree before so many of each coarse cell are kept."""
_COARSE = Fraction(12, 100)
"""The part of epsilon that counts a coarse grid before a tree of ranks."""
_COARSEST, _FINEST = 2, 128
"""Groups of a column in a grid."""
_MOST_GRIDDED = 4
"""Columns of a grid; its cells are many with more."""
_ROWS_A_CELL, _ROWS_A_NEAR_CELL, _ROWS_A_COARSE_CELL = 20, 50, 12
_COARSE_GROUPS = 12
_ROWS_A_COLUMN = 1000
_PAIRED, _ALL_PAIRED = 10_000, 100_000
"""Rows times epsilon from which on all columns of a mixed table are joined, not only numbers; and
from which on every two of few columns have a table, which is `_ALL_NUMBERS` where all of three or
four columns are numbers."""
_ALL_NUMBERS = 10_000
_SHARES: dict[str, dict[float, str]] = {
    "grid": {20_000: "0.72", 100_000: "0.78", math.inf: "0.60"},
    "pair-tables": {100_000: "0.60", math.inf: "0.87"},
    "all-pairs": {math.inf: "0.72"},
    "all-pairs of numbers": {50_000: "0.78", 500_000: "0.82", math.inf: "0.88"},
    "tree": {50_000: "0.70", 500_000: "0.35", math.inf: "0.25"},
}
"""The part of epsilon for single columns, up to so many rows times epsilon."""


@dataclass(frozen=True, kw_only=True)
class TwoStage(ColumnsFirst):
    """Rows whose columns follow private margins, and depend as private tables of ranks say.

    Guarantee
        `epsilon`-differential privacy for one record that takes any other value: the budgets of
        the margins and of the second stage, which sees ranks by released margins, sum to it.

    joint: how columns depend on each other: by a "grid" of the columns of numbers, while others
        depend on nothing; a "tree" over all ranks after a coarse grid; "pair-tables" along a
        spanning tree of columns; or "all-pairs", a table of every two of few columns. Each counts
        the columns in groups once more, which improves their margins.
    """

    name: ClassVar[str] = "two-stage"
    mechanism: ClassVar[str] = "noisy columns, then noisy counts of how they depend on each other"
    source: ClassVar[str] = "Zhang, Xiao and Xie 2016; McSherry and Talwar 2007"

    joint: Joint

    @classmethod
    def planned(cls, domain: Domain, rows: int, epsilon: Fraction, **options: Any) -> Self:
        """A grid of two columns of numbers, a tree of more. Where a column has no order: pair
        tables, those of every two of few columns with many rows, a grid of the numbers with few
        rows."""
        if len(domain.axes) < 2:
            raise refuse("publish.two-stages-one-column", column=domain.axes[0].name)
        lines = sum(axis.ordered for axis in domain.axes)
        if lines == len(domain.axes):
            usual = "grid" if lines == 2 else "tree"
            if 2 < lines <= _MOST_GRIDDED and rows * epsilon >= _ALL_NUMBERS:
                usual = "all-pairs"
        else:
            usual = "pair-tables"
            if 1 < lines <= _MOST_GRIDDED and rows * epsilon < _PAIRED:
                usual = "grid"
            elif 2 < len(domain.axes) <= _MOST_GRIDDED and rows * epsilon >= _ALL_PAIRED:
                usual = "all-pairs"
        chosen = {"joint": usual} | options
        too_many = chosen["joint"] == "all-pairs" and len(domain.axes) > _MOST_GRIDDED
        if chosen["joint"] not in get_args(Joint) or too_many:
            raise refuse("publish.unknown-joint", joint=chosen["joint"])
        return cls(domain=domain, rows=rows, epsilon=epsilon, **chosen)

    @property
    def columns_epsilon(self) -> Fraction:
        """The budget of single columns: most of epsilon where noise hides dependence, or where
        tables are as fine as they need to be; less where a tree of ranks can look closer."""
        if self.joint == "tree" and not self._few:
            small = self.rows * self.epsilon < _ROWS_A_COLUMN * len(self.domain.axes)
            return self.epsilon * (Fraction(3, 4) if small else Fraction(1, 2))
        numbers = self.joint == "all-pairs" and all(axis.ordered for axis in self.domain.axes)
        steps = _SHARES["all-pairs of numbers" if numbers else self.joint]
        share = next(part for most, part in steps.items() if self.rows * self.epsilon < most)
        return self.epsilon * Fraction(share)

    @property
    def joint_epsilon(self) -> Fraction:
        return self.epsilon - self.columns_epsilon

    @property
    def grid_epsilon(self) -> Fraction:
        """The price of a grid: the whole second stage, or a part before a tree."""
        if self.joint == "tree":
            return _COARSE * self.epsilon if self._few else Fraction(0)
        return self.joint_epsilon

    @property
    def gridded(self) -> list[int]:
        """The columns of the grid; none before a tree of many columns."""
        if self.joint == "tree":
            return list(range(len(self.domain.axes))) if self._few else []
        return [j for j, axis in enumerate(self.domain.axes) if axis.ordered][:_MOST_GRIDDED]

    @property
    def _few(self) -> bool:
        return len(self.domain.axes) <= _MOST_GRIDDED

    @property
    def again(self) -> bool:
        """Tables of pairs count the categories again, one by one as far as they have groups."""
        return self.joint in ("pair-tables", "all-pairs")

    @property
    def _counted(self) -> bool:
        """Whether every value of the grid's columns has a count: then even tails are known well
        enough to be divided into groups of near values, of which fewer are needed."""
        gridded = [self.spent[j] for j in self.gridded]
        return self.joint == "grid" and all(
            has_counts(axis, self.rows, budget) for axis, budget in gridded
        )

    @property
    def groups(self) -> int:
        """The most groups of a column in the grid: noise asks for few, resolution for many; before
        a tree few are enough."""
        coarse = self.joint == "tree"
        rows_a_cell = _ROWS_A_NEAR_CELL if self._counted else _ROWS_A_CELL
        rows_a_cell = _ROWS_A_COARSE_CELL if coarse else rows_a_cell
        cells = float(self.rows * self.grid_epsilon) / rows_a_cell
        most = math.ceil(math.pow(cells, 1 / max(len(self.gridded), 1)))
        return min(max(most, _COARSEST), _COARSE_GROUPS if coarse else _FINEST)

    @property
    def pairs(self) -> PairTables | AllPairs:
        kind = AllPairs if self.joint == "all-pairs" else PairTables
        return kind(len(self.domain.axes), self.rows, self.joint_epsilon)

    def release(self, records: Passes, source: Source) -> Drawing:
        measured = self.columns(records, source)
        if self.again:
            return self.pairs.release(self.domain, records, measured, source)
        margins = [column.margin for column in measured]
        if not self.gridded:
            return self._by_ranks(records, margins, source)
        # a tree takes every column for a line, and so does the grid before it
        line, near = self.joint == "tree", self._counted
        groups = [
            binned(axis, margin, self.groups, line=line, near=near)
            for axis, margin in zip(self.domain.axes, margins, strict=True)
        ]
        grid = private_grid(records, self.gridded, groups, self.grid_epsilon, source)
        groups = refined(measured, groups, [grid])
        if self.joint == "tree":
            ranked = self._by_ranks(records, [group.margin for group in groups], source)
            coarse, leaf = Coarse(groups, _RANKS), variance((1 - SPLITS) * self.tree_epsilon)
            factors = coarse.factors(ranked.boxes, ranked.weights, leaf, grid)
            return replace(ranked, coarse=coarse, factors=factors)
        return Gridded(grid.table(groups, self.rows), self.gridded, groups)

    @property
    def tree_epsilon(self) -> Fraction:
        return self.joint_epsilon - self.grid_epsilon

    def _by_ranks(self, records: Passes, margins: Sequence[Margin], source: Source) -> RankedRows:
        """A record's ranks are drawn once, whatever the number of passes that the tree takes."""

        def ranks(places: Places) -> Places:
            made = np.empty_like(places)
            for j, margin in enumerate(margins):
                made[:, j] = margin.rank(places[:, j], source) * _RANKS
            return made

        lines = [
            # the ranks of blanks lie above all others
            SplitLine(_RANKS, int(_RANKS - np.floor(margin.ends[-2] * _RANKS)) if axis.blank else 0)
            for axis, margin in zip(self.domain.axes, margins, strict=True)
        ]
        with records.map(ranks, [_RANKS] * len(lines)) as ranked:
            boxes, weights = weighed(ranked, lines, self.tree_epsilon, source)
        return RankedRows(boxes, weights, margins)

    @property
    def least_epsilon(self) -> Fraction:
        joint = self.grid_epsilon, tree_least(self.tree_epsilon)
        if self.again:
            joint = self.pairs.choosing, self.pairs.counting
        return min(super().least_epsilon, *(part for part in joint if part))

    @property
    def parameters(self) -> Mapping[str, str]:
        texts = dict(super().parameters)
        if self.again:
            pairs = self.pairs
            texts["pair tables"] = (
                f"{many(pairs.many, 'noisy table')} of two columns, for epsilon "
                f"{float(pairs.counting):.6g} each."
            )
            if pairs.choosing:
                texts["choice of pairs"] = (
                    "The two columns of each table are chosen with noise, for epsilon "
                    f"{float(pairs.choosing):.6g} each."
                )
            texts["groups of a column"] = f"A table has at most {pairs.groups} of each column."
            return texts
        if self.gridded or self.joint == "grid":
            texts["grid"] = (
                f"Noisy counts of at most {self.groups} groups of each of "
                f"{many(len(self.gridded), 'column')} together, for epsilon "
                f"{float(self.grid_epsilon):.6g}."
            )
        if self.joint == "tree":
            texts["tree of ranks"] = (
                "A tree of noisy counts over the ranks of all columns together, for epsilon "
                f"{float(self.tree_epsilon):.6g}."
            )
        return texts

    @property
    def limits(self) -> Sequence[str]:
        if self.joint == "tree":
            return ("Columns depend on each other only as finely as the tree of ranks.",)
        if self.again:
            return ("Columns depend on each other through pairs only, in groups of values.",)
        texts = ("Columns of numbers depend on each other in groups of values only.",)
        alone = len(self.gridded) < len(self.domain.axes)
        return (*texts, "Columns of categories depend on nothing.") if alone else texts


@dataclass(frozen=True)
class RankedRows:
    """Rows of ranks from the boxes of a tree, mapped to the margins column by column.

    coarse, factors: of which cells more or fewer rows are kept than the boxes give.
    """

    boxes: Boxes
    weights: Weights
    margins: Sequence[Margin]
    coarse: Coarse | None = None
    factors: Weights | None = None

    def block(self, rows: range, source: Source) -> Places:
        made = self._drawn(len(rows), source)
        for j, margin in enumerate(self.margins):
            made[:, j] = forced(made[:, j], margin, source)
        return np.asarray(made[shuffled(len(rows), source)])

    def _drawn(self, size: int, source: Source) -> Places:
        if self.coarse is None or self.factors is None or not size:
            return self.boxes.drawn(apportioned(self.weights, size, source), source)
        drawn = self.boxes.drawn(apportioned(self.weights, _SPARE * size, source), source)
        drawn = drawn[shuffled(len(drawn), source)]
        cells = self.coarse.cells(drawn)
        order = np.argsort(cells, kind="stable")
        kept = apportioned(self.factors[cells[order]], size, source)
        return np.asarray(drawn[np.repeat(order, kept)])
