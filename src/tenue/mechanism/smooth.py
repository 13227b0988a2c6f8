"""An order statistic with noise scaled to its smooth sensitivity: real differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..arguments import Number, checked_call, exact, law_epsilon, whole
from ..errors import refuse
from ..noise.heavy_tail import HeavyTail, HeavyTailSteps
from ..noise.samplers import LARGEST
from ..noise.source import SYSTEM, Source, require_safe
from ..sensitivity import ROUNDING, admissible_beta, smooth
from ..sensitivity.column import exact_column
from ..sensitivity.parameters import order_statistic
from .individual_statistic import total_at

LEAST = Fraction(1, 2**64)
"""The sensitivity counts as this many steps at least: a constant keeps it smooth, and a law exists
for every table, so that no refusal reveals how small it was."""


@dataclass(frozen=True, repr=False)
class Smooth:
    """The mechanism of one table: a truth, its noise, and the public ends of the answer.

    All in parts of a step (`parts` make one), so that the truth is a whole number of them: truth
    and sensitivity are facts about the rows, the object never leaves.
    """

    truth: int
    spread: Fraction
    low: int
    high: int
    parts: int
    gamma: int
    epsilon: Fraction

    @property
    def law(self) -> HeavyTailSteps:
        """The noise in parts of a step."""
        law = HeavyTail(gamma=self.gamma, smooth_sensitivity=self.spread, epsilon=self.epsilon)
        return law.on_grid(1)

    def settle(self, noise: int) -> Fraction:
        """Truth and noise in steps, clamped: draws stop at 2**62, and that must not show."""
        return Fraction(min(max(self.truth + noise, self.low), self.high), self.parts)

    def release(self, source: Source) -> Fraction:
        """The answer in steps."""
        return self.settle(self.law.steps(source=source))


@checked_call
def smooth_release(
    statistic: str,
    steps: object,
    low: Number,
    high: Number,
    epsilon: Number,
    gamma: Number,
    source: Source = SYSTEM,
    *,
    rows_public: bool,
    k: Number | None = None,
    q: Number | None = None,
) -> Fraction:
    """The order statistic in steps, clamped to its bounds, with heavy-tailed noise.

    Guarantee
        epsilon-differential privacy between tables with the same number of rows that differ in one
        ("replace"). Sensitivity and noise are exact; where the median is the mean of two rows the
        answer is a multiple of half a step, because a truth that is rounded first moves farther
        than its sensitivity says.

    What it is not
        An answer whose error can be stated: sensitivity and scale are facts about the rows. Nor is
        it for tables whose number of rows is secret (a filter, a group, missing values, a person
        with several rows): state rows_public=False there, and it is refused.

    Parameters
        statistic: "median", "quantile" with `q`, "max", "min", "second-max", "kth-largest" and
            "kth-smallest" with `k`.
        steps: whole numbers in any order, none missing; low, high: the ends of their domain.
        gamma: 2 to 6, the tail of the noise; 3 or 4 is best for most tables.

    Example
        >>> 0 <= smooth_release("median", range(101), 0, 100, 1, 3, rows_public=True) <= 100
        True

    Source
        Nissim, Raskhodnikova and Smith 2007, with constants computed anew.
    """
    mechanism = smooth_mechanism(
        statistic, steps, low, high, epsilon, gamma, rows_public=rows_public, k=k, q=q
    )
    return mechanism.release(require_safe(source))


@checked_call
def smooth_mechanism(
    statistic: str,
    steps: object,
    low: Number,
    high: Number,
    epsilon: Number,
    gamma: Number,
    *,
    rows_public: bool,
    k: Number | None = None,
    q: Number | None = None,
) -> Smooth:
    """The mechanism behind `smooth_release`, for audits; parameters as there."""
    price = law_epsilon(epsilon)
    # `smooth` rounds up to a float, which costs ROUNDING in smoothness
    beta = admissible_beta(gamma, price) - ROUNDING
    least, most = (_whole_step(end, name) for end, name in ((low, "low"), (high, "high")))
    if most - least >= LARGEST >> 2:
        raise refuse("mechanism.bounds-too-far-apart")
    spread = smooth(
        statistic, steps, bounds=(least, most), beta=beta, k=k, q=q, rows_public=rows_public
    )
    column = exact_column(steps, (least, most))
    if column.step != 1:
        raise refuse("mechanism.protected-steps-not-whole")
    ranks = order_statistic(statistic, column.rows, k=k, q=q)
    parts = ranks.count
    return Smooth(
        truth=total_at(column, ranks),
        spread=max(Fraction(spread) * parts, LEAST),
        low=least * parts,
        high=most * parts,
        parts=parts,
        gamma=whole(gamma, "gamma"),
        epsilon=price,
    )


def _whole_step(end: object, name: str) -> int:
    number = exact(end, name)
    if number.denominator != 1:
        raise refuse("mechanism.bounds-not-whole-steps", name=name, end=end)
    return int(number)
