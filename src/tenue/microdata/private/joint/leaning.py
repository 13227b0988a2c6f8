"""Where rows lie inside the groups of a table: nearer to where their neighbours have more.

A table of groups says how many rows each cell has. If more than independence would give are in the
next cell, then inside this one they are more likely near it, too: the departure from independence
is taken to be straight lines from cell to cell, not steps. It is made of a released table only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....noise.source import Source
from ..counts import Weights, uniforms

_FLAT = 1e-6


def leanings(table: Weights, axis: int, *, blank: bool) -> Weights:
    """For each cell by how much its rows lean towards the next along an axis, in [−1, 1]: their
    density rises from 1 − lean at one end of the cell to 1 + lean at the other.

    blank: whether the last group has no neighbours, since it stands for missing values.
    """
    line = np.moveaxis(_over_independence(table), axis, 0)
    held = line.shape[0] - blank
    found = np.zeros(line.shape)
    if held > 1:
        line = line[:held]
        between = (line[1:] + line[:-1]) / 2
        # beyond the last cell the line goes on as it came
        ends = np.maximum(2 * line[[0, -1]] - between[[0, -1]], 0.0)
        low = np.concatenate([ends[:1], between])
        high = np.concatenate([between, ends[1:]])
        found[:held] = (high - low) / np.maximum(high + low, 1e-300)
    return np.moveaxis(found, 0, axis)


def within(lean: Weights, source: Source) -> NDArray[np.float64]:
    """A place in [0, 1) for each row, by the straight density that it leans with."""
    rank = uniforms(lean.size, source)
    steep = np.where(np.abs(lean) < _FLAT, 1.0, lean)
    leaning = (steep - 1 + np.sqrt((1 - steep) ** 2 + 4 * steep * rank)) / (2 * steep)
    found = np.where(np.abs(lean) < _FLAT, rank, leaning)
    return np.asarray(np.clip(found, 0.0, np.nextafter(1.0, 0.0)))


def _over_independence(table: Weights) -> Weights:
    found = table / table.sum()
    for axis in range(table.ndim):
        others = tuple(i for i in range(table.ndim) if i != axis)
        margin = table.sum(axis=others, keepdims=True) / table.sum()
        found = found / np.maximum(margin, 1e-300)
    return np.asarray(found)
