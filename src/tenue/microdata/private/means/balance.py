"""How many groups balance what a group's mean loses against the noise it needs; without any row."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

# (V_D, C_D): groups of N records in D columns miss by V·N^(−2/D), and L_N is about C·N^((D−1)/D)
_SHAPE = {1: (0.0833, 1.0), 2: (0.2238, 2.83), 3: (0.3416, 3.95), 4: (0.4353, 5.05)}


def best_groups(columns: int, rows: int, epsilon: Fraction) -> int:
    """N*: how many groups balance what a group's mean loses against its noise.

    The squared error is about V·N^(−2/D) + 2D·(C·N^((D−1)/D)·N/(nε))², least at
    N⁴ = V·(nε)²/(2D(2D−1)·C²). Constants beyond four columns continue those of fewer.

    Example
        >>> best_groups(2, 30_162, Fraction(1))
        38
    """
    loss, length = _SHAPE.get(columns, (columns / 9, 1.08 * columns + 0.7))
    balance = loss / (2 * columns * (2 * columns - 1) * length**2)
    found = math.sqrt(math.sqrt(balance) * rows * float(epsilon))
    return min(max(1, round(found)), rows)


def share_error(columns: int, groups: int, scale: float) -> float:
    """How far the share of rows below a random value of a random column is off, on average.

    A row is moved by noise of that scale, and inside its group. Uniform rows keep their shares but
    for what is moved beyond the ends, which comes back onto them; and groups are few, so that what
    crosses a value has the deviation of √(spread/groups).
    """
    inside = math.sqrt(_SHAPE.get(columns, (columns / 9, 0.0))[0] / columns) * groups ** (
        -1 / columns
    )
    points = (np.arange(64) + 0.5) / 64
    beyond = points[:, None] - points[None, :]
    if scale > 0:
        half = np.exp(-np.abs(beyond) / scale) / 2
        below = np.where(beyond >= 0, 1 - half, half).mean(axis=1)
    else:
        below = points
    moved = math.sqrt(2 * min(scale, 1) ** 2 + inside**2)
    crossing = math.sqrt(0.56 * min(moved, 0.5) / groups)
    return float(np.abs(below - points).mean() + crossing * math.sqrt(2 / math.pi))
