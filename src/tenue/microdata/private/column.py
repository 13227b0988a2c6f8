"""The distribution of one column under differential privacy, and ranks on its scale.

A short line of places has one noisy count for each place, a long one a tree of one column. Which of
the two follows from the schema, the number of rows and the budget.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...engine.contract import Passes
from ...noise.discrete_laplace import DiscreteLaplace
from ...noise.source import Source
from ..permute import shuffled
from .counts import MOVED, Counts, Weights, fitted, noisy, uniforms
from .domain import Axis
from .growth import Line, grown
from .tree import SPLITS, interval_error, tree_error, tree_least
from .tree_loss import SplitLaw

_FEW = 20
_MORE = 128
_ROWS_A_PLACE = 5
_MOST = 1 << 20
"""More places than this never have a count each."""
_BLOCKS_FROM = 600
"""Leaves of a tree from which on blocks pay, on columns with heaps of equal values too."""


@dataclass(frozen=True)
class Margin:
    """A distribution over the places of a column: cells of consecutive places, equally likely
    inside a cell. Made of released numbers only, so that whatever is read off it is free.

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
        cell = np.searchsorted(self.ends, u, side="right") - 1
        cell = np.clip(cell, 0, self._last)
        begin, width = self.edges[cell], np.diff(self.edges)[cell]
        inside = (u - self.ends[cell]) / np.diff(self.ends)[cell] * width
        return np.asarray(begin + np.clip(inside.astype(np.int64), 0, width - 1))

    def rank(self, places: NDArray[np.int64], source: Source | None = None) -> NDArray[np.float64]:
        """The rank of each place in [0, 1): the middle of its ranks, or with a source a random one
        of them, which spreads evenly whatever follows the margin."""
        cell = np.searchsorted(self.edges, places, side="right") - 1
        share = np.diff(self.ends)[cell] / np.diff(self.edges)[cell]
        at = 0.5 if source is None else uniforms(places.size, source)
        ranks = self.ends[cell] + (places - self.edges[cell] + at) * share
        return np.asarray(np.clip(ranks, 0.0, np.nextafter(1.0, 0.0)))

    def sample(self, rows: int, source: Source) -> NDArray[np.int64]:
        """So many places in random order, evenly spread over the ranks."""
        strata = (np.arange(rows) + uniforms(rows, source)) / rows
        return np.asarray(self.quantile(strata)[shuffled(rows, source)])

    @cached_property
    def _last(self) -> int:
        return int(np.flatnonzero(np.diff(self.ends) > 0)[-1])


def private_margin(axis: Axis, column: Passes, epsilon: Fraction, source: Source) -> Margin:
    """The margin of one column, given the places of its records.

    Guarantee
        `epsilon`-differential privacy when one record is replaced and their number is public.
    """
    rows = max(column.rows, 1)
    if has_counts(axis, rows, epsilon):
        counts = column.sum(lambda places: np.bincount(places[:, 0], minlength=axis.size))
        edges = np.arange(axis.size + 1)
        weights = fitted(noisy(counts, epsilon, source), rows)
    else:
        edges, counts = _leaves(axis, column, SPLITS * epsilon, source)
        weights = _in_blocks(counts, rows, (1 - SPLITS) * epsilon, source)
    return Margin(edges, weights / weights.sum())


def _leaves(
    axis: Axis, column: Passes, budget: Fraction, source: Source
) -> tuple[NDArray[np.int64], Counts]:
    """The leaves of a tree of one column in their order, and the secret number of rows of each."""
    lines = [Line(axis.size, int(axis.blank))]
    boxes, counts = grown(column, lines, SplitLaw.within(budget, 2), source)
    order = np.argsort(boxes.low[:, 0])
    return np.append(boxes.low[order, 0], axis.size), counts[order]


def _in_blocks(counts: Counts, rows: int, epsilon: Fraction, source: Source) -> Weights:
    """Noisy counts of leaves; where there are many, of blocks of neighbouring leaves too.

    Errors of single leaves add up over a long interval. Blocks keep this in check, for a part of
    the budget: a record is counted once among the leaves and once among the blocks.
    """
    if counts.size < _BLOCKS_FROM:
        return fitted(noisy(counts, epsilon, source), rows)
    length = math.isqrt(counts.size)
    begins = np.arange(0, counts.size, length)
    leaf = noisy(counts, epsilon / 2, source)
    block = noisy(np.add.reduceat(counts, begins), epsilon / 2, source)
    sizes = np.diff(np.append(begins, counts.size))
    # the leaves of a block tell its total too, with `sizes` times the variance
    total = (sizes * block + np.add.reduceat(leaf, begins)) / (sizes + 1)
    totals = fitted(total, rows)
    found = np.zeros(counts.size)
    for begin, size, held in zip(begins, sizes, totals, strict=True):
        if held > 0:
            found[begin : begin + size] = fitted(leaf[begin : begin + size], held)
    return found


def has_counts(axis: Axis, rows: int, epsilon: Fraction) -> bool:
    """Whether a column has a noisy count for each of its places, rather than a tree."""
    if axis.held <= _FEW or (not axis.ordered and axis.held <= _MOST):
        return True
    return axis.held <= _MORE and rows * epsilon >= _ROWS_A_PLACE * axis.held


def least_epsilon(axis: Axis, rows: int, epsilon: Fraction) -> Fraction:
    """`Synthesis.least_epsilon` of one column."""
    return epsilon if has_counts(axis, rows, epsilon) else tree_least(epsilon)


def margin_error(axis: Axis, rows: int, epsilon: Fraction) -> float:
    """`Synthesis.expected_error` of one column."""
    if has_counts(axis, rows, epsilon):
        law = DiscreteLaplace(sensitivity=MOVED, epsilon=epsilon)
        return interval_error(axis.size, math.sqrt(law.variance), rows)
    return tree_error([Line(axis.size, int(axis.blank))], rows, epsilon)


def shares(axes: Sequence[Axis]) -> tuple[Fraction, ...]:
    """How columns share their budget: by √min(places, 64), which sums to 1 exactly."""
    roots = [math.isqrt(min(axis.size, 64) << 20) for axis in axes]
    return tuple(Fraction(root, sum(roots)) for root in roots)
