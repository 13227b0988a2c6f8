"""Values with a rank: how one is chosen from the grid, and what may be said about it.

An interval in values can be bought. For a quantile half of the price pays for it: two further
selections, each aimed so far from the quantile that it lies beyond it but for half of what is
allowed to miss. An extreme needs none: aimed at a rank that the level decides, the answer itself is
one end, and the bound of the column is the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...errors import refuse
from ...mechanism.choose import rank_score
from ...mechanism.choose.rank_score import RankScore
from ...mechanism.choose.selection import Selection
from ...mechanism.part import Part
from ...noise.exact import LARGEST
from ..question import Aggregate

BOUGHT = "interval by selection"
"""The name of what pays for the ends of an interval."""


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
class Bought:
    """An interval that holds the true value with probability `level`.

    low, high: how many places after the answer its ends were chosen; None for the bound.
    """

    level: Fraction
    low: int | None
    high: int | None


@dataclass(frozen=True)
class Chosen:
    """The chosen grid point.

    Where it lies among the rows is known up to a rank; how far it is from the true value is not,
    for that depends on the rows (soundness sections 3 and 10), unless an interval was bought.
    """

    place: int
    grid: Fraction
    selection: Selection
    bought: Bought | None = None

    def value(self, noisy: Sequence[Sequence[int]], rows: int | None) -> Fraction:
        return noisy[-1][self.place] * self.grid

    def interval(
        self,
        parts: tuple[Part, ...],
        level: Fraction,
        noisy: Sequence[Sequence[int]],
        rows: object,
    ) -> tuple[Fraction, Fraction] | None:
        """What was bought, if it is for that level at least; else it would depend on the rows.

        Both ends lie beyond the true value at once with the probability that was bought; that the
        answer lies between them is seen to afterwards, which only widens them.
        """
        bought = self.bought
        if bought is None or level > bought.level:
            return None
        steps = noisy[-1]
        low = self.selection.low if bought.low is None else steps[self.place + bought.low]
        high = self.selection.high if bought.high is None else steps[self.place + bought.high]
        ends = (low, high, steps[self.place])
        return min(ends) * self.grid, max(ends) * self.grid

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


def choices_for(
    aggregate: Aggregate,
    span: Span,
    neighbours: str,
    price: Fraction,
    paid: Callable[[Fraction], Fraction],
    level: Fraction | None = None,
) -> tuple[list[Choice], Bought | None]:
    """The selections that answer a median, quantile, minimum or maximum, and its interval.

    paid: what one row may cost at a price: less where a unit has several rows, or where replace is
        remove and add.
    level: that of an interval to be bought with part of the price.
    """
    points = span.high - span.low + 1
    if points > LARGEST:
        raise refuse(
            "query.has-grid-points", column=aggregate.column, points=points, largest=LARGEST
        )

    def choice(score: RankScore, name: str, share: Fraction) -> Choice:
        selection = Selection(score, span.low, span.high, paid(share))
        return Choice(name, aggregate.column or "", selection, share)

    if aggregate.kind in ("min", "max"):
        extreme = rank_score.minimum if aggregate.kind == "min" else rank_score.maximum
        outside = None if level is None else 1 - level
        chosen = choice(extreme(paid(price), points, outside), "selection", price)
        if level is None:
            return [chosen], None
        ends = (None, 0) if aggregate.kind == "min" else (0, None)
        return [chosen], Bought(level, *ends)
    q = aggregate.q or Fraction(1, 2)
    middle = rank_score.quantile(q, neighbours)
    if level is None:
        return [choice(middle, "selection", price)], None
    quarter, each = price / 4, (1 - level) / 2
    below, above = (
        end(q, neighbours, paid(quarter), points, each)
        for end in (rank_score.below_quantile, rank_score.above_quantile)
    )
    return [
        choice(middle, "selection", price / 2),
        choice(below, BOUGHT, quarter),
        choice(above, BOUGHT, quarter),
    ], Bought(level, 1, 2)
