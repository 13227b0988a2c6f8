"""Bounds for a column, from private quantiles of its values.

Everything is computed from one released answer: what is suggested costs nothing more.
"""

from __future__ import annotations

import math
from fractions import Fraction

from ...errors import refuse
from ...frozen import dataclass
from ...number import exact
from ...schema import Number, Schema
from ...screen.number import exactly
from ..answer.answer import Answer
from ..read.literal import sql_name

_SHARES = (Fraction(1, 20), Fraction(1, 2), Fraction(19, 20))
_ROUND = (1, 2, 5, 10)


@dataclass(frozen=True, repr=False)
class BoundsSuggestion:
    """Narrower bounds for a number.

    quantiles: the share of values below, and the private quantile.
    bounds: the lowest and highest quantile, rounded outwards; inside the declared bounds.
    answer: what was released, with its price and certificate.
    """

    column: str
    quantiles: dict[Fraction, Fraction]
    bounds: tuple[Fraction, Fraction]
    answer: Answer

    def __str__(self) -> str:
        low, high = map(exactly, self.bounds)
        lines = [f"[columns.{self.column}]", f"bounds = [{low}, {high}]", ""]
        lines += [
            f"about {100 * float(share):g} % of values are at most {exactly(value)}"
            for share, value in self.quantiles.items()
        ]
        lines.append(
            "Values beyond narrower bounds count as the bound; what that costs is not known."
        )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)


def question_of(schema: Schema, name: str) -> str:
    """The question whose answer is needed."""
    column = schema.column(name)
    if not isinstance(column, Number):
        raise refuse("query.bounds-of-non-number", name=column.name, type=column.type)
    asked = [
        f"QUANTILE({sql_name(column.name)}, {float(share)}) AS q{place}"
        for place, share in enumerate(_SHARES)
    ]
    return f"SELECT {', '.join(asked)} FROM {sql_name(schema.name)}"  # noqa: S608 - `parse` reads it


def suggest(schema: Schema, name: str, answer: Answer) -> BoundsSuggestion:
    """What the answer suggests."""
    column = schema.column(name)
    assert isinstance(column, Number)  # noqa: S101 - `question_of` refused the others
    found = [exact(answer.exact[f"q{place}"], "quantile") for place in range(len(_SHARES))]
    quantiles = dict(zip(_SHARES, sorted(found), strict=True))
    low, high = min(found), max(found)
    ends = (
        max(
            column.low,
            Fraction(0) if low >= 0 and column.low <= 0 else -outwards(-low, column.grid),
        ),
        min(column.high, outwards(high, column.grid)),
    )
    if ends[0] >= ends[1]:
        ends = column.low, column.high
    return BoundsSuggestion(column.name, quantiles, ends, answer)


def outwards(value: Fraction, grid: Fraction) -> Fraction:
    """The next of 1, 2, 5, 10, 20, … that is no less, on the grid; itself if it is not positive.

    Example
        >>> outwards(Fraction(31_400), Fraction(1)), outwards(Fraction(-7), Fraction(1))
        (Fraction(50000, 1), Fraction(-7, 1))
    """
    if value <= 0:
        return value
    power = Fraction(10) ** math.floor(math.log10(value))
    nice = next((power * step for step in _ROUND if power * step >= value), value)
    return math.ceil(nice / grid) * grid
