"""Values with a rank: how one is chosen from the grid, and what may be said about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..errors import InvalidArgument
from ..mechanism import rank_score
from ..mechanism.part import Part
from ..mechanism.selection import Selection
from ..noise.exact import LARGEST
from .question import Aggregate

__all__ = ["Choice", "Chosen", "Span", "choice_for"]


# Selection cuts its score where less than this is left to choose.
_LEAST = Fraction(1, 10**12)


@dataclass(frozen=True)
class Span:
    """The grid points of a bounded column: from `low` to `high` steps, `grid` apart."""

    low: int
    high: int
    grid: Fraction


@dataclass(frozen=True)
class Choice:
    """One selection that is paid for: from the values of a column, at a price."""

    name: str
    column: str
    selection: Selection
    epsilon: Fraction


@dataclass(frozen=True)
class Chosen:
    """The chosen grid point.

    Where it lies among the rows is known up to a rank; how far it is from the true value is not,
    for that depends on the rows (soundness sections 3 and 10).
    """

    place: int
    grid: Fraction
    selection: Selection

    def value(self, noisy: Sequence[Sequence[int]], rows: int | None) -> Fraction:
        return noisy[-1][self.place] * self.grid

    def interval(
        self, parts: tuple[Part, ...], level: Fraction, noisy: object, rows: object
    ) -> None:
        """None: it would depend on the rows."""

    def expected_error(self, parts: tuple[Part, ...], noisy: object, rows: object) -> None:
        """None: it would depend on the rows."""

    def before_rows(self, parts: tuple[Part, ...], rows: int | None) -> None:
        """None: it would depend on the rows."""

    def rank_error(self, level: Fraction) -> float:
        """By how many ranks the answer is off at most, with probability `level`.

        A minimum or maximum is aimed at a rank inside the table, which counts too.
        """
        aim = self.selection.score.rank or 0
        return aim + self.selection.misses(float(max(1 - level, _LEAST)))


def choice_for(
    aggregate: Aggregate, span: Span, neighbours: str, price: Fraction, epsilon: Fraction
) -> Choice:
    """The selection that answers a median, quantile, minimum or maximum.

    epsilon: what one row may cost: less than the price where a unit has several rows, or where
        replace is remove and add.
    """
    points = span.high - span.low + 1
    if points > LARGEST:
        raise InvalidArgument(
            f"`{aggregate.column}` has {points:.3g} grid points",
            f"A value is chosen among {LARGEST:.3g} at most",
            "Ask the holder for a coarser grid",
        )
    if aggregate.kind == "min":
        score = rank_score.minimum(epsilon, points)
    elif aggregate.kind == "max":
        score = rank_score.maximum(epsilon, points)
    else:
        score = rank_score.quantile(aggregate.q or Fraction(1, 2), neighbours)
    selection = Selection(score, span.low, span.high, epsilon)
    return Choice("selection", aggregate.column or "", selection, price)
