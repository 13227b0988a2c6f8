"""The distributions of all columns, each for its share of one budget."""

from __future__ import annotations

from fractions import Fraction

from ...noise.source import Source
from .column import Margin, margin_error, private_margin, shares
from .domain import Domain, Places


def private_margins(
    domain: Domain, places: Places, epsilon: Fraction, source: Source
) -> tuple[Margin, ...]:
    """The margin of every column.

    Guarantee
        `epsilon`-differential privacy when one record is replaced and their number is public.
    """
    return tuple(
        private_margin(axis, places[:, j], epsilon * share, source)
        for j, (axis, share) in enumerate(zip(domain.axes, shares(domain.axes), strict=True))
    )


def columns_error(domain: Domain, rows: int, epsilon: Fraction) -> float:
    """`Synthesis.expected_error` of the columns by themselves."""
    pairs = zip(domain.axes, shares(domain.axes), strict=True)
    found = [margin_error(axis, rows, epsilon * share) for axis, share in pairs]
    return sum(found) / len(found)
