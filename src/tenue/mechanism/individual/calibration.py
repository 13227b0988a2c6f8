"""The mechanism that one actual table fixes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from ...errors import refuse
from ...noise.discrete_laplace import DiscreteLaplace
from ...noise.exact import LARGEST
from ...noise.source import Source
from .statistic import Columns, Statistic

FINER = 2**20
"""Continuous Laplace noise is drawn on a grid so much finer than the answer's."""

NOISES: dict[str, int] = {"discrete-laplace": 1, "laplace": FINER}
"""The noises of individual differential privacy, and how many working steps an answer step has."""


@dataclass(frozen=True, repr=False)
class Calibrated:
    """Noise of scale `spread` / epsilon in working steps, then the answer's grid, then its ends.

    Guarantee
        Two truths (in working steps) that are at most `spread` apart give any answer with
        probabilities that differ by a factor e^epsilon at most; with `spread` 0, equal truths give
        equal answers. `spread` is a fact about the rows, and so are the ends of a truncated answer:
        the object never leaves, and its repr tells neither.
    """

    spread: int
    epsilon: Fraction
    finer: int
    low: int
    high: int

    @property
    def law(self) -> DiscreteLaplace | None:
        """The noise in working steps; none where no record moves the answer."""
        if not self.spread:
            return None
        return DiscreteLaplace(sensitivity=self.spread, epsilon=self.epsilon)

    def settle(self, steps: int) -> int:
        """Working steps to answer steps, rounded and clamped: after the noise, hence free."""
        answer = (2 * steps + self.finer) // (2 * self.finer)
        return min(max(answer, self.low), self.high)

    def release(self, truth: int, source: Source) -> int:
        """The noisy answer in answer steps."""
        law = self.law
        return self.settle(truth if law is None else truth + law.steps(source=source))


def release(
    statistic: Statistic,
    columns: Columns,
    *,
    epsilon: Fraction,
    grid: Fraction,
    noise: str,
    truncated: bool,
    source: Source,
) -> int:
    """The private answer in steps of `grid`, which is in the columns' steps."""
    finer = NOISES[noise]
    mechanism = calibrate(
        statistic, columns, epsilon=epsilon, grid=grid, finer=finer, truncated=truncated
    )
    return mechanism.release(statistic.nearest(columns, grid / finer), source)


def calibrate(
    statistic: Statistic,
    columns: Columns,
    *,
    epsilon: Fraction,
    grid: Fraction,
    finer: int,
    truncated: bool,
) -> Calibrated:
    """The mechanism for this table: noise as wide as one of its records can move the answer.

    `grid` is the answer's, in steps. A truncated answer keeps to what the table or a neighbour has
    as its true value.
    """
    low, high = (math.floor(end / grid + Fraction(1, 2)) for end in statistic.ends(columns))
    _check_size(statistic.widest(columns) * finer / grid, max(abs(low), abs(high)), epsilon)
    reached = statistic.local(columns)
    if truncated:
        truth, move = statistic.nearest(columns, grid), math.ceil(reached / grid)
        low, high = max(low, truth - move), min(high, truth + move)
    return Calibrated(math.ceil(reached * finer / grid), epsilon, finer, low, high)


def _check_size(widest: Fraction, farthest: int, epsilon: Fraction) -> None:
    """Refuses what could not be drawn for some rows, whatever these rows are."""
    # the limits of DiscreteLaplace, met by the widest noise that any table can need (and one step
    # more, for roots are rounded up)
    steps = math.ceil(widest) + 1
    if steps >= LARGEST >> 8 or steps / epsilon > LARGEST >> 6 or farthest >= LARGEST:
        raise refuse("mechanism.grid-too-fine-protected")
