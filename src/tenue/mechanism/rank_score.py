"""The distance of a value from a wanted rank, as a whole number that one row changes little.

For a value v let L = #{x < v} and C = #{x ≤ v} among n rows. Every score here is

    s(v) = max(b·L − (a·n + above), (a·n + below) − b·C, 0)

with constants that do not depend on rows. L, C and n are counts, so one row moves s by at most
`sensitivity`. A value with ties on it is right for all the ranks it covers, which a score of the
distance |C − p·n| would miss.

Ends of an interval. A value that shall lie below the p-quantile with probability 1 − η is aimed
`margin` below it. Where the table has too few rows for that aim, no value would be right; but the
lowest grid point lies below everything, so there it is `spared` the first term, which leaves it
right. A term less moves no more than before. The highest grid point is spared the second term.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

_USUALLY = Fraction(1, 20)


@dataclass(frozen=True)
class RankScore:
    """The constants of a score, and the most that one row moves it.

    rank: the rank counted from the end that is asked for, where a rank is aimed at.
    spared: the end of the grid that is right where the aim lies beyond all rows.
    """

    b: int
    a: int
    above: int
    below: int
    sensitivity: int
    rank: int | None = None
    spared: Literal["low", "high"] | None = None

    def spares(self, rows: int) -> bool:
        """Whether the spared end is right because the aim lies beyond all rows."""
        if self.spared == "low":
            return self.a * rows + self.above < 0
        return self.spared == "high" and self.a * rows + self.below > self.b * rows

    def of(self, rows: int, less: int, up_to: int) -> int:
        """s for a value with `less` rows below it and `up_to` rows below or at it."""
        centre = self.a * rows
        return max(self.b * less - centre - self.above, centre + self.below - self.b * up_to, 0)


def quantile(p: Fraction, neighbours: str) -> RankScore:
    """The p-quantile: one row more or less moves b·rank by max(a, b − a), one changed by b.

    Example
        >>> quantile(Fraction(1, 2), "add-or-remove").sensitivity
        1
    """
    a, b = p.numerator, p.denominator
    moved = max(a, b - a) if neighbours == "add-or-remove" else b
    return RankScore(b, a, 0, 0, moved)


def below_quantile(
    p: Fraction, neighbours: str, epsilon: Fraction, points: int, outside: Fraction
) -> RankScore:
    """A value that lies above a p-quantile of the rows with probability at most `outside`.

    Every definition of the p-quantile of n rows lies between ranks ⌊pn⌋ and ⌊pn⌋ + 2. A value above
    rank max(1, ⌊pn⌋) has b·L > a·n − b, hence a score above margin − b; all such values together
    weigh at most points·e^(−fall·(margin − b + 1)) of the best, whose score is 0.
    """
    middle = quantile(p, neighbours)
    margin = middle.b - 1 + _reached(epsilon, middle.sensitivity, points, outside)
    return replace(middle, above=-margin, below=-margin, spared="low")


def above_quantile(
    p: Fraction, neighbours: str, epsilon: Fraction, points: int, outside: Fraction
) -> RankScore:
    """A value that lies below a p-quantile with probability at most `outside`: the mirror image.

    A value below rank min(n, ⌊pn⌋ + 2) has b·C ≤ a·n + b, hence a score of margin − b or more.
    """
    middle = quantile(p, neighbours)
    margin = middle.b + _reached(epsilon, middle.sensitivity, points, outside)
    return replace(middle, above=margin, below=margin, spared="high")


def minimum(epsilon: Fraction, points: int, outside: Fraction | None = None) -> RankScore:
    """The smallest values: aims at a rank that lies above the minimum with probability 0.95.

    Rank 1 itself would fall below the minimum almost always, for most grid points lie there. With
    `outside` the answer lies below the minimum with at most that probability, however few rows.
    """
    rank = _reached(epsilon, 1, points, outside or _USUALLY)
    return RankScore(1, 0, rank - 1, rank, 1, rank, "high" if outside else None)


def maximum(epsilon: Fraction, points: int, outside: Fraction | None = None) -> RankScore:
    """The largest values: the mirror image of `minimum`."""
    rank = _reached(epsilon, 1, points, outside or _USUALLY)
    return RankScore(1, 1, -rank, 1 - rank, 1, rank, "low" if outside else None)


def _reached(epsilon: Fraction, sensitivity: int, points: int, outside: Fraction) -> int:
    """⌈(2Δ/ε)·ln(points/outside)⌉; a public number, so a double will do, rounded up."""
    exact = 2 * sensitivity / float(epsilon) * math.log(points / float(outside))
    return math.ceil(exact * (1 + 1e-12))
