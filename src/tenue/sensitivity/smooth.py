"""Smooth sensitivity: the most that one record can move an order statistic, here or nearby.

Sorted rows x_0 <= ... <= x_(n+1), the ends of the domain included. A window starts at ranks (p, s)
and opens to any l <= p and r >= s: that takes (r - l) - (s - p) changed records, and then the
answer can move by x_r - x_l. Wanted is the largest (x_r - x_l) · exp(-beta · (r - l)).

Two facts keep this short. Among equal values only the innermost rank matters. And if r is the best
end for l, the best end for a larger l is r or beyond: raising x_l to x_l' takes (x_l' - x_l) ·
exp(-beta · r) away, and that hurts near ends most. So the best ends are found by halving: first for
the middle l, then for each half among the ends that remain. (It stays true when ends farther than
a fixed distance from l are forbidden.)

Logarithms in floating point only *exclude*: everything within their error of the best remains,
as an end and as a candidate, and the caller compares the candidates exactly. (If beta is below
1e-10, very many ends can come that close: then the search is slower, but as exact.)
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import Number, above_zero, checked_call
from ..errors import refuse
from .column import domain, exact_column
from .parameters import PARAMETERS, order_statistic, unknown

# Pairs examined together: bounds the memory if very many ends nearly tie.
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
    """The ranks that matter: `left` ascending to p, `right` ascending from s."""

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
    # Twice what rounding can do to log(width) - beta * k, both at most `bits` in size: each is off
    # by less than four half-units in the last place of a number below `bits`.
    bits = (int(high[-1]) - int(low[0])).bit_length() + 1
    error = bits * 2.0**-48

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


ROUNDING = Fraction(1, 2**52)
"""The smoothness lost by rounding up: the float of `smooth` is (beta + ROUNDING)-smooth."""


@dataclass(frozen=True)
class Peak:
    """The smooth sensitivity exactly: local * exp(-beta * distance).

    `local` is the largest local sensitivity among the tables that differ in `distance` records, and
    no other distance gives a larger product.
    """

    distance: int
    local: Fraction


@checked_call
def smooth(
    statistic: str,
    values: object,
    *,
    bounds: object,
    beta: Number,
    k: Number | None = None,
    q: Number | None = None,
    rows_public: bool = True,
) -> float:
    """The beta-smooth sensitivity: the largest exp(-beta * j) * A_j over distances j.

    A_j is the largest local sensitivity among the tables that differ from `values` in at most j
    records.

    Guarantee
        The distance is found exactly. The float is never below the exact value, and above it by
        less than one part in 10**12 (values below 2**-1022 become that). As a function of the table
        it is at least the local sensitivity, and between neighbours it grows by a factor of at most
        exp(beta + ROUNDING). Noise of `noise.HeavyTail` scaled by it is differentially private when
        gamma * (beta + ROUNDING) <= epsilon: pass beta = admissible_beta(gamma, epsilon) - ROUNDING
        to a mechanism that has no slack.

    What it is not
        It is an exact function of the rows: never print it, nor a scale, an interval or an error
        that follows from it. It is not smooth where the number of rows is not public (a filter, a
        group, a person with several rows): state rows_public=False there, and it is refused.

    Parameters
        statistic: "median", "max", "min", "second-max", "kth-largest" and "kth-smallest" with `k`,
            "quantile" with `q`, as in `local`.
        values, bounds: as in `local`. beta: above 0; epsilon / gamma, *not* epsilon.

    Example
        >>> round(smooth("median", [1, 2, 2, 5, 9], bounds=(0, 10), beta="1/3"), 10)
        5.015719174

    Source
        Nissim, Raskhodnikova and Smith 2007; Soria-Comas et al. 2017, section 6.1.2 (ranks and
        beta corrected). O(n log n) where the paper has O(n²).
    """
    peak = smooth_peak(
        statistic, values, bounds=bounds, beta=beta, k=k, q=q, rows_public=rows_public
    )
    return _rounded_up(peak, above_zero(beta, "beta"))


@checked_call
def smooth_peak(
    statistic: str,
    values: object,
    *,
    bounds: object,
    beta: Number,
    k: Number | None = None,
    q: Number | None = None,
    rows_public: bool = True,
) -> Peak:
    """The distance at which the smooth sensitivity is reached, exactly; as in `smooth`.

    Example
        >>> smooth_peak("median", [1, 2, 2, 5, 9], bounds=(0, 10), beta="1/3")
        Peak(distance=1, local=Fraction(7, 1))
    """
    _check_parameters(statistic, k=k, q=q)
    if not rows_public:
        raise refuse("sensitivity.smooth-count-secret")
    rate = above_zero(beta, "beta")
    low, high = domain(bounds)
    if high - low > Fraction(sys.float_info.max):
        raise refuse("sensitivity.bounds-too-wide")
    column = exact_column(values, bounds)
    ranks = order_statistic(statistic, column.rows, k=k, q=q)
    padded = np.empty(column.rows + 2, dtype=column.steps.dtype)
    padded[0], padded[1:-1], padded[-1] = column.low, np.sort(column.steps), column.high
    best = Opening(0, 0)
    for opening in openings(padded, ranks.windows, rate):
        if _beats(opening, best, rate):
            best = opening
    return Peak(best.distance, Fraction(best.width, ranks.count) * column.step)


def _check_parameters(statistic: str, **given: object) -> None:
    if not isinstance(statistic, str) or statistic not in PARAMETERS:
        raise unknown("smooth", statistic, PARAMETERS)
    for name, value in given.items():
        needed = name in PARAMETERS[statistic]
        if needed == (value is None):
            facts = {"statistic": statistic, "name": name, "verb": "needs" if needed else "has no"}
            word = f"Add {name}=... to the call" if needed else f"Leave `{name}` out"
            raise refuse("sensitivity.statistic-parameter-mismatch", **facts, word=word)


def _beats(challenger: Opening, champion: Opening, beta: Fraction) -> bool:
    """Whether width * exp(-beta * distance) is larger, decided however close the two are.

    exp of a rational other than 0 is irrational: at different distances the two are never equal, so
    enough digits always decide.
    """
    if not champion.width or challenger.distance == champion.distance:
        return challenger.width > champion.width
    ahead = beta * (challenger.distance - champion.distance)
    digits = 20
    while True:
        context = Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX)
        logs = [context.ln(Decimal(x.width)) for x in (challenger, champion)]
        gain = Fraction(logs[0]) - Fraction(logs[1])
        # a logarithm is rounded correctly, hence by less than 10**(1 - digits) of itself
        doubt = sum(Fraction(log) for log in logs) / 10 ** (digits - 1)
        if abs(gain - ahead) > doubt:
            return gain > ahead
        digits *= 2


def _rounded_up(peak: Peak, beta: Fraction) -> float:
    least = sys.float_info.min
    if not peak.local:
        return 0.0
    decay = beta * peak.distance
    if decay > 1100 + peak.local.numerator.bit_length():  # far below the least normal double
        return least
    bound = peak.local * _exponential_up(decay)
    value = float(bound)
    return max(math.nextafter(value, math.inf) if value < bound else value, least)


def _exponential_up(decay: Fraction) -> Fraction:
    """exp(-decay), or a little more: less than one part in 10**50."""
    if not decay:
        return Fraction(1)
    context = Context(prec=60, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)
    exponent = context.divide(Decimal(decay.numerator), Decimal(decay.denominator))
    return Fraction(context.exp(-exponent)) * (1 + Fraction(1, 10**55))
