"""How badly a value misses a wanted rank, as a whole number that one row changes little.

For a value v let L = #{x < v} and C = #{x ≤ v} among n rows. Every score here is

    s(v) = max(b·L − (a·n + above), (a·n + below) − b·C, 0)

with constants that do not depend on rows. L, C and n are counts, so one row moves s by at most
`sensitivity`. A value with ties on it is right for all the ranks it covers, which a score of the
distance |C − p·n| would miss (soundness section 3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["RankScore", "maximum", "minimum", "quantile"]


@dataclass(frozen=True)
class RankScore:
    """The constants of a score, and how far one row moves it.

    rank: the rank counted from the end that is asked for, where a rank is aimed at.
    """

    b: int
    a: int
    above: int
    below: int
    sensitivity: int
    rank: int | None = None

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


def minimum(epsilon: Fraction, points: int) -> RankScore:
    """The smallest values: aims at a rank that lies above the minimum with probability 0.95.

    Rank 1 itself would fall below the minimum almost always, for most grid points lie there.
    """
    rank = _safe_rank(epsilon, points)
    return RankScore(1, 0, rank - 1, rank, 1, rank)


def maximum(epsilon: Fraction, points: int) -> RankScore:
    """The largest values: the mirror image of `minimum`."""
    rank = _safe_rank(epsilon, points)
    return RankScore(1, 1, -rank, 1 - rank, 1, rank)


def _safe_rank(epsilon: Fraction, points: int) -> int:
    """⌈(2/ε)·ln(20·points)⌉; a public number, so a double will do."""
    return math.ceil(2 / float(epsilon) * math.log(20 * points))
