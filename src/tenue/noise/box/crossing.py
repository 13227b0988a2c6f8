"""Where a falling function crosses zero."""

from __future__ import annotations

from collections.abc import Callable


def crossing(
    excess: Callable[[float], float], low: float, high: float, precision: float = 1e-14
) -> float:
    """An x with excess(x) ≤ 0 that is at most `precision`, relatively, above the first such x.

    `excess` falls; it is above 0 at `low` and not at `high`. A parabola through the last three
    points where that is safe, a half step where it is not (Chandrupatla 1997).

    Example
        >>> round(crossing(lambda x: 2 - x * x, 0.0, 5.0), 12)
        1.414213562373
    """
    near, near_value, far, far_value = high, excess(high), low, excess(low)
    share = 0.5
    while True:
        place = near + share * (far - near)
        if place in (near, far):
            return near if near_value <= 0 else far
        value = excess(place)
        if (value > 0) == (near_value > 0):
            old, old_value = near, near_value
        else:
            old, old_value, far, far_value = far, far_value, near, near_value
        near, near_value = place, value
        room = max(precision, 1e-15) * abs(near)
        if abs(far - near) <= 2 * room:
            return near if near_value <= 0 else far
        share = 0.5
        if len({near_value, far_value, old_value}) == 3:
            share = _parabola(near, near_value, far, far_value, old, old_value)
        least = room / abs(far - near)
        share = min(max(share, least), 1 - least)


def _parabola(a: float, fa: float, b: float, fb: float, c: float, fc: float) -> float:
    """Where between a and b the parabola through three points is zero, or half way if unsafe."""
    xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
    if not (phi**2 < xi and (1 - phi) ** 2 < 1 - xi):
        return 0.5
    first = fa / (fb - fa) * fc / (fb - fc)
    return first + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
