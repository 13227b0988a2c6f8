"""How columns depend on each other, by noisy counts of their groups: post-processing, since it
reads nothing else.

Columns of numbers are looked at coarsely first, two and two groups together again and again: an
effect that is small in every cell, but the same in many, is seen there. What was found there stays:
a closer look only shares it out. So the noise of many cells that are nearly empty, of which only
the part above 0 could be kept, adds no rows to regions that have none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .counts import Counts, Weights

_BETWEEN, _LAST = 10, 30
"""Sweeps that fit the margins after each look, and after the last."""
_LEAST = 1e-6
"""The part of what is expected of a cell that it keeps, whatever the noise says."""


def dependent(
    counts: Counts | Weights, expected: Weights, scale: float, ordered: Sequence[bool]
) -> Weights:
    """The table that rows are drawn from: the expected one, and as much of the noisy departure from
    it as is not likely to be noise; its margins are those of the expected table.

    scale: of the noise of each count.
    """
    expected = np.maximum(expected, 1e-9 * expected.sum() / expected.size)
    halvings = [
        max((size - 1).bit_length() - 1, 0) if line else 0
        for size, line in zip(expected.shape, ordered, strict=True)
    ]
    whole = [np.zeros(size, np.int64) for size in expected.shape]
    above, table, wanted = whole, _summed(expected, whole), _summed(expected, whole)
    for level in reversed(range(max(halvings) + 1)):
        parts = [
            np.arange(size) >> min(level, most)
            for size, most in zip(expected.shape, halvings, strict=True)
        ]
        inside = np.ix_(*(far[_begins(near)] for far, near in zip(above, parts, strict=True)))
        here, seen = _summed(expected, parts), _summed(counts, parts)
        cells = _summed(np.ones(expected.shape), parts)
        likely = here * (table / wanted)[inside]
        apart = _centred(seen - likely)
        shared = _shared(likely + _surely(apart, scale * np.sqrt(cells)), table, inside)
        table = _raked(np.maximum(shared, _LEAST * likely), here, _BETWEEN if level else _LAST)
        above, wanted = parts, here
    return table


def _surely(apart: Weights, noise: Weights) -> Weights:
    """Keeps nothing of departures within the scale of their noise, and nearly all far beyond it
    (Breiman 1995, the garrote)."""
    beyond = np.abs(apart) > noise
    over = np.where(beyond, apart, 1.0)
    return np.asarray(np.where(beyond, apart - noise * (noise / over), 0.0))


def _begins(part: Counts) -> Counts:
    return np.flatnonzero(np.diff(part, prepend=-1))


def _summed(table: Weights | Counts, parts: Sequence[Counts]) -> Weights:
    found = np.asarray(table, np.float64)
    for axis, part in enumerate(parts):
        found = np.add.reduceat(found, _begins(part), axis=axis)
    return found


def _along(table: Weights, axis: int) -> Weights:
    others = tuple(i for i in range(table.ndim) if i != axis)
    return np.asarray(table.sum(axis=others, keepdims=True))


def _centred(apart: Weights) -> Weights:
    """Removes what would change a margin, which is known better."""
    for axis in range(apart.ndim):
        apart = apart - _along(apart, axis) * (apart.shape[axis] / apart.size)
    return apart


def _shared(values: Weights, totals: Weights, inside: tuple[Counts, ...]) -> Weights:
    """The nearest numbers that are none below 0 and, over the cells inside each coarser cell, sum
    to its total."""
    owner = np.arange(totals.size).reshape(totals.shape)[inside].ravel()
    order = np.argsort(owner, kind="stable")
    sizes = np.bincount(owner, minlength=totals.size)
    nth = np.arange(owner.size) - (np.cumsum(sizes) - sizes)[owner[order]]
    rows = np.full((totals.size, sizes.max()), -np.inf)
    rows[owner[order], nth] = values.ravel()[order]
    falling = -np.sort(-rows, axis=1)
    many = np.arange(1, sizes.max() + 1)
    excess = (np.cumsum(falling, axis=1) - totals.reshape(-1, 1)) / many
    # one is kept, also of a total that rounding swallows
    last = np.maximum(np.count_nonzero(falling > excess, axis=1) - 1, 0)
    rows = np.maximum(rows - np.take_along_axis(excess, last[:, None], axis=1), 0.0)
    found = np.empty(owner.size)
    found[order] = rows[owner[order], nth]
    return found.reshape(values.shape)


def _raked(table: Weights, expected: Weights, sweeps: int) -> Weights:
    wanted = [_along(expected, axis) for axis in range(table.ndim)]
    for _ in range(sweeps):
        for axis in reversed(range(table.ndim)):
            table = table * (wanted[axis] / _along(table, axis).clip(1e-300))
    return np.asarray(table)
