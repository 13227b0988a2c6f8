"""One value of a grid, chosen by how badly it misses a wanted rank: the exponential mechanism.

Every grid point v between the bounds is chosen with probability proportional to
exp(−ε·min(s(v), reach) / (2·sensitivity)). Scores are constant between two rows' values, so points
are counted by intervals, never one by one, and a grid of 10^9 points costs no more than the rows.
`reach` cuts the score where, all points together, hardly anything is left to choose: beyond it the
rows need not be read. A score that is cut moves no more than before, so privacy is untouched.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

from ...errors import InvalidArgument, refuse
from ...frozen import dataclass
from ...noise.exact import LARGEST, uniform
from ...noise.source import SYSTEM, Source, require_safe
from ...noise.table import Table
from ...number import Number, above_zero, checked_call, exact, fraction_of_one, law_epsilon
from ...promise import checked_neighbours
from . import rank_score
from .exponential import exponential_table
from .rank_score import RankScore

Values = Sequence[tuple[int, int, int]]
"""Different values in increasing order: (step, rows below it, rows at it)."""

# Together all grid points beyond the reach weigh less than e^-28 of the best.
_HARDLY = 28


@dataclass(frozen=True)
class Interval:
    """Grid points from `first` on that miss the rank by the same score."""

    first: int
    points: int
    score: int


@dataclass(frozen=True)
class Selection:
    """A grid point between `low` and `high` steps with a rank near the wanted one.

    Guarantee
        `epsilon`-differential privacy wherever one unit moves the score by at most its sensitivity.
        With probability 1 − η the score of the chosen point is within `misses(η)` of the best.

    Source
        McSherry and Talwar 2007; score and reach are Tenue's own.
    """

    score: RankScore
    low: int
    high: int
    epsilon: Fraction

    @property
    def points(self) -> int:
        """How many grid points there are to choose from."""
        return self.high - self.low + 1

    @cached_property
    def fall(self) -> Fraction:
        """A weight falls by e^-fall with each unit of the score."""
        return self.epsilon / (2 * self.score.sensitivity)

    @cached_property
    def reach(self) -> int:
        """Where the score is cut; a function of the question and the schema."""
        return math.ceil((math.log(self.points) + _HARDLY) / float(self.fall))

    def misses(self, outside: float) -> float:
        """The ranks by which the answer is off, but for a chance of `outside`."""
        return math.log(self.points / outside) / (float(self.fall) * self.score.b)

    def intervals(self, rows: int, values: Values) -> list[Interval]:
        """All grid points with a score below the reach.

        values: at least every value whose score is below the reach; `rows` is how many rows have a
            value at all.
        """
        found: list[Interval] = []

        def add(first: int, last: int, less: int, up_to: int) -> None:
            score = self.score.of(rows, less, up_to)
            if first <= last and score < self.reach:
                found.append(Interval(first, last - first + 1, score))

        if not values:
            if rows == 0:
                add(self.low, self.high, 0, 0)
            return self._sparing(found, rows)
        first, less, _ = values[0]
        if less == 0:
            add(self.low, first - 1, 0, 0)
        for (here, below, at), (after, next_below, _) in pairwise(values):
            add(here, here, below, below + at)
            # values that are not listed lie beyond the reach, and so does what is between them
            if below + at == next_below:
                add(here + 1, after - 1, next_below, next_below)
        last, below, at = values[-1]
        add(last, last, below, below + at)
        if below + at == rows:
            add(last + 1, self.high, rows, rows)
        return self._sparing(found, rows)

    def _sparing(self, found: list[Interval], rows: int) -> list[Interval]:
        """The same with a score of 0 for the spared end; what is found stays without gaps."""
        if not self.score.spares(rows):
            return found
        if self.score.spared == "low":
            if found and found[0].first == self.low:
                found[0] = replace(found[0], first=self.low + 1, points=found[0].points - 1)
            return [Interval(self.low, 1, 0), *(one for one in found if one.points)]
        if found and found[-1].first + found[-1].points > self.high:
            found[-1] = replace(found[-1], points=found[-1].points - 1)
        return [*(one for one in found if one.points), Interval(self.high, 1, 0)]

    def table(self, classes: Sequence[tuple[int, int]]) -> Table:
        """Draws the number of a class; classes are (score, points) by increasing score."""
        return exponential_table(classes, self.fall, self.points)

    def choose(self, rows: int, values: Values, source: Source = SYSTEM) -> int:
        """The chosen grid point, in steps."""
        near = self.intervals(rows, values)
        by_score: dict[int, list[Interval]] = {}
        for interval in near:
            by_score.setdefault(interval.score, []).append(interval)
        if far := self._beyond(near):
            by_score[self.reach] = far
        ordered = sorted(by_score)
        counted = [(s, sum(interval.points for interval in by_score[s])) for s in ordered]
        number = 0
        if len(counted) > 1:
            word = source.words(1, 64)
            number = int(self.table(counted).decide(word, source)[0])
        score, points = counted[number]
        place = int(uniform(points, 1, source)[0])
        ends = list(accumulate(interval.points for interval in by_score[score]))
        at = bisect.bisect_right(ends, place)
        return by_score[score][at].first + place - (ends[at - 1] if at else 0)

    def _beyond(self, near: list[Interval]) -> list[Interval]:
        """The grid points below and above those within the reach."""
        first = near[0].first if near else self.low
        last = near[-1].first + near[-1].points - 1 if near else self.low - 1
        found = [
            Interval(self.low, first - self.low, self.reach),
            Interval(last + 1, self.high - last, self.reach),
        ]
        return [interval for interval in found if interval.points]


@checked_call
def quantile(
    values: Sequence[Number],
    q: Number,
    *,
    bounds: tuple[Number, Number],
    grid: Number = 1,
    epsilon: Number,
    neighbours: str = "add-or-remove",
    source: Source = SYSTEM,
) -> Fraction:
    """A grid point whose rank among the values is close to q·n.

    Guarantee
        epsilon-differential privacy when a neighbouring table has one value more, less, or
        (neighbours="replace") another.

    Parameters
        values: finite numbers; those beyond the bounds count as the bound.
        bounds: multiples of the grid, stated without looking at the values.

    Example
        >>> found = quantile(range(1000), 0.5, bounds=(0, 10**6), epsilon=2)
        >>> 400 < found < 600
        True

    Source
        McSherry and Talwar 2007; the score is Tenue's own.
    """
    step = above_zero(grid, "grid")
    low, high = (exact(end, "bounds") / step for end in bounds)
    if low.denominator != 1 or high.denominator != 1 or not low < high or high - low >= LARGEST:
        raise refuse("mechanism.bounds-off-grid", tuple=tuple(map(str, bounds)), grid=grid)
    price = law_epsilon(epsilon)
    score = rank_score.quantile(fraction_of_one(q, "q"), checked_neighbours(neighbours))
    chosen = Selection(score, int(low), int(high), price)
    steps = _steps(values, int(low), int(high), step)
    return chosen.choose(steps.size, _near(chosen, steps), require_safe(source)) * step


def _near(chosen: Selection, steps: npt.NDArray[np.int64]) -> Values:
    """The values within the reach, by a sort."""
    found, at = np.unique(steps, return_counts=True)
    below = np.cumsum(at) - at
    score, centre = chosen.score, chosen.score.a * steps.size
    # s < reach: b·less < centre + above + reach, and b·up_to > centre + below − reach
    last = -(-(centre + score.above + chosen.reach) // score.b)
    first = (centre + score.below - chosen.reach) // score.b
    near = slice(
        int(np.searchsorted(below + at, first, side="right")),
        int(np.searchsorted(below, last, side="left")),
    )
    return list(zip(found[near].tolist(), below[near].tolist(), at[near].tolist(), strict=True))


def _steps(values: Sequence[Number], low: int, high: int, grid: Fraction) -> npt.NDArray[np.int64]:
    """floor(x/grid + 1/2) of each value between the bounds, each by itself and exactly.

    A list is not made an array first: one number among the others would decide how all are stored.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and grid == 1:
        ends = np.iinfo(values.dtype)
        inside = np.clip(values, max(low, ends.min), min(high, ends.max))
        return inside.astype(np.int64)
    half = Fraction(1, 2)
    steps = []
    for value in values.tolist() if isinstance(values, np.ndarray) else values:
        try:
            found = math.floor(exact(value, "values") / grid + half)
        except InvalidArgument:
            found = None
        if found is None:
            # raised out of reach of the error above, which quotes the value
            raise refuse("mechanism.values-not-finite")
        steps.append(min(max(found, low), high))
    return np.array(steps, dtype=np.int64)
