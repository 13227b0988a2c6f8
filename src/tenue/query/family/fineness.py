"""Grids that are too fine for squares and products, and which would do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from ...errors import refuse
from ...noise.exact import LARGEST
from ...screen.number import exactly
from ..plan.strategy import Range

_MOST_STEPS = LARGEST >> 8
_WIDEST = LARGEST >> 6
"""What one row may move, and how wide noise may be, in steps: the limits of discrete Laplace."""


def refuse_too_fine(
    ranges: Mapping[str, Range], powers: int, moved: int, epsilon: Fraction
) -> None:
    """Refuses moments that one row moves so far that their noise could not be drawn exactly.

    ranges: the columns that are multiplied.
    powers: how many factors a product has.
    moved: how far one unit moves them together, in steps.
    """
    beyond = max(moved / _MOST_STEPS, float(moved / epsilon) / _WIDEST)
    if beyond < 1:
        return
    coarser = 1.01 * beyond ** (1 / powers)
    wanted = {name: _round_up(r.grid * Fraction(coarser)) for name, r in ranges.items()}
    have = " and ".join(f"`{name}` (grid {exactly(r.grid)})" for name, r in ranges.items())
    would = " and ".join(f"grid = {exactly(g)} for `{name}`" for name, g in wanted.items())
    raise refuse(
        "query.squares-and-products-of-are-too-large",
        have=have,
        epsilon=exactly(epsilon),
        powers=powers,
        bit_length=_MOST_STEPS.bit_length() - 1,
        bit_length2=_WIDEST.bit_length() - 1,
        would=would,
    )


def _round_up(grid: Fraction) -> Fraction:
    """The next of 1, 2, 5, 10, 20, …, and their decimals."""
    power = Fraction(10) ** math.floor(math.log10(grid))
    return next(power * digit for digit in (1, 2, 5, 10, 20) if power * digit >= grid)
