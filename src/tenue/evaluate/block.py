"""Points in blocks that lie close together, so that far ones need not be looked at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Blocks", "blocked"]

Real = NDArray[np.float64]
Whole = NDArray[np.int64]

_ROOM = 64


@dataclass(frozen=True, eq=False)
class Blocks:
    """A balanced tree of halves: node i has children 2i+1 and 2i+2, its leaves are the blocks.

    axis, cut: of each inner node, the coordinate and the value at which it was halved.
    order: the points, block after block; starts: where each block begins, and the end.
    low, high: the corners of each block.
    """

    axis: Whole
    cut: Real
    order: Whole
    starts: Whole
    low: Real
    high: Real

    def home(self, points: Real) -> Whole:
        """The block into which each point falls."""
        node = np.zeros(points.shape[0], np.int64)
        rows = np.arange(points.shape[0])
        while node.size and node[0] < self.axis.size:
            right = points[rows, self.axis[node]] > self.cut[node]
            node = 2 * node + 1 + right
        return node - self.axis.size

    def members(self, block: int) -> Whole:
        """The points of a block."""
        return self.order[self.starts[block] : self.starts[block + 1]]

    def near(self, low: Real, high: Real, squared: float) -> Whole:
        """The points of all blocks that may hold one within this distance of a box.

        Subtracting, squaring and adding column after column never rounds a block's corner to be
        further than the points behind it, so no margin is needed.
        """
        reach = np.zeros(self.low.shape[0])
        for j in range(self.low.shape[1]):
            gap = np.maximum(np.maximum(self.low[:, j] - high[j], low[j] - self.high[:, j]), 0)
            reach += gap * gap
        found = [self.members(int(block)) for block in np.flatnonzero(reach <= squared)]
        return np.concatenate(found) if found else np.empty(0, np.int64)


def blocked(points: Real) -> Blocks:
    """Halves the points along their widest coordinate until a block has few."""
    count = points.shape[0]
    depth = max(0, int(np.ceil(np.log2(max(count, 1) / _ROOM)))) if points.shape[1] else 0
    axis = np.zeros(2**depth - 1, np.int64)
    cut = np.zeros(2**depth - 1)
    parts = [np.arange(count)]
    for node in range(axis.size):
        part = parts[node]
        inside = points[part]
        axis[node] = np.argmax(inside.max(axis=0) - inside.min(axis=0))
        middle = part.size // 2
        line = inside[:, axis[node]]
        half = np.argpartition(line, middle)
        cut[node] = line[half[:middle]].max()
        parts += [part[half[:middle]], part[half[middle:]]]
    leaves = parts[axis.size :]
    sizes = [leaf.size for leaf in leaves]
    return Blocks(
        axis,
        cut,
        np.concatenate(leaves),
        np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        np.array([points[leaf].min(axis=0) for leaf in leaves]),
        np.array([points[leaf].max(axis=0) for leaf in leaves]),
    )
