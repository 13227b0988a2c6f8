"""The exponential mechanism: one candidate, category or value of a grid.

Candidate c is chosen with probability proportional to exp(fall·u(c)), where u(c) =
max(s(c), best − reach) for whole scores s, the highest of which is `best`. `reach` bounds the
scores where, all candidates together, hardly anything is left to choose.

Price. Let one unit move every score by at most Δ. The best one then moves by at most Δ, and so does
every u(c): the bound costs no privacy. Every weight changes by a factor of at most e^(fall·Δ), and
so does their sum, which divides it: the loss is at most 2·fall·Δ, hence fall = ε/(2Δ).

One-sided scores. If one unit more lowers no score and raises some by at most Δ, it lowers no u(c)
either, and every weight and their sum grow by a factor between 1 and e^(fall·Δ): the loss is at
most fall·Δ, hence fall = ε/Δ. That holds for one unit more or less, not for one that changes.

The candidates are all grid points v between the bounds, and their scores −min(s(v), reach). Scores
are constant between two rows' values, so points are counted by intervals, never one by one, and a
grid of 10^9 points costs no more than the rows. Beyond the reach of the mechanism
rows need not be read.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ..arguments import (
    Number,
    above_zero,
    checked_call,
    exact,
    flag,
    fraction_of_one,
    law_epsilon,
    moderate,
)
from ..errors import InvalidArgument, refuse
from ..noise.enclosure import Enclosure, exp_minus
from ..noise.samplers import LARGEST, uniform
from ..noise.source import SYSTEM, Source, require_safe
from ..noise.table import Table
from ..privacy import checked_neighbours
from . import rank_score
from .rank_score import RankScore

# Together all candidates beyond the reach weigh less than e^-28 of the best.
_HARDLY = 28
_PARTS = 1000
"""Scores of any numbers are multiples of so small a part of their sensitivity."""

T = TypeVar("T")


@dataclass(frozen=True)
class Exponential:
    """A candidate with a score that few others exceed.

    Guarantee
        `epsilon`-differential privacy if one unit moves every score by at most `sensitivity`,
        independently of the others; with one-sided scores, if one unit more lowers none.
        With probability 1 − η the chosen candidate is at most `behind(η)` below the best.

    Parameters
        candidates: their number, which does not depend on rows.
        one_sided: whether one unit more lowers no score.

    Example
        >>> Exponential(3, Fraction(1), 2).fall
        Fraction(1, 4)

    Source
        McSherry and Talwar 2007; one-sided scores: Dwork and Roth 2014, section 3.4.
    """

    candidates: int
    epsilon: Fraction
    sensitivity: int | Fraction
    one_sided: bool = False

    @cached_property
    def fall(self) -> Fraction:
        """A weight falls by e^−fall with each unit of the score."""
        return self.epsilon / (self.sensitivity if self.one_sided else 2 * self.sensitivity)

    @cached_property
    def reach(self) -> int:
        """The largest gap below the best score that counts; it does not depend on rows."""
        return math.ceil((math.log(self.candidates) + _HARDLY) / float(self.fall))

    def behind(self, outside: float) -> float:
        """The gap below the best that is exceeded with probability at most `outside`."""
        return math.log(self.candidates / outside) / float(self.fall)

    def classes(self, scores: Sequence[int]) -> dict[int, list[int]]:
        """The indices of candidates by their gap below the best, up to the reach."""
        best, reach = max(scores), self.reach
        classes: dict[int, list[int]] = {}
        for index, score in enumerate(scores):
            classes.setdefault(min(best - score, reach), []).append(index)
        return dict(sorted(classes.items()))

    def choose(self, scores: Sequence[int], source: Source = SYSTEM) -> int:
        """The index of the chosen candidate."""
        classes = self.classes(scores)
        sizes = [(gap, len(members)) for gap, members in classes.items()]
        number, index = self.draw(sizes, source)
        return list(classes.values())[number][index]

    def check_draw(self) -> None:
        """Refuses everything that `choose` would, and draws nothing: makes the widest table."""
        self.table([(0, 1), (self.reach, self.candidates)])

    def draw(self, classes: Sequence[tuple[int, int]], source: Source) -> tuple[int, int]:
        """The number of the chosen class, and which of its candidates is chosen.

        classes: (gap, candidates) by increasing gap; all of a class are that far below the best.
        """
        number = 0
        if len(classes) > 1:
            word = source.words(1, 64)
            number = int(self.table(classes).decide(word, source)[0])
        return number, int(uniform(classes[number][1], 1, source)[0])

    def table(self, classes: Sequence[tuple[int, int]]) -> Table:
        """Draws the number of a class with probability proportional to candidates·e^(−fall·gap)."""

        def cumulative(bits: int) -> list[Enclosure]:
            room = bits + self.candidates.bit_length() + len(classes).bit_length() + 8
            known: dict[int, Enclosure] = {}
            weight = Enclosure.of(1, room)
            sums: list[Enclosure] = []
            before = classes[0][0]
            for gap, size in classes:
                step = gap - before
                if step not in known:
                    known[step] = exp_minus(self.fall * step, room)
                weight, before = weight * known[step], gap
                part = weight.times(size)
                sums.append(sums[-1] + part if sums else part)
            shift = room - bits
            ratios = [part / sums[-1] for part in sums[:-1]]
            return [Enclosure(r.low >> shift, -(-r.high >> shift), bits) for r in ratios]

        return Table(cumulative)


@checked_call
def exponential(
    scores: Mapping[T, Number] | Sequence[Number],
    *,
    sensitivity: Number,
    epsilon: Number,
    one_sided: bool = False,
    source: Source = SYSTEM,
) -> T | int:
    """The candidate that the exponential mechanism chooses: high scores are likely.

    Guarantee
        epsilon-differential privacy if one unit moves every score by at most `sensitivity`, and the
        candidates do not depend on rows. With probability 1 - η the score of the chosen candidate
        is at most (2·sensitivity/epsilon)·ln(candidates/η) below the best, half of that if
        one-sided, and sensitivity/1000 more for rounding.

    Parameters
        scores: a number for each candidate, by its name; or a list, of which the index is chosen.
            They are rounded to multiples of sensitivity/1000, which moves them by no more than
            the sensitivity either.
        one_sided: whether one unit more lowers no score, where neighbours add or remove a unit.

    Example
        >>> exponential({"red": 90, "blue": 12}, sensitivity=1, epsilon=2)
        'red'

    Source
        McSherry and Talwar 2007.
    """
    names = list(scores) if isinstance(scores, Mapping) else list(range(len(scores)))
    given = list(scores.values()) if isinstance(scores, Mapping) else list(scores)
    if not names:
        raise refuse("mechanism.no-candidates")
    step = moderate(sensitivity, "sensitivity") / _PARTS
    steps = _scored(given, step)
    flag(one_sided, "one_sided")
    law = Exponential(len(names), law_epsilon(epsilon), _PARTS, one_sided)
    return names[law.choose(steps, require_safe(source))]


def _scored(given: Sequence[Number], step: Fraction) -> list[int]:
    """Each score in whole steps, rounded half up; a refusal names no score."""
    half, found = Fraction(1, 2), []
    for score in given:
        try:
            found.append(math.floor(exact(score, "scores") / step + half))
        except InvalidArgument:
            found = []
            break
    if not found:  # raised outside the handler of the error above, which quotes the score
        raise refuse("mechanism.scores-not-finite")
    return found


# -- One value of a grid, scored by its distance from a wanted rank --------------------------------

Values = Sequence[tuple[int, int, int]]
"""Different values in increasing order: (step, rows below it, rows at it)."""


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
        """The number of grid points to choose from."""
        return self.high - self.low + 1

    @cached_property
    def law(self) -> Exponential:
        """The mechanism that chooses."""
        return Exponential(self.points, self.epsilon, self.score.sensitivity)

    @property
    def reach(self) -> int:
        """Where the score is bounded; a function of the question and the schema."""
        return self.law.reach

    def misses(self, outside: float) -> float:
        """The rank error that is exceeded with probability at most `outside`."""
        return self.law.behind(outside) / self.score.b

    def intervals(self, rows: int, values: Values) -> list[Interval]:
        """All grid points with a score below the reach.

        rows: the number of rows with a value.
        values: at least every value whose score is below the reach.
        """
        near: list[Interval] = []

        def add(first: int, last: int, less: int, up_to: int) -> None:
            score = self.score.of(rows, less, up_to)
            if first <= last and score < self.reach:
                near.append(Interval(first, last - first + 1, score))

        if not values:
            if rows == 0:
                add(self.low, self.high, 0, 0)
            return self._sparing(near, rows)
        first, less, _ = values[0]
        if less == 0:
            add(self.low, first - 1, 0, 0)
        for (here, below, at), (after, next_below, _) in pairwise(values):
            add(here, here, below, below + at)
            # values that are not listed lie beyond the reach, and so do the points between them
            if below + at == next_below:
                add(here + 1, after - 1, next_below, next_below)
        last, below, at = values[-1]
        add(last, last, below, below + at)
        if below + at == rows:
            add(last + 1, self.high, rows, rows)
        return self._sparing(near, rows)

    def _sparing(self, near: list[Interval], rows: int) -> list[Interval]:
        """The same with a score of 0 for the spared end; the intervals stay without gaps."""
        if not self.score.spares(rows):
            return near
        if self.score.spared == "low":
            if near and near[0].first == self.low:
                near[0] = replace(near[0], first=self.low + 1, points=near[0].points - 1)
            return [Interval(self.low, 1, 0), *(one for one in near if one.points)]
        if near and near[-1].first + near[-1].points > self.high:
            near[-1] = replace(near[-1], points=near[-1].points - 1)
        return [*(one for one in near if one.points), Interval(self.high, 1, 0)]

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
        number, index = self.law.draw(counted, source)
        chosen = by_score[ordered[number]]
        ends = list(accumulate(interval.points for interval in chosen))
        at = bisect.bisect_right(ends, index)
        return chosen[at].first + index - (ends[at - 1] if at else 0)

    def _beyond(self, near: list[Interval]) -> list[Interval]:
        """The grid points below and above those within the reach."""
        first = near[0].first if near else self.low
        last = near[-1].first + near[-1].points - 1 if near else self.low - 1
        below = Interval(self.low, first - self.low, self.reach)
        above = Interval(last + 1, self.high - last, self.reach)
        return [interval for interval in (below, above) if interval.points]


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
        >>> 400 < quantile(range(1000), 0.5, bounds=(0, 10**6), epsilon=2) < 600
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
    values, at = np.unique(steps, return_counts=True)
    below = np.cumsum(at) - at
    score, centre = chosen.score, chosen.score.a * steps.size
    # s < reach: b·less < centre + above + reach, and b·up_to > centre + below − reach
    last = -(-(centre + score.above + chosen.reach) // score.b)
    first = (centre + score.below - chosen.reach) // score.b
    near = slice(
        int(np.searchsorted(below + at, first, side="right")),
        int(np.searchsorted(below, last, side="left")),
    )
    return list(zip(values[near].tolist(), below[near].tolist(), at[near].tolist(), strict=True))


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
            step = math.floor(exact(value, "values") / grid + half)
        except InvalidArgument:
            step = None
        if step is None:
            # raised outside the handler of the error above, which quotes the value
            raise refuse("mechanism.values-not-finite")
        steps.append(min(max(step, low), high))
    return np.array(steps, dtype=np.int64)
