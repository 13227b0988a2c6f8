"""The errors of numbers that are computed from several groups of an answer; noise is independent.

A ratio of two such numbers, A/T, has the interval of all R that the noisy numbers do not reject: at
the true ratio A − R·T is 0, so that x·A + y·T is noise alone in the direction (x, y) ~ (1, −R). Its
half-width is convex in the direction, so that a chord between two directions is never below it, and
bounds of the same two chords meet in closed form. If T may be 0, there is no interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from ...mechanism.additive_noise import Error, Part, Term, half_width, linear_error
from ...noise.laplace_sum_tail import LaplaceCombination
from .reading import Interval, Parts

FEW = 64
"""Up to so many noisy numbers the law of a sum is computed as it is. Above, an interval is that of
a few more of them, and a ratio has one from the intervals of both of its sides."""
_CHORDS = 12

Spread = Mapping[tuple[int, int, int], Fraction]
"""A linear number: the weight of each component of each part of each group, and a constant."""
CONSTANT = (-1, -1, -1)
"""The place of the constant."""


# -- Laws of linear numbers ------------------------------------------------------------------------

_Column = tuple[tuple[int, int, Fraction], ...]
"""The weights in one group: part, component, weight."""


def columns_of(weights: Spread) -> dict[_Column, int]:
    """How many groups have the same weights. Their noise has the same law."""
    by_cell: dict[int, list[tuple[int, int, Fraction]]] = {}
    for (cell, part, component), weight in weights.items():
        if weight and cell >= 0:
            by_cell.setdefault(cell, []).append((part, component, weight))
    found: dict[_Column, int] = {}
    for column in by_cell.values():
        key = tuple(sorted(column))
        found[key] = found.get(key, 0) + 1
    return found


@dataclass(frozen=True)
class SpreadError:
    """The law of a linear number of several groups.

    columns: the weights in a group, and how many groups have them.
    """

    parts: Parts
    columns: tuple[tuple[_Column, int], ...]

    @property
    def _law(self) -> Error:
        return _law(self.parts, self.columns)

    @property
    def variance(self) -> float:
        """At most: terms of one box may be correlated."""
        return sum(
            many * linear_error(self.parts, _terms(column, 0)).variance
            for column, many in self.columns
        )

    @property
    def mean_absolute_error(self) -> float | None:
        return self._law.mean_absolute_error

    @property
    def quick_mean_absolute_error(self) -> float | None:
        return self._law.quick_mean_absolute_error

    def half_width(self, level: Fraction) -> float:
        half = self._law.half_width(level)
        return min(half, self._by_variance(level))

    quick_half_width = half_width

    def _by_variance(self, level: Fraction) -> float:
        """By the inequality of Chebyshev, which takes no law."""
        return math.sqrt(self.variance / float(1 - level))


def _terms(column: _Column, cell: int, parts: int = 0) -> tuple[Term, ...]:
    return tuple(Term(cell * parts + part, component, weight) for part, component, weight in column)


@lru_cache(maxsize=4096)
def _law(parts: tuple[Part, ...], columns: tuple[tuple[_Column, int], ...]) -> Error:
    """The law of the sum over groups, each of which has parts of its own."""
    if sum(len(column) * many for column, many in columns) > FEW:
        found = LaplaceCombination.of(
            (weight, parts[part].noise.independent(component), many)
            for column, many in columns
            for part, component, weight in column
        )
        if found is not None:
            return found
    every = [column for column, many in columns for _ in range(many)]
    terms = [t for cell, column in enumerate(every) for t in _terms(column, cell, len(parts))]
    return linear_error(parts * len(every), tuple(terms))


def spread_half_width(parts: Parts, weights: Spread, level: Fraction) -> float:
    """The half-width of the interval of a linear number."""
    columns = columns_of(weights)
    if len(columns) == 1:
        # One more independent number with a symmetric law makes a symmetric unimodal sum no more
        # likely to be near 0 (Wintner 1938): so the interval of a few more numbers holds as well.
        ((column, many),) = columns.items()
        columns = {column: _rounded_up(many)}
    return half_width(SpreadError(parts, tuple(sorted(columns.items()))), level)


def _rounded_up(many: int) -> int:
    """At least as many, in steps of about a thirtieth."""
    if many <= FEW:
        return many
    step: int = 2 ** (many.bit_length() - 6)
    return -(-many // step) * step


# -- Ratios ----------------------------------------------------------------------------------------

_Pair = tuple[tuple[tuple[int, int, Fraction, Fraction], ...], int]
"""The weights of two numbers in a group, and how many groups have them."""
_Direction = tuple[float, float, float]
"""x, y and the half-width of x·A + y·T."""


def pairs_of(above: Spread, below: Spread) -> tuple[_Pair, ...]:
    by_cell: dict[int, list[tuple[int, int, Fraction, Fraction]]] = {}
    for key in sorted({**above, **below}):
        cell, part, component = key
        if cell >= 0:
            both = above.get(key, Fraction(0)), below.get(key, Fraction(0))
            by_cell.setdefault(cell, []).append((part, component, *both))
    found: dict[tuple[tuple[int, int, Fraction, Fraction], ...], int] = {}
    for column in by_cell.values():
        found[tuple(column)] = found.get(tuple(column), 0) + 1
    return tuple(sorted(found.items()))


@lru_cache(maxsize=256)
def directions_of(
    parts: tuple[Part, ...], pairs: tuple[_Pair, ...], level: Fraction
) -> tuple[_Direction, ...]:
    """Half-widths in directions over half a turn, evenly where both numbers have equal noise."""

    def error(x: Fraction, y: Fraction) -> SpreadError:
        columns: dict[_Column, int] = {}
        for several, many in pairs:
            mixed = ((part, component, x * a + y * t) for part, component, a, t in several)
            column = tuple(one for one in mixed if one[2])
            columns[column] = columns.get(column, 0) + many
        return SpreadError(parts, tuple(sorted(columns.items())))

    one, none = Fraction(1), Fraction(0)
    sizes = [math.sqrt(error(*axis).variance) or 1.0 for axis in ((one, none), (none, one))]
    found = []
    for turn in range(_CHORDS + 1):
        angle = math.pi * turn / _CHORDS
        # weights are exact, and short, so that laws of many groups have a common grid
        x = Fraction(round(64 * math.cos(angle)), 64) / Fraction(_power(sizes[0]))
        y = Fraction(round(64 * math.sin(angle)), 64) / Fraction(_power(sizes[1]))
        found.append((float(x), float(y), error(x, y).half_width(level)))
    return tuple(found)


def _power(size: float) -> Fraction:
    """The nearest power of two."""
    return Fraction(2) ** round(math.log2(size))


def not_rejected(directions: Sequence[_Direction], above: float, below: float) -> Interval | None:
    """The ends of all A/T = −y/x with |x·A + y·T| within the half-width on its chord; None if T may
    be 0."""
    found: list[tuple[float, float]] = []
    for (x, y, half), (x2, y2, half2) in pairwise(directions):
        # on the chord both sides are linear: |first + s·more| <= half + s·wider
        first, more = x * above + y * below, (x2 - x) * above + (y2 - y) * below
        low, high = 0.0, 1.0
        for sign in (1.0, -1.0):
            slope, reach = sign * more - (half2 - half), half - sign * first
            if slope > 0:
                high = min(high, reach / slope)
            elif slope < 0:
                low = max(low, reach / slope)
            elif reach < 0:
                high = -1.0
        if low <= high:
            found += [(x + s * (x2 - x), y + s * (y2 - y)) for s in (low, high)]
    if not found or any(x == 0 for x, _ in found):
        return None
    ratios = [Fraction(-y / x) for x, y in found]
    return min(ratios), max(ratios)
