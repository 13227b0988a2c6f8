"""Coarse cells on the scale of ranks, and how a tree and a grid agree about them.

Both are released: the weights of the boxes of a tree, and the noisy counts of a grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..counts import Counts, Weights, fitted
from ..domain import Places
from ..growth import Boxes
from .dependence import dependent
from .grid import Grid
from .grouping import Groups

_AT_ONCE = 1 << 12


@dataclass(frozen=True)
class Coarse:
    """The groups of each column as intervals of ranks.

    ends: where the groups of each column but the last end.
    wanted: the weight of each group of each column.
    """

    ends: Sequence[Weights]
    wanted: Sequence[Weights]
    ranks: int

    @classmethod
    def of(cls, groups: Sequence[Groups], ranks: int) -> Coarse:
        """The groups of ordered columns, whose cells follow each other."""
        wanted = [group.weights for group in groups]
        return cls([np.cumsum(weights)[:-1] * ranks for weights in wanted], wanted, ranks)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(weights) for weights in self.wanted)

    def cells(self, ranks: Places) -> Counts:
        """The coarse cell of each row of ranks."""
        numbers = [np.searchsorted(end, ranks[:, j] + 0.5) for j, end in enumerate(self.ends)]
        return np.asarray(np.ravel_multi_index(numbers, self.shape))

    def factors(self, boxes: Boxes, weights: Weights, variance: float, grid: Grid) -> Weights:
        """By how much more or less rows each cell should have than the boxes give it.

        The boxes' share of a cell and its count in the grid are weighed by their variances.

        variance: of the weight of each box.
        """
        held, spread = np.zeros(self.shape), np.zeros(self.shape)
        for begin in range(0, boxes.many, _AT_ONCE):
            part = slice(begin, begin + _AT_ONCE)
            inside = self._inside(boxes.low[part], boxes.high[part])
            held += _outer(inside, weights[part])
            spread += _outer([share**2 for share in inside], np.full(len(inside[0]), variance))
        rows = float(weights.sum())
        sure = grid.variance / (grid.variance + spread)
        both = fitted(sure * held + (1 - sure) * grid.counts, rows)
        expected = np.array(rows)
        for share in self.wanted:
            expected = np.multiply.outer(expected, share)
        table = dependent(both, expected, 0.0, [False] * grid.counts.ndim)
        return np.asarray(np.where(held > 0, table / np.maximum(held, 1e-300), 0.0).ravel())

    def _inside(self, low: Places, high: Places) -> list[Weights]:
        """For each column the share of each box in each group."""
        found = []
        for j, end in enumerate(self.ends):
            first, last = low[:, j, None], high[:, j, None]
            below = np.clip((np.append(end, self.ranks) - first) / (last - first), 0.0, 1.0)
            below[:, -1] = 1.0
            found.append(np.diff(below, axis=1, prepend=0.0))
        return found


def _outer(shares: Sequence[Weights], weights: Weights) -> Weights:
    """The sum over boxes of the products of their shares, each with its weight."""
    half = len(shares) // 2
    left, right = weights[:, None], np.ones((len(weights), 1))
    for share in shares[:half]:
        left = (left[:, :, None] * share[:, None, :]).reshape(len(weights), -1)
    for share in shares[half:]:
        right = (right[:, :, None] * share[:, None, :]).reshape(len(weights), -1)
    return np.asarray(left.T @ right).reshape([share.shape[1] for share in shares])
