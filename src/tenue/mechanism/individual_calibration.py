"""The mechanism that one actual table fixes: for a number, and for the most frequent category.

A nominal answer has no distance but equal or not. Call f(D) the most frequent category of D, ties
to the one named first; its local sensitivity is 1 if one replaced record can change it, else 0. The
noise that is to Laplace what this distance is to |x - y| has mass proportional to

    exp(-epsilon · [c differs from f(x)] / LS)        over a set C of candidates,

and f(x) itself where LS = 0. Proof: as long as C holds f(x) for the table D and all its neighbours
and depends on D only, the normaliser 1 + (|C| - 1)·e^-epsilon is the same for all of them, and
each mass is 1 or e^-epsilon over it. With LS = 0 all of them have the same f. No factor 2 is lost,
which the exponential mechanism needs because its normaliser moves.

C is every category; or, truncated, the modes that D and its neighbours have, which are at most two
votes behind. (The strongest change in favour of c moves a vote from the winner to c: if c wins
with a vote from any other, it beats the winner at full strength, hence all.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from ..errors import refuse
from ..noise.discrete_laplace import DiscreteLaplace
from ..noise.enclosure import Enclosure, exp_minus
from ..noise.samplers import LARGEST, uniform
from ..noise.source import Source
from ..noise.table import Table
from .individual_statistic import Columns, Statistic

FINER = 2**20
"""Continuous Laplace noise is drawn on a grid so much finer than the answer's."""

NOISES: dict[str, int] = {"discrete-laplace": 1, "laplace": FINER}
"""The noises of individual differential privacy, and the working steps in an answer step."""


@dataclass(frozen=True, repr=False)
class Calibrated:
    """Noise of scale `spread` / epsilon in working steps, then the answer's grid, then its ends.

    Guarantee
        Two truths (in working steps) that are at most `spread` apart give any answer with
        probabilities that differ by a factor e^epsilon at most; with `spread` 0, equal truths give
        equal answers. `spread` is a fact about the rows, and so are the ends of a truncated answer:
        the object never leaves, and its repr shows neither.
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

    grid: of the answer, in steps. A truncated answer is a true value of the table or a neighbour.
    """
    low, high = (math.floor(end / grid + Fraction(1, 2)) for end in statistic.ends(columns))
    _check_size(statistic.widest(columns) * finer / grid, max(abs(low), abs(high)), epsilon)
    reached = statistic.local(columns)
    if truncated:
        truth, move = statistic.nearest(columns, grid), math.ceil(reached / grid)
        low, high = max(low, truth - move), min(high, truth + move)
    return Calibrated(math.ceil(reached * finer / grid), epsilon, finer, low, high)


def _check_size(widest: Fraction, farthest: int, epsilon: Fraction) -> None:
    """Refuses noise that could not be drawn for some rows; does not depend on these rows."""
    # the limits of DiscreteLaplace, met by the widest noise that any table can need (and one step
    # more, for roots are rounded up)
    steps = math.ceil(widest) + 1
    if steps >= LARGEST >> 8 or steps / epsilon > LARGEST >> 6 or farthest >= LARGEST:
        raise refuse("mechanism.grid-too-fine-protected")


# -- The most frequent category under individual differential privacy ------------------------------


@dataclass(frozen=True, repr=False)
class ModeChoice:
    """A choice among candidates that the actual table fixes; one candidate means no noise.

    Guarantee
        For truths among the candidates the mass of any answer differs by a factor e^epsilon at
        most. The candidates can be a fact about the rows: the object never leaves.
    """

    candidates: tuple[int, ...]
    epsilon: Fraction

    def release(self, truth: int, source: Source) -> int:
        """The truth with probability 1 / (1 + others·e^-epsilon), else one of the others."""
        others = len(self.candidates) - 1
        if not others or int(_coin(self.epsilon, others).draw(1, source)[0]) == 0:
            return truth
        place = self.candidates.index(truth)
        chosen = int(uniform(others, 1, source)[0])
        return self.candidates[chosen + (chosen >= place)]


@lru_cache(maxsize=64)
def _coin(epsilon: Fraction, others: int) -> Table:
    """0, the truth, with probability 1 / (1 + others·e^-epsilon)."""

    def cumulative(bits: int) -> list[Enclosure]:
        one = Enclosure.of(1, bits)
        return [one / (one + exp_minus(epsilon, bits).times(others))]

    return Table(cumulative)


def winner(votes: Sequence[int]) -> int:
    """The place with the most votes; the first of several."""
    return max(range(len(votes)), key=lambda place: (votes[place], -place))


def calibrate_mode(votes: Sequence[int], epsilon: Fraction, *, truncated: bool) -> ModeChoice:
    """The choice for a table with so many `votes` in each category, at least one in all.

    Example
        >>> calibrate_mode([5, 4, 1], Fraction(1), truncated=True).candidates
        (0, 1)
        >>> calibrate_mode([5, 4, 1], Fraction(1), truncated=False).candidates
        (0, 1, 2)
        >>> calibrate_mode([5, 2, 1], Fraction(1), truncated=False).candidates
        (0,)
    """
    reachable = _reachable(votes)
    if truncated or len(reachable) == 1:
        return ModeChoice(reachable, epsilon)
    return ModeChoice(tuple(range(len(votes))), epsilon)


def _reachable(votes: Sequence[int]) -> tuple[int, ...]:
    """The modes of the table and of every table that differs in one record."""
    first = winner(votes)
    ranked = sorted(
        ((count, -place) for place, count in enumerate(votes) if place != first), reverse=True
    )
    weakened = (votes[first] - 1, -first)
    reachable = [first]
    for count, minus in ranked:
        rivals = [other for other in ranked[:2] if other[1] != minus]
        if (count + 1, minus) > max([weakened, *rivals[:1]]):
            reachable.append(-minus)
    return tuple(sorted(reachable))
