"""Numbers that were told with noise become whole, not negative, and add up.

Computed from released numbers alone, so it costs nothing; and it is no longer unbiased: what was
below 0 is moved up. Estimates of one total are first combined by their variances, from the parts
upwards; then each total is shared out to its parts, from the totals downwards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

Sums = Mapping[int, Sequence[Sequence[int]]]
"""For each place that is a total, the places of its parts: once for each way to part it."""

_HALF = Fraction(1, 2)
_FINE = 4096


def reconciled(raw: Sequence[Fraction], variances: Sequence[float], sums: Sums) -> list[int]:
    """Whole numbers near the raw ones, none below 0, in which every total is that of its parts.

    A place is a part of one total at most, and no total is a part of itself.

    Example
        >>> reconciled([Fraction(10), Fraction(-2), Fraction(9)], [1, 1, 1], {0: [[1, 2]]})
        [9, 0, 9]
    """
    parts = {place for ways in sums.values() for way in ways for place in way}
    roots = [place for place in range(len(raw)) if place not in parts]
    near: dict[int, Fraction] = {}
    for place in roots:
        _combine(place, raw, variances, sums, near)
    found = [0] * len(raw)
    for place in roots:
        found[place] = max(0, _rounded(near[place]))
    while roots:
        total = roots.pop()
        for way in sums.get(total, ()):
            values = shared_out(found[total], [near[place] for place in way])
            for place, value in zip(way, values, strict=True):
                found[place] = value
            roots.extend(way)
    return found


def shared_out(total: int, wanted: Sequence[Fraction]) -> list[int]:
    """Whole numbers that are not negative, have this total, and lie near what is wanted.

    The point of the simplex that is nearest to it, then rounded so that the total stays: what was
    rounded down most is rounded up first.

    Example
        >>> shared_out(10, [Fraction(6), Fraction(-3), Fraction(5)])
        [6, 0, 4]
    """
    above, before = Fraction(0), Fraction(0)
    for count, value in enumerate(sorted(wanted, reverse=True), start=1):
        before += value
        moved = (before - total) / count
        if count == 1 or value > moved:
            above = moved
    points = [max(Fraction(0), value - above) for value in wanted]
    found = [math.floor(point) for point in points]
    order = sorted(range(len(points)), key=lambda i: (found[i] - points[i], i))
    for place in order[: total - sum(found)]:
        found[place] += 1
    return found


def _combine(
    place: int,
    raw: Sequence[Fraction],
    variances: Sequence[float],
    sums: Sums,
    near: dict[int, Fraction],
) -> float:
    """Puts the best estimate of a place, from itself and what lies below it, and of all of these
    among the `near`; returns its variance."""
    estimates = [(raw[place], variances[place])]
    for way in sums.get(place, ()):
        variance = sum(_combine(part, raw, variances, sums, near) for part in way)
        estimates.append((sum((near[part] for part in way), Fraction(0)), variance))
    known = next((value for value, variance in estimates if not variance), None)
    if known is not None:
        near[place] = known
        return 0.0
    weights = [Fraction(1 / variance) for _, variance in estimates]
    pairs = zip(weights, estimates, strict=True)
    weighed = sum((weight * value for weight, (value, _) in pairs), Fraction(0))
    whole = sum(weights, Fraction(0))
    # numbers of many digits help nobody: how far a value is moved is in its error
    near[place] = Fraction(_rounded(_FINE * weighed / whole), _FINE)
    return float(1 / whole)


def _rounded(number: Fraction) -> int:
    return math.floor(number + _HALF)
