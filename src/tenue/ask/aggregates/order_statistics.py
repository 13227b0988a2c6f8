"""Values with a rank: chosen from the grid, or with noise scaled to their smooth sensitivity.

An interval in values can be bought. For a quantile half of the price pays for it: two further
selections, each aimed so far from the quantile that it lies beyond it but for half of what is
allowed to miss. An extreme needs none: aimed at a rank that the level decides, the answer itself is
one end, and the bound of the column is the other.

can be told but the value. Never preferred, for its error is a fact about the rows; asked by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from ...engine.request import Window
from ...errors import Refused, refuse
from ...mechanism import rank_score
from ...mechanism.exponential_mechanism import Selection
from ...mechanism.rank_score import RankScore
from ...noise.criterion import Criterion
from ...noise.samplers import LARGEST
from ...noise.source import Source
from ...schema import Date, Datetime, Schema
from ...text import exactly, plain, readable, shortly
from ..question import Aggregate
from .contract import ORDERED, Asked, Block, Family, Function, Levels
from .reading import SHOWN_LEVEL, Expectation, Interval, Noisy, Parts, Reading
from .strategy import Draw, Rows, Setting, Span, Strategy

if TYPE_CHECKING:
    from ...noise.heavy_tail import HeavyTailSteps


SELECTION = "selection"
INTERVAL_END = "interval by selection"
"""The name of what pays for the ends of an interval."""

_SOURCES = {
    SELECTION: "McSherry and Talwar 2007, with a score of ranks",
    INTERVAL_END: "McSherry and Talwar 2007, at ranks beyond the one asked for",
}

# Selection cuts its score where less than this is left to choose.
_LEAST = Fraction(1, 10**12)


@dataclass(frozen=True)
class Choice(Draw):
    """One selection that is paid for: from the values of a column, at a price."""

    name: str
    column: str
    selection: Selection
    epsilon: Fraction

    chosen = True

    @property
    def for_interval(self) -> bool:  # type: ignore[override]
        return self.name == INTERVAL_END

    @property
    def source(self) -> str:
        return _SOURCES[self.name]

    @property
    def line(self) -> str:
        selection = self.selection
        rank = "" if selection.score.rank is None else f", aimed at rank {selection.score.rank}"
        return (
            f"{self.name} of {self.column} among {selection.points} grid points{rank}: "
            f"epsilon {exactly(selection.epsilon)} for one row"
        )

    @property
    def windows(self) -> Mapping[str, tuple[Window, ...]]:
        score, reach = self.selection.score, self.selection.reach
        return {self.column: (Window(score.b, score.a, score.above, score.below, reach),)}

    @property
    def required(self) -> str:
        return self.column

    def check_draw(self, cells: int) -> None:
        self.selection.law.check_draw()

    def read(self, rows: Rows) -> None:
        rows.ranks(self.column)

    def released(self, rows: Rows, cells: Sequence[int], source: Source) -> list[list[int]]:
        profiles = (rows.ranks(self.column)[cell] for cell in cells)
        return [[self.selection.choose(one.rows, one.values, source)] for one in profiles]


@dataclass(frozen=True)
class RankInterval:
    """An interval that holds the true value with probability `level`.

    low, high: how many places after the answer its ends were chosen; None for the bound.
    """

    level: Fraction
    low: int | None
    high: int | None


@dataclass(frozen=True)
class RankReading(Reading):
    """The chosen grid point.

    Where it lies among the rows is known up to a rank; how far it is from the true value is not,
    for that depends on the rows, unless an interval was bought.
    """

    place: int
    grid: Fraction
    selection: Selection
    bought: RankInterval | None = None

    def refuse_accuracy(self) -> Refused:
        return refuse("ask.no-accuracy-for-rank")

    def value(self, noisy: Noisy, rows: int | None) -> Fraction:
        return noisy[-1][self.place] * self.grid

    def interval(
        self, parts: Parts, level: Fraction, noisy: Noisy, rows: int | None
    ) -> Interval | None:
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

    def rank_error(self, level: Fraction) -> float:
        """A minimum or maximum is aimed at a rank inside the table, which counts too."""
        aim = self.selection.score.rank or 0
        return aim + self.selection.misses(float(max(1 - level, _LEAST)))

    def size(self, parts: Parts, wanted: Criterion) -> float:
        return self.rank_error(SHOWN_LEVEL)

    def moved(self, parts: int, places: int) -> RankReading:
        return replace(self, place=self.place + places)

    def expect(self, alias: str, parts: Parts, rows: int | None) -> Expectation:
        rank = self.rank_error(SHOWN_LEVEL)
        return Expectation(
            *(alias, None, None, None),
            rank=rank,
            words=("", f"{shortly(rank)} ranks"),
            note="How many ranks a value is off can be told; how far in value depends on rows.",
        )

    def beside(
        self,
        value: object,
        interval: Callable[[Fraction], Interval | None],
        held: Callable[[Fraction], Any],
        bought: Fraction | None,
    ) -> str:
        if bought is None:
            return f"{shortly(self.rank_error(SHOWN_LEVEL))} ranks"
        return " to ".join(readable(plain(held(end))) for end in interval(bought) or ())


class Rank(Family):
    """MEDIAN, QUANTILE, MIN and MAX."""

    functions = (
        Function("MEDIAN", "quantile", ORDERED, q=Fraction(1, 2)),
        Function("QUANTILE", "quantile", ORDERED, share=True),
        Function("MIN", "min", ORDERED),
        Function("MAX", "max", ORDERED),
    )
    of_column = True
    buys_intervals = True

    def blocks(self, asked: Asked, setting: Setting, levels: Levels) -> list[Block]:
        """A row costs a selection at most `epsilon`, in whatever cell it lies; a unit has several.

        The loss of a selection grows with the number of rows that change, so that of a unit's rows
        in several cells adds up to no more than if all lay in one.
        """
        native = setting.native_replace
        neighbours = "replace" if native else "add-or-remove"

        def paid(share: Fraction) -> Fraction:
            return setting.law_epsilon(share, native=native) / setting.rows_per_unit

        def at(aggregate: Aggregate, price: Fraction) -> Strategy:
            span, level = setting.spans[aggregate.column or ""], levels.get(aggregate)
            choices, bought = choices_for(aggregate, span, neighbours, price, paid, level)
            reading = RankReading(0, span.grid, choices[0].selection, bought)
            return Strategy(SELECTION, tuple(choices), {aggregate: reading})

        return [partial(at, aggregate) for aggregate in asked]

    def as_held(self, aggregate: Aggregate, value: Fraction, schema: Schema) -> Any:
        column = schema.column(aggregate.column or "")
        return column.from_steps(int(value)) if isinstance(column, Date | Datetime) else value


def choices_for(
    aggregate: Aggregate,
    span: Span,
    neighbours: str,
    price: Fraction,
    paid: Callable[[Fraction], Fraction],
    level: Fraction | None = None,
) -> tuple[list[Choice], RankInterval | None]:
    """The selections that answer a median, quantile, minimum or maximum, and its interval.

    paid: what one row may cost at a price: less where a unit has several rows, or where replace is
        remove and add.
    level: that of an interval to be bought with part of the price.
    """
    points = span.high - span.low + 1
    if points > LARGEST:
        raise refuse(
            "ask.too-many-grid-points", column=aggregate.column, points=points, largest=LARGEST
        )

    def choice(score: RankScore, name: str, share: Fraction) -> Choice:
        selection = Selection(score, span.low, span.high, paid(share))
        return Choice(name, aggregate.column or "", selection, share)

    if aggregate.kind in ("min", "max"):
        extreme = rank_score.minimum if aggregate.kind == "min" else rank_score.maximum
        outside = None if level is None else 1 - level
        chosen = choice(extreme(paid(price), points, outside), SELECTION, price)
        if level is None:
            return [chosen], None
        ends = (None, 0) if aggregate.kind == "min" else (0, None)
        return [chosen], RankInterval(level, *ends)
    q = aggregate.q or Fraction(1, 2)
    middle = rank_score.quantile(q, neighbours)
    if level is None:
        return [choice(middle, SELECTION, price)], None
    quarter, each = price / 4, (1 - level) / 2
    below, above = (
        end(q, neighbours, paid(quarter), points, each)
        for end in (rank_score.below_quantile, rank_score.above_quantile)
    )
    return [
        choice(middle, SELECTION, price / 2),
        choice(below, INTERVAL_END, quarter),
        choice(above, INTERVAL_END, quarter),
    ], RankInterval(level, 1, 2)


RANK = Rank()


# Order statistics with noise scaled to their smooth sensitivity: differential privacy, and
# nothing.

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

    def check_draw(self, cells: int) -> None:
        """The noise lies between that of the least and the greatest sensitivity of any table."""
        for law in extreme_laws(self.span, self.gamma, self.epsilon):
            law.check_draw()

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
        return refuse("ask.not-smooth-question")


def smoothed_for(aggregate: Aggregate, span: Span, epsilon: Fraction) -> list[SmoothNoise]:
    """One for each tail, where noise exists for every table with these bounds."""
    statistic = aggregate.name.lower()
    q = aggregate.q if statistic == "quantile" else None
    if span.high - span.low >= LARGEST >> 2:
        return []
    found = []
    from ...noise.heavy_tail import GAMMAS

    for gamma in GAMMAS:
        try:
            extreme_laws(span, gamma, epsilon)
        except Refused:
            continue
        found.append(SmoothNoise(aggregate.column or "", statistic, q, span, gamma, epsilon))
    return found


def extreme_laws(span: Span, gamma: int, epsilon: Fraction) -> list[HeavyTailSteps]:
    """The noise for the least and the greatest smooth sensitivity; refused where one is none."""
    from ...mechanism.smooth import LEAST
    from ...noise.heavy_tail import HeavyTail

    return [
        HeavyTail(gamma=gamma, smooth_sensitivity=spread, epsilon=epsilon).on_grid(1)
        for spread in (LEAST, Fraction(2 * (span.high - span.low)))
    ]


SMOOTH = Smooth()
