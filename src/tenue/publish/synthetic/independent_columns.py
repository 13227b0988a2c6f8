"""The distribution of each column by itself under differential privacy, and ranks on its scale.

A short line of places has one noisy count for each place, a long one a tree of one column; the
schema, the number of rows and the budget decide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...engine.contract import Passes
from ...noise.source import Source
from ...text import exactly
from ..permute import shuffled
from .counts import Counts, Weights, fitted, noisy, uniforms, variance
from .domain import Axis, Domain, Places
from .privtree import SPLITS, SplitLaw, SplitLine, grown, interval_error, tree_error, tree_least
from .synthesis import Synthesis

_FEW = 20
_MORE = 128
_ROWS_A_PLACE = 5
_MOST = 1 << 20
"""More places than this never have a count each."""
_BLOCKS_FROM = 600
"""Leaves of a tree from which on blocks pay, also on columns with many equal values."""


@dataclass(frozen=True)
class Margin:
    """A distribution over the places of a column: cells of consecutive places, equally likely
    inside a cell. Made of released numbers only, so that all that follows is post-processing.

    edges: where cells begin, increasing from 0, and at the end the number of places.
    weights: of each cell, none below 0, sum 1.
    """

    edges: NDArray[np.int64]
    weights: Weights

    @cached_property
    def ends(self) -> Weights:
        """P(place before the end of the cell), beginning with 0 and ending with 1."""
        ends = np.concatenate([[0.0], np.cumsum(self.weights)])
        return np.asarray(ends / ends[-1])

    def quantile(self, u: NDArray[np.float64]) -> NDArray[np.int64]:
        """The place of each rank in [0, 1)."""
        last = int(np.flatnonzero(np.diff(self.ends) > 0)[-1])
        cell = np.clip(np.searchsorted(self.ends, u, side="right") - 1, 0, last)
        begin, width = self.edges[cell], np.diff(self.edges)[cell]
        inside = (u - self.ends[cell]) / np.diff(self.ends)[cell] * width
        return np.asarray(begin + np.clip(inside.astype(np.int64), 0, width - 1))

    def rank(self, places: NDArray[np.int64], source: Source) -> NDArray[np.float64]:
        """A random one of the ranks of each place in [0, 1), so that places that follow the margin
        have uniform ranks."""
        cell = np.searchsorted(self.edges, places, side="right") - 1
        share = np.diff(self.ends)[cell] / np.diff(self.edges)[cell]
        at = places - self.edges[cell] + uniforms(places.size, source)
        ranks = self.ends[cell] + at * share
        return np.asarray(np.clip(ranks, 0.0, np.nextafter(1.0, 0.0)))

    def below(self, place: int) -> float:
        """P(a smaller place than this one, which is above 0)."""
        cell = int(np.searchsorted(self.edges, place, side="left")) - 1
        begin, end = int(self.edges[cell]), int(self.edges[cell + 1])
        low, high = float(self.ends[cell]), float(self.ends[cell + 1])
        return low + (high - low) * (place - begin) / (end - begin)

    def before(self, held: int) -> tuple[Margin, float]:
        """The distribution of the first `held` places among themselves, and their share."""
        share = self.below(held)
        edges = np.append(self.edges[self.edges < held], held)
        if share <= 0:
            return Margin(edges, np.diff(edges) / held), 0.0
        weights = np.diff(np.append(self.ends[: edges.size - 1], share))
        return Margin(edges, weights / share), share

    def sample(self, rows: int, source: Source) -> NDArray[np.int64]:
        """Places in random order, evenly spread over the ranks."""
        strata = (np.arange(rows) + uniforms(rows, source)) / rows
        return np.asarray(self.quantile(strata)[shuffled(rows, source)])


@dataclass(frozen=True)
class Measured:
    """The noisy counts of a column's cells, which are released, and what follows from them.

    counts: of each cell; those of a block sum to the best estimate of the block.
    variance: the part of each cell in the variance of a sum over cells.
    block: the block of each cell; one block if there are few cells.
    rows: of the table, at least 1.
    """

    edges: NDArray[np.int64]
    counts: Weights
    variance: float
    block: NDArray[np.int64]
    rows: int

    @cached_property
    def margin(self) -> Margin:
        """The distribution that follows from the counts alone."""
        totals = np.bincount(self.block, weights=self.counts)
        return self._spread(self.block, np.asarray(totals, np.float64))

    def refined(self, group: NDArray[np.int64], totals: Weights, variance: float) -> Margin:
        """The distribution that follows from the counts and from noisy totals of groups of cells.

        The sum of the cells of a group and its total are two measurements of one number, and are
        weighed by their variances. Few totals say more about a long interval than many cells,
        whose errors add up.

        group: of each cell, numbered from 0.
        variance: of each total.
        """
        cells = np.bincount(group)
        own = np.bincount(group, weights=self.counts)
        own += (self.rows - own.sum()) * cells / cells.sum()
        given = totals + (self.rows - totals.sum()) / totals.size
        weight = variance / (variance + cells * self.variance)
        return self._spread(group, weight * own + (1 - weight) * given)

    def _spread(self, group: NDArray[np.int64], totals: Weights) -> Margin:
        """Totals that are none below 0, and the cells of each group fitted to its own."""
        order, ends = np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))
        weights = np.zeros(self.counts.size)
        for cells, total in zip(np.split(order, ends[:-1]), fitted(totals, self.rows), strict=True):
            if total > 0:
                weights[cells] = fitted(self.counts[cells], total)
        return Margin(self.edges, weights / weights.sum())


def private_column(axis: Axis, column: Passes, epsilon: Fraction, source: Source) -> Measured:
    """The noisy counts of one column, given the places of its records.

    Guarantee
        `epsilon`-differential privacy when one record is replaced and their number is public.
    """
    rows = max(column.rows, 1)
    if has_counts(axis, rows, epsilon):
        counts = column.sum(lambda places: np.bincount(places[:, 0], minlength=axis.size))
        return _one_block(np.arange(axis.size + 1), counts, rows, epsilon, source)
    lines = [SplitLine(axis.size, int(axis.blank))]
    boxes, counts = grown(column, lines, SplitLaw.within(SPLITS * epsilon, 2), source)
    order = np.argsort(boxes.low[:, 0])
    edges, counts = np.append(boxes.low[order, 0], axis.size), counts[order]
    measure = _one_block if counts.size < _BLOCKS_FROM else _in_blocks
    return measure(edges, counts, rows, (1 - SPLITS) * epsilon, source)


def _one_block(
    edges: NDArray[np.int64], counts: Counts, rows: int, epsilon: Fraction, source: Source
) -> Measured:
    released = noisy(counts, epsilon, source).astype(np.float64)
    return Measured(edges, released, variance(epsilon), np.zeros(counts.size, np.int64), rows)


def _in_blocks(
    edges: NDArray[np.int64], counts: Counts, rows: int, epsilon: Fraction, source: Source
) -> Measured:
    """Noisy counts of many leaves, and of blocks of neighbouring leaves, which limit how errors of
    leaves add up over a long interval. A record is counted once among each.
    """
    length = math.isqrt(counts.size)
    begins = np.arange(0, counts.size, length)
    leaf = noisy(counts, epsilon / 2, source)
    block = noisy(np.add.reduceat(counts, begins), epsilon / 2, source)
    sizes = np.diff(np.append(begins, counts.size))
    # the leaves of a block measure its total too, with `sizes` times the variance
    sums = np.add.reduceat(leaf, begins)
    total = (sizes * block + sums) / (sizes + 1)
    number = np.repeat(np.arange(sizes.size), sizes)
    released = leaf + ((total - sums) / sizes)[number]
    return Measured(edges, released, variance(epsilon / 2) / (length + 1), number, rows)


def has_counts(axis: Axis, rows: int, epsilon: Fraction) -> bool:
    """Whether a column has a noisy count for each of its places, rather than a tree."""
    if axis.held <= _FEW or (not axis.ordered and axis.held <= _MOST):
        return True
    return axis.held <= _MORE and rows * epsilon >= _ROWS_A_PLACE * axis.held


def margin_error(axis: Axis, rows: int, epsilon: Fraction) -> float:
    """`Synthesis.expected_error` of one column."""
    if has_counts(axis, rows, epsilon):
        return interval_error(axis.size, math.sqrt(variance(epsilon)), rows)
    return tree_error([SplitLine(axis.size, int(axis.blank))], rows, epsilon)


def budgets(domain: Domain, epsilon: Fraction, *, again: bool = False) -> list[Fraction]:
    """The budget of each column, in proportion to √min(places, 64); they sum to `epsilon` exactly.

    again: whether categories are counted again afterwards. Then they have half as much: few of them
        are added up, while the errors of numbers add up over every interval.
    """
    roots = [
        math.isqrt(min(axis.size, 64) << 20) >> (again and not axis.ordered) for axis in domain.axes
    ]
    return [epsilon * Fraction(root, sum(roots)) for root in roots]


_COUNTS = "A noisy count of each value"
_TREE = "A tree of noisy counts, finer where more rows are"


@dataclass(frozen=True)
class Independent:
    """Rows of independent columns."""

    margins: Sequence[Margin]

    def block(self, rows: range, source: Source) -> Places:
        return np.stack([margin.sample(len(rows), source) for margin in self.margins], axis=1)


class ColumnsFirst(Synthesis):
    """A method that releases each column by itself first."""

    @property
    def columns_epsilon(self) -> Fraction:
        """The budget of all columns."""
        return self.epsilon

    @property
    def again(self) -> bool:
        """Whether categories are counted again afterwards."""
        return False

    @property
    def expected_error(self) -> float:
        return float(
            np.mean([margin_error(axis, self.rows, budget) for axis, budget in self.spent])
        )

    @property
    def least_epsilon(self) -> Fraction:
        return min(
            budget if has_counts(axis, self.rows, budget) else tree_least(budget)
            for axis, budget in self.spent
        )

    @property
    def parameters(self) -> Mapping[str, str]:
        return {
            f"column {axis.name}": (
                f"{_COUNTS if has_counts(axis, self.rows, budget) else _TREE}, "
                f"for epsilon {float(budget):.6g}."
            )
            for axis, budget in self.spent
        }

    @property
    def columns_text(self) -> str:
        """The price of all columns together, for the certificate."""
        epsilon = exactly(self.columns_epsilon)
        return f"A noisy distribution of each column, for epsilon {epsilon} in all."

    @property
    def spent(self) -> list[tuple[Axis, Fraction]]:
        """The columns, and the budget of each."""
        shares = budgets(self.domain, self.columns_epsilon, again=self.again)
        return list(zip(self.domain.axes, shares, strict=True))

    def columns(self, records: Passes, source: Source) -> list[Measured]:
        """The noisy counts of all columns.

        Guarantee
            Together `columns_epsilon`-differentially private when one record is replaced.
        """
        return [
            private_column(axis, records.only(j), budget, source)
            for j, (axis, budget) in enumerate(self.spent)
        ]

    def margins(self, records: Passes, source: Source) -> list[Margin]:
        """The distributions that follow from them."""
        return [column.margin for column in self.columns(records, source)]


@dataclass(frozen=True, kw_only=True)
class Columns(ColumnsFirst):
    """Rows of independent columns, each drawn from its private distribution.

    Guarantee
        `epsilon`-differential privacy for one record that takes any other value: the columns'
        budgets sum to it.
    """

    name: ClassVar[str] = "columns"
    mechanism: ClassVar[str] = "noisy distribution of each column by itself"
    source: ClassVar[str] = "Zhang, Xiao and Xie 2016, one column at a time"

    def release(self, records: Passes, source: Source) -> Independent:
        return Independent(self.margins(records, source))

    @property
    def limits(self) -> Sequence[str]:
        if len(self.domain.axes) == 1:
            return ()
        return ("Columns are independent of each other, whatever they are in the original.",)
