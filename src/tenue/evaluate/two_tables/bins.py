"""The bins of a chart: on the grid of the column, of round widths, alike in every report.

A bin has the same whole number of grid values as every other, otherwise equal shares would have
bars of unequal height. Bins begin at the declared low bound, and their width follows from the
declared bounds where values fill at least half of these: two releases of a table have the same bars
there. Where values fill less, the width follows from them, but only a round one, so that the bars
of two releases still coincide wherever both have some.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import count

import numpy as np

from ...schema import Bounded
from ..factorize import Real

BINS = 24
"""The most bins of a chart."""
_FULL = Fraction(1, 2)
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_SPANS = (
    *(1, 5, 15, _MINUTE, 5 * _MINUTE, 15 * _MINUTE, _HOUR, 3 * _HOUR, 6 * _HOUR, _DAY),
    *(7 * _DAY, 28 * _DAY, 91 * _DAY, 182 * _DAY, 364 * _DAY, 728 * _DAY, 1820 * _DAY),
)
"""The widths of bins of times, in seconds."""


def bins_of(column: Bounded, least: float, most: float) -> tuple[Real, float]:
    """The ends of the bins of a declared column, and the width of its grid.

    Parameters
        least, most: the ends of the values that occur; times in seconds.
    """
    unit = _DAY if column.type == "date" else 1
    time, grid = column.type != "number", column.grid * unit
    half = grid / 2
    start, end = column.low * unit - half, column.high * unit + half
    low, high = Fraction(least), Fraction(most)
    # a value is spread over its grid step; those that were spread already end on it
    low, high = (low if (low - start) % grid == 0 else low - half), max(high, low)
    high = high if (high - start) % grid == 0 and high > low else high + half
    if low >= start and high <= end and high - low >= _FULL * (end - start):
        low, high = start, end
    return _lattice(start, grid, low, high, time=time), float(grid)


def bins_of_values(values: Real, step: float, *, time: bool = False) -> tuple[Real, float]:
    """The same of a column without a schema; its grid is `step`, if all values are multiples.

    Parameters
        values: some, finite.
        step: of a column whose values are whole numbers, or days.
    """
    low, high = float(values.min()), float(values.max())
    if (values % step == low % step).all():
        grid = Fraction(step)
        start = Fraction(low) % grid - grid / 2
        lowest, highest = Fraction(low) - grid / 2, Fraction(high) + grid / 2
        return _lattice(start, grid, lowest, highest, time=time), step
    width = Fraction(high - low) / BINS
    grid = Fraction(10) ** _power(width)
    return _lattice(Fraction(0), grid, Fraction(low), Fraction(high), time=time), 0.0


def _power(width: Fraction) -> int:
    """The power of ten at or below a width."""
    return int(np.floor(np.log10(float(width))))


def _lattice(start: Fraction, grid: Fraction, low: Fraction, high: Fraction, *, time: bool) -> Real:
    """Ends of bins of one round width that cover everything from low to high."""
    for width in _widths(grid, time=time):
        first = (low - start) // width
        bins = -((start + first * width - high) // width)
        if bins <= BINS:
            break
    return np.array([float(start + (first + i) * width) for i in range(max(int(bins), 1) + 1)])


def _widths(grid: Fraction, *, time: bool) -> Iterator[Fraction]:
    """Round multiples of the grid, growing."""
    yield grid
    if time:
        yield from (grid * -(-span // grid) for span in _SPANS if span > grid)
        grid = max(grid, Fraction(_SPANS[-1]))
    for power in count():
        yield from (grid * times * 10**power for times in (1, 2, 5))
