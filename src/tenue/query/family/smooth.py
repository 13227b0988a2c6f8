"""Order statistics with noise scaled to their smooth sensitivity: differential privacy, and nothing
can be told but the value. Never preferred, for its error is a fact about the rows; asked by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ...errors import Refused
from ...mechanism.smooth import LEAST
from ...noise.exact import LARGEST
from ...noise.heavy_tail.law import GAMMAS, HeavyTail
from ..question import Aggregate
from .rank import Span

SMOOTH = "smooth sensitivity"
"""How the names of these mechanisms begin; the tail of the noise follows."""

SMOOTH_LIMITS = (
    "No scale, interval or error is stated, for the smooth sensitivity is an exact function of the "
    "rows; nor may Bayes estimation be applied.",
)
"""What smooth sensitivity does not promise, for its certificates."""


@dataclass(frozen=True)
class Smoothed:
    """One order statistic of a whole column whose number of rows is public, in steps."""

    column: str
    statistic: str
    q: Fraction | None
    span: Span
    gamma: int
    epsilon: Fraction

    @property
    def name(self) -> str:
        return f"{SMOOTH} {self.gamma}"


def smoothed_for(aggregate: Aggregate, span: Span, epsilon: Fraction) -> list[Smoothed]:
    """One for each tail, where noise exists for every table with these bounds."""
    statistic = aggregate.kind if aggregate.kind in ("min", "max") else aggregate.name.lower()
    q = aggregate.q if statistic == "quantile" else None
    width = span.high - span.low
    if width >= LARGEST >> 2:
        return []
    found = []
    for gamma in GAMMAS:
        try:
            for spread in (LEAST, Fraction(2 * width)):
                HeavyTail(gamma=gamma, smooth_sensitivity=spread, epsilon=epsilon).on_grid(1)
        except Refused:
            continue
        found.append(Smoothed(aggregate.column or "", statistic, q, span, gamma, epsilon))
    return found
