"""The most that one unit moves several numbers together: in sum (L1) and in squares (L2).

Laplace noise is calibrated to the L1 sensitivity, Gaussian noise to the L2 sensitivity, which for
many numbers is much smaller. Both depend on the question and the schema alone. L2 is kept as its
square, a rational, so that nothing is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..arguments import whole
from ..privacy import checked_neighbours
from . import worst_case


@dataclass(frozen=True)
class Sensitivity:
    """The largest sum of absolute changes, and the largest sum of squared changes."""

    l1: Fraction
    l2_squared: Fraction


def one(moved: int) -> Sensitivity:
    """One number that a unit moves by at most `moved`, under any neighbours.

    Proof. The one change is both the sum of changes and the root of the sum of squares.
    """
    return Sensitivity(Fraction(moved), Fraction(moved) ** 2)


def total(
    *, low: int, high: int, neighbours: str, rows_public: bool = False, rows_per_unit: int = 1
) -> Sensitivity:
    """One sum of values between two bounds, as far as `worst_case.total` says."""
    moved = worst_case.total(
        bounds=(low, high),
        neighbours=neighbours,
        rows_public=rows_public,
        rows_per_unit=rows_per_unit,
    )
    return Sensitivity(moved, moved**2)


def histogram(*, cells: int, neighbours: str, rows_per_unit: int = 1) -> Sensitivity:
    """Counts of rows in cells, each row in one cell at most; a unit may have all rows in one.

    Proof. The rows that come or go are r at most: their changes add up to r, and the sum of squares
    is largest where all are in one cell, r². Under replace r leave and r others enter: 2r and, if
    they are in two cells, 2r². In a single cell one comes for each that goes, or is alone: r, r².
    """
    r = whole(rows_per_unit, "rows_per_unit", least=1)
    both = 2 if _replaced(neighbours) and whole(cells, "cells", least=1) > 1 else 1
    return Sensitivity(Fraction(both * r), Fraction(both * r**2))


def units(*, cells: int, kept: int, neighbours: str) -> Sensitivity:
    """Counts of units in cells, each unit once in every cell of at most `kept` that it keeps.

    Proof. A cell that a unit enters or leaves moves by 1, so that changes and their squares both
    add up to the number of cells that move. These are c at most; under replace a unit leaves c
    and another enters c, each time no more than there are.
    """
    c = whole(kept, "kept", least=1) * (2 if _replaced(neighbours) else 1)
    moved = Fraction(min(whole(cells, "cells", least=1), c))
    return Sensitivity(moved, moved)


def pair(*, width: int, neighbours: str) -> Sensitivity:
    """The two sums of a mean, Σ(high − x) and Σ(x − low), of bounds `width` apart.

    Proof. A row at x adds t = x − low to one and width − t to the other: together width, and
    t² + (width − t)² is largest at an end, width². Under replace a row at t makes place for one at
    t': the sums move by t' − t and t − t', each width at most; or it only comes, as above.
    """
    m, both = whole(width, "width"), 2 if _replaced(neighbours) else 1
    return Sensitivity(Fraction(both * m), Fraction(both * m**2))


def _replaced(neighbours: str) -> bool:
    return checked_neighbours(neighbours) == "replace"
