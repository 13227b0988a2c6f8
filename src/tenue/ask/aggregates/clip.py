"""Sums and means of skewed columns, clipped above at a bound that is selected privately.

Part of the price selects the bound among powers of two, aimed at so many rows below the largest
that it lies above them all with probability 1/1000 at most. The rest pays for the sum of the
clipped values, whose noise is smaller by as much as the bound is lower. The bound is released, so
the noise may depend on it: prices add up.

Values above the bound count as the bound, so that the answer may be too small. By how much is a
fact about the rows and is never stated; an interval is about the clipped values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from ...engine.computed_column import Choice, Computed, Steps, Sum, Within
from ...engine.request import Window
from ...errors import Refused, refuse
from ...mechanism import rank_score
from ...mechanism.additive_noise import Component, Part
from ...mechanism.exponential_mechanism import Selection
from ...noise.criterion import Criterion
from ...noise.discrete_laplace import DiscreteLaplace
from ...noise.joint import joint
from ...noise.source import Source, require_safe
from ...schema import Schema
from ...sensitivity import worst_case
from ...text import exactly, readable, shortly
from ..question import Aggregate
from .contract import Ends, Family, bounds_of_number, ends_of_sum
from .reading import SHOWN_LEVEL, Expectation, Interval, Noisy, Parts, Reading, miss
from .strategy import Draw, Range, Rows, Setting, Strategy

CLIPPED = {"sum": "clipped_sum", "avg": "clipped_avg"}
"""What SUM and AVG become where they are clipped."""
NAME = "cut chosen by selection, then discrete Laplace"
_CHOICE = Fraction(2, 5)
"""The part of the price that selects the bound."""
_ABOVE_ALL = Fraction(1, 1000)
BIAS = (
    "Values above the selected bound are clipped to it: the answer may be too small by an amount "
    "that is not stated, and the confidence interval is about the clipped values."
)
UNASKED_NAME = 'clip "auto"'
UNASKED = (
    'Clip "auto" is used only on request: values above a privately selected bound are clipped to '
    "it, so that the answer may be too small, and no margin of error covers that. It does harm "
    "where many values are near the upper bound."
)
"""Shown where SUM and AVG are asked for without clipping."""


@dataclass(frozen=True)
class Clip(Part, Draw):
    """A selected bound, and the sum of the clipped values, or the two sums that give their mean.

    selection: selects one of `bounds`, the possible bounds in steps; choosing: its price.
    neighbours, rows_per_unit, law_epsilon: determine the noise.
    """

    bounds: tuple[int, ...]
    selection: Selection
    choosing: Fraction
    neighbours: str
    rows_per_unit: int
    law_epsilon: Fraction

    limits = (BIAS,)
    source = "McSherry and Talwar 2007, then Ghosh, Roughgarden and Sundararajan 2009"

    @property
    def _own(self) -> Component:
        return self.components[0]  # type: ignore[return-value]

    @property
    def column(self) -> str:
        return self._own.column

    @property
    def mean(self) -> bool:
        return len(self.components) == 2

    @property
    def line(self) -> str:
        what = "mean" if self.mean else "total"
        return (
            f"{self.name} on the {what} of {self.column}: epsilon {exactly(self.choosing)} selects "
            f"among {len(self.bounds)} bounds, aimed at rank {self.selection.score.rank} from "
            f"above; epsilon {exactly(self.epsilon - self.choosing)} for the noise"
        )

    @property
    def by_bound(self) -> Computed:
        """The index of the lowest bound that a value does not exceed."""
        cases = tuple(
            (Within(self.column, None, bound), Sum(i)) for i, bound in enumerate(self.bounds)
        )
        return Computed(f"({self.column} by cut)", Choice(cases))

    def clipped(self, bound: int) -> Computed:
        """The column, clipped above."""
        cases = (
            (Within(self.column, None, bound), Steps(self.column)),
            (Within(self.column, bound + 1, None), Sum(bound)),
        )
        return Computed(f"({self.column} cut)", Choice(cases))

    @property
    def window(self) -> Window:
        score = self.selection.score
        return Window(score.b, score.a, score.above, score.below, self.selection.reach)

    def law_at(self, bound: int) -> DiscreteLaplace:
        """The noise of each sum, if values lie between the lower bound and this one."""
        return _law(
            *(self._own.low, bound, self.mean),
            *(self.neighbours, self.rows_per_unit, self.law_epsilon),
        )

    def check_draw(self, cells: int) -> None:
        """The noise lies between those of the lowest and of the highest bound."""
        self.selection.law.check_draw()
        for bound in (self.bounds[0], self.bounds[-1]):
            joint(self.law_at(bound)).check_draw(cells * len(self.components))

    def released(self, rows: Rows, cells: Sequence[int], source: Source) -> list[list[int]]:
        require_safe(source)
        profile = rows.overall(self.by_bound, self.window)
        place = self.selection.choose(profile.rows, profile.values, source)
        bound, low = self.bounds[place], self._own.low
        totals, found = rows.totals(self.clipped(bound)), []
        many = len(cells) * len(self.components)
        noise = [extra for (extra,) in joint(self.law_at(bound)).steps(many, source).tolist()]
        for cell in cells:
            present, total = totals[cell]
            truth = [bound * present - total, total - low * present] if self.mean else [total]
            found.append([place, *(value + noise.pop() for value in truth)])
        return found


@lru_cache(maxsize=64)
def _law(
    low: int, bound: int, mean: bool, neighbours: str, rows: int, epsilon: Fraction
) -> DiscreteLaplace:
    moved = bound - low
    if not mean:
        moved = int(worst_case.total(bounds=(low, bound), neighbours=neighbours))
    return DiscreteLaplace(sensitivity=moved * rows, epsilon=epsilon)


@dataclass(frozen=True)
class ClipReading(Reading):
    part: int
    clip: Clip
    grid: Fraction

    def refuse_accuracy(self) -> Refused:
        return refuse("ask.clip-with-accuracy")

    def bound(self, noisy: Noisy) -> Fraction:
        return self.clip.bounds[noisy[self.part][0]] * self.grid

    def value(self, noisy: Noisy, rows: int | None) -> Fraction:
        place, *numbers = noisy[self.part]
        if not self.clip.mean:
            return numbers[0] * self.grid
        return self._mean(place, Fraction(numbers[0]), Fraction(numbers[1]))

    def _mean(self, place: int, above: Fraction, below: Fraction) -> Fraction:
        low, bound = self.clip._own.low, self.clip.bounds[place]
        above, below = max(above, Fraction(0)), max(below, Fraction(0))
        share = below / (above + below) if above + below > 0 else Fraction(1, 2)
        return (low + (bound - low) * share) * self.grid

    def interval(
        self, parts: Parts, level: Fraction, noisy: Noisy, rows: int | None
    ) -> Interval | None:
        """About clipped values. A mean needs both of its sums inside their intervals at once."""
        place, *numbers = noisy[self.part]
        noise = joint(self.clip.law_at(self.clip.bounds[place]))
        if not self.clip.mean:
            half = Fraction(noise.half_width(0, level))
            return (numbers[0] - half) * self.grid, (numbers[0] + half) * self.grid
        half = Fraction(noise.half_width(0, (1 + level) / 2))
        above, below = numbers
        if above + below <= 2 * half:
            low, high = self.clip._own.low, self.clip.bounds[place]
            return low * self.grid, high * self.grid
        least = self._mean(place, above + half, below - half)
        return least, self._mean(place, above - half, below + half)

    def rows_above(self, level: Fraction) -> float:
        """At most so many rows are above the bound, with that probability."""
        selection = self.clip.selection
        return (selection.score.rank or 0) + selection.misses(miss(level))

    def size(self, parts: Parts, wanted: Criterion) -> float:
        return float(1 / self.clip.epsilon)

    def moved(self, parts: int, bounds: int) -> ClipReading:
        return replace(self, part=self.part + parts)

    def expect(self, alias: str, parts: Parts, rows: int | None) -> Expectation:
        return Expectation(
            alias,
            note="Values above a privately selected bound are clipped to it, so that the answer "
            "may be too small. With probability 95 % at most "
            f"{shortly(self.rows_above(SHOWN_LEVEL))} rows are above the bound.",
        )

    def remark(self, alias: str, noisy: Noisy) -> str:
        bound, rows = readable(self.bound(noisy)), shortly(self.rows_above(SHOWN_LEVEL))
        return (
            f"`{alias}` is computed from values clipped at {bound}, which was selected privately; "
            f"with probability 95 % at most {rows} rows are above it. The margin of error does not "
            "include the bias that this may cause."
        )


class ClipFamily(Family):
    kinds = frozenset(CLIPPED.values())
    adding_up = frozenset({CLIPPED["sum"]})

    def possible(self, aggregate: Aggregate, schema: Schema) -> Ends:
        ends = ends_of_sum if aggregate.kind == CLIPPED["sum"] else bounds_of_number
        return ends(aggregate.column, schema)

    def refuse_name(self, mechanism: str, names: Sequence[str]) -> Refused | None:
        if NAME not in mechanism and mechanism != UNASKED_NAME:
            return None
        return refuse("ask.clip-mechanism-without-clip")

    def block(
        self, aggregate: Aggregate, setting: Setting, level: Fraction | None, price: Fraction
    ) -> Strategy:
        """The selection sees all groups as one table: a row moves its score by 1 at most, replaced
        or not; a unit may have several rows."""
        column = aggregate.column or ""
        stated, choosing = setting.ranges[column], price * _CHOICE
        bounds = bounds_of(stated, aggregate)
        each = choosing / setting.rows_per_unit
        score = rank_score.maximum(each, len(bounds), _ABOVE_ALL)
        mean = aggregate.kind == CLIPPED["avg"]
        native = setting.native_replace and not mean
        clip = Clip(
            NAME,
            (Component("total", column, stated.low, stated.high),) * (2 if mean else 1),
            DiscreteLaplace(sensitivity=1, epsilon=price),
            price,
            bounds=bounds,
            selection=Selection(replace(score, spared=None), 0, len(bounds) - 1, each),
            choosing=choosing,
            neighbours="replace" if native else "add-or-remove",
            rows_per_unit=setting.rows_per_unit,
            law_epsilon=setting.law_epsilon(price - choosing, native=native),
        )
        return Strategy(NAME, (clip,), {aggregate: ClipReading(0, clip, stated.grid)})


def bounds_of(stated: Range, aggregate: Aggregate) -> tuple[int, ...]:
    """The possible bounds: powers of two above the lowest value and its size, and the highest."""
    least = max(1, stated.low + 1, -stated.low)
    powers = (1 << i for i in range(stated.high.bit_length() if stated.high > 0 else 0))
    bounds = (*(bound for bound in powers if least <= bound < stated.high), stated.high)
    if len(bounds) < 2:
        raise refuse("ask.nothing-to-clip", name=aggregate.column)
    return bounds


CLIP = ClipFamily()
