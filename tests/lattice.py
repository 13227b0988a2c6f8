"""The margins of the vector laws on whole steps, by counting points: independent of src.

The vector law is a mixture of uniform laws on balls, ball i with weight e^-εi times its number of
points. What these functions return are the masses of |x_j| = 0, 1, 2, …
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Masses = npt.NDArray[Any]


def _ball_weights(counts: Sequence[int], epsilon: float) -> Masses:
    logs = np.array([math.log(c) for c in counts]) - epsilon * np.arange(len(counts))
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def _levels(dimension: int, epsilon: float) -> int:
    """So many balls that the rest weighs less than 1e-15."""
    return math.ceil((45 + dimension + 12 * math.sqrt(dimension)) / epsilon) + 2


def box_margin(s: Sequence[int], core: Sequence[int], j: int, epsilon: float) -> Masses:
    """|x_j| where every component moves by at most s_j, in any direction."""
    levels = _levels(len(s), epsilon)
    counts = [
        math.prod(2 * (c + i * w) + 1 for c, w in zip(core, s, strict=True)) for i in range(levels)
    ]
    half = core[j] + s[j] * np.arange(levels)
    per_point = _ball_weights(counts, epsilon) / (2 * half + 1)
    # a point k lies in every ball with half-width ≥ k
    rest = np.concatenate([per_point[::-1].cumsum()[::-1], [0.0]])
    k = np.arange(int(half[-1]) + 1)
    return np.asarray(np.where(k == 0, 1, 2) * rest[np.searchsorted(half, k)])


def same_margin(s: int, dimension: int, core: int, epsilon: float) -> Masses:
    """|x_j| where all components move up or all down, by at most s steps each.

    The ball of radius m is the union of the windows of m+1 consecutive numbers that hold 0. With
    x_j = t fixed, windows that hold 0 and t, less the overlaps of neighbouring windows.
    """
    levels = _levels(dimension, epsilon)
    radii = [core + s * i for i in range(levels)]
    counts = [(m + 1) ** (dimension + 1) - m ** (dimension + 1) for m in radii]
    weights = _ball_weights(counts, epsilon)
    masses = np.zeros(radii[-1] + 1)
    for m, count, weight in zip(radii, counts, weights.tolist(), strict=True):
        if weight > 1e-18:
            wide = (m + 1) ** (dimension - 1) / count
            narrow = m ** (dimension - 1) / count
            t = np.arange(m + 1)
            masses[: m + 1] += weight * ((m + 1 - t) * wide - (m - t) * narrow)
    return np.asarray(np.where(np.arange(masses.size) == 0, 1, 2) * masses)
