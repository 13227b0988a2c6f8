"""Order statistics with noise scaled to their smooth sensitivity: differential privacy, and nothing
can be told but the value. Never preferred, for its error is a fact about the rows; asked by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...errors import Refused, refuse
from ...frozen import dataclass
from ...noise.exact import LARGEST
from ...noise.source import Source
from ..question import Aggregate
from .contract import Asked, Family
from .draw import Draw, Rows
from .rank import RANK
from .reading import Noisy, Reading
from .strategy import Setting, Span, Strategy

_NAME = "smooth sensitivity"
"""How the names of these mechanisms begin; the tail of the noise follows."""


@dataclass(frozen=True)
class SmoothNoise(Draw):
    """One order statistic of a whole column whose number of rows is public, in steps."""

    column: str
    statistic: str
    q: Fraction | None
    span: Span
    gamma: int
    epsilon: Fraction

    source = "Nissim, Raskhodnikova and Smith 2007"
    limits = (
        "No scale, interval or error is stated, for the smooth sensitivity is an exact function of "
        "the rows; nor may Bayes estimation be applied.",
    )
    caveat = "No ± is stated: how far it is off would be a fact about the rows."

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{_NAME} {self.gamma}"

    @property
    def line(self) -> str:
        return (
            f"{self.statistic} of {self.column}, kept between its bounds: noise with tail "
            f"gamma = {self.gamma}, scaled by the smooth sensitivity"
        )

    def released(self, rows: Rows, cells: Sequence[int], source: Source) -> list[list[int]]:
        """The order statistic with heavy-tailed noise; how many rows there are is public."""
        from ...mechanism.smooth import smooth_release

        found = smooth_release(
            self.statistic,
            rows.steps(self.column),
            self.span.low,
            self.span.high,
            self.epsilon,
            self.gamma,
            source,
            rows_public=True,
            q=self.q,
        )
        return [[found.numerator, found.denominator]]


@dataclass(frozen=True)
class ValueOnly(Reading):
    """The value, in units of the column; scale, interval and error would be facts about rows.

    differential: whether it is differentially private.
    """

    unit: Fraction
    differential: bool = False

    alone = True

    @property
    def caveat(self) -> str:  # type: ignore[override]
        return "" if self.differential else "This is not differential privacy: see the certificate."

    @property
    def untold(self) -> str:  # type: ignore[override]
        if not self.differential:
            return ""
        return "“untold”: how far smooth sensitivity is off would be a fact about the rows."

    def value(self, noisy: Noisy, rows: int | None) -> Fraction:
        top, bottom = noisy[0]
        return Fraction(top, bottom) * self.unit


class Smooth(Family):
    """One value with a rank, of a whole column whose number of rows is public."""

    def by_name(self, asked: Asked, setting: Setting, epsilon: Fraction) -> list[Strategy]:
        if len(asked) != 1 or asked[0].kind not in RANK.kinds:
            return []
        (only,) = asked
        column = only.column or ""
        if not setting.rows_public(column):
            return []
        span = setting.spans[column]
        read = {only: ValueOnly(span.grid, differential=True)}
        return [Strategy(one.name, (one,), read) for one in smoothed_for(only, span, epsilon)]

    def refuse_name(self, mechanism: str, names: Sequence[str]) -> Refused | None:
        offered = any(name.startswith(_NAME) for name in names)
        if offered or not mechanism.startswith(_NAME):
            return None
        return refuse("query.not-smooth-question")


def smoothed_for(aggregate: Aggregate, span: Span, epsilon: Fraction) -> list[SmoothNoise]:
    """One for each tail, where noise exists for every table with these bounds."""
    statistic = aggregate.name.lower()
    q = aggregate.q if statistic == "quantile" else None
    width = span.high - span.low
    if width >= LARGEST >> 2:
        return []
    found = []
    from ...mechanism.smooth import LEAST
    from ...noise.heavy_tail.law import GAMMAS, HeavyTail

    for gamma in GAMMAS:
        try:
            for spread in (LEAST, Fraction(2 * width)):
                HeavyTail(gamma=gamma, smooth_sensitivity=spread, epsilon=epsilon).on_grid(1)
        except Refused:
            continue
        found.append(SmoothNoise(aggregate.column or "", statistic, q, span, gamma, epsilon))
    return found


SMOOTH = Smooth()
