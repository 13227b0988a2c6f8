"""The search behind the smooth sensitivity: the best opening of a window in n log n steps.

Sorted rows x_0 <= ... <= x_(n+1), the ends of the domain included. A window starts at ranks (p, s)
and opens to any l <= p and r >= s: that takes (r - l) - (s - p) changed records, and then the
answer can move by x_r - x_l. Wanted is the largest (x_r - x_l) · exp(-beta · (r - l)).

Two facts keep this short. Among equal values only the innermost rank matters. And if r is the best
end for l, the best end for a larger l is r or beyond: raising x_l to x_l' takes (x_l' - x_l) ·
exp(-beta · r) away, and that hurts near ends most. So the best ends are found by halving: first for
the middle l, then for each half among the ends that remain. (It stays true when ends farther than
a fixed distance from l are forbidden.)

Logarithms in floating point only *exclude*: whatever comes within their error of the best remains,
as an end and as a candidate, and the caller compares the candidates exactly. (Where beta is below
1e-10, very many ends can come that close: then the search is slower, and as exact.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

# How many pairs are looked at together: bounds the memory where very many ends nearly tie.
_BATCH = 2**21
# Below this many pairs halving costs more than it saves.
_FEW = 2**12

Array = NDArray[Any]


@dataclass(frozen=True)
class Opening:
    """A window that is `width` wide once `distance` records have been changed."""

    distance: int
    width: int


def openings(padded: Array, windows: Iterable[tuple[int, int]], beta: Fraction) -> set[Opening]:
    """A few openings, the best one among them; none at all if no window opens."""
    starts = [_Window(padded, p, s) for p, s in windows]
    near = [opening for window in starts for opening in window.nearest() if opening.width]
    if not near:
        return set()
    first = min(near, key=lambda opening: (opening.distance, -opening.width))
    # To win, an opening k records farther must be exp(k * beta) times as wide as `first`, and the
    # whole domain is less than 2**bits times as wide.
    bits = ((int(padded[-1]) - int(padded[0])) // first.width).bit_length()
    reach = min(len(padded), math.floor(bits / beta))
    if not reach:
        return {first}
    return set().union(*(_search(x, float(beta), first.distance, reach) for x in starts))


class _Window:
    """The ranks worth looking at: `left` ascending to p, `right` ascending from s."""

    def __init__(self, padded: Array, p: int, s: int) -> None:
        rises = padded[1:] > padded[:-1]
        self.left = np.append(np.flatnonzero(rises[:p]), p)
        self.right = np.append(s, s + 1 + np.flatnonzero(rises[s:]))
        self.padded, self.gap = padded, s - p

    def nearest(self) -> Iterator[Opening]:
        """The window as it is, and opened by one value on either side."""
        yield self._opening(self.left[-1], self.right[0])
        if len(self.left) > 1:
            yield self._opening(self.left[-2], self.right[0])
        if len(self.right) > 1:
            yield self._opening(self.left[-1], self.right[1])

    def _opening(self, l: int, r: int) -> Opening:
        return Opening(int(r - l) - self.gap, int(self.padded[r]) - int(self.padded[l]))


def _search(window: _Window, beta: float, nearest: int, reach: int) -> set[Opening]:
    """The openings of one window that may be best, at most `reach` records beyond `nearest`."""
    farthest = nearest + reach + window.gap
    left = window.left[window.right[0] - window.left <= farthest]
    right = window.right[window.right - window.left[-1] <= farthest]
    low, high = window.padded[left], window.padded[right]
    allowed = np.searchsorted(right, left + farthest, side="right")
    error = _error(int(high[-1]) - int(low[0]))

    best = -math.inf
    found: dict[int, tuple[int, float]] = {}
    # each row: places in `left` from, to; places in `right` from, to; `to` is not included
    todo = np.array([[0, len(left), 0, len(right)]])
    if len(left) * len(right) <= _FEW:
        place = np.arange(len(left))
        todo = np.column_stack([place, place + 1, 0 * place, 0 * place + len(right)])
    while len(todo):
        middle = todo[:, :2].sum(axis=1) // 2
        begin, sizes = todo[:, 2], np.minimum(todo[:, 3], allowed[middle]) - todo[:, 2]
        batch = max(1, int(np.searchsorted(sizes.cumsum(), _BATCH, side="right")))
        now, todo = todo[:batch], todo[batch:]
        middle, begin, sizes = middle[:batch], begin[:batch], sizes[:batch]

        stops = sizes.cumsum()
        starts = stops - sizes
        l = np.repeat(middle, sizes)
        r = np.arange(stops[-1]) + np.repeat(begin - starts, sizes)
        width = high[r] - low[l]
        distance = right[r] - left[l] - window.gap
        value = _logarithm(width) - beta * (distance - nearest)

        top = np.maximum.reduceat(value, starts)
        best = max(best, float(top.max()))
        kept = np.flatnonzero(value >= np.repeat(top, sizes) - error)
        for place in kept[(value[kept] >= best - error) & (width[kept] > 0)]:
            far, wide = int(distance[place]), (int(width[place]), float(value[place]))
            found[far] = max(wide, found.get(far, wide))

        lowest = r[kept[np.searchsorted(kept, starts)]]
        highest = r[kept[np.searchsorted(kept, stops) - 1]]
        before = np.column_stack([now[:, 0], middle, now[:, 2], highest + 1])
        after = np.column_stack([middle + 1, now[:, 1], lowest, now[:, 3]])
        halves = np.concatenate([before, after])
        todo = np.concatenate([todo, halves[halves[:, 0] < halves[:, 1]]])
    return {Opening(far, width) for far, (width, x) in found.items() if x >= best - error}


def _logarithm(width: Array) -> Array:
    opens = width > 0
    value = np.full(len(width), -math.inf)
    if width.dtype == object:
        value[opens] = [math.log(x) for x in width[opens]]
    else:
        value[opens] = np.log(width[opens])
    return value


def _error(widest: int) -> float:
    """Twice what rounding can do to log(width) - beta * k, both at most `bits` in size.

    Each is off by less than four half-units in the last place of a number below `bits`.
    """
    bits = widest.bit_length() + 1
    return bits * 2.0**-48
