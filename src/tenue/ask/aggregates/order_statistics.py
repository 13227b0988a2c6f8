"""Order statistics: selected from the grid, or with noise scaled to their smooth sensitivity.

Part of the price can pay for an interval in values. For a quantile it is half: two further
selections, each aimed so far from the quantile that it lies beyond it, except with half of the
allowed miss probability. An extreme needs none: it is aimed at a rank that follows from the level;
the answer is one end, and the bound of the column is the other.

With smooth sensitivity only the value can be stated, because the error would be a fact about the
rows. So it is never preferred, and answers only if it is chosen by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
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
from .contract import ORDERED, Asked, Ends, Family, Function, bounds_of_number
from .reading import SHOWN_LEVEL, Expectation, Interval, Noisy, Parts, Reading, miss
from .strategy import Draw, Rows, Setting, Span, Strategy

if TYPE_CHECKING:
    from ...noise.heavy_tail import HeavyTailSteps


SELECTION = "selection"
INTERVAL_END = "interval by selection"
_SOURCES = {
    SELECTION: "McSherry and Talwar 2007, with a score of ranks",
    INTERVAL_END: "McSherry and Talwar 2007, at ranks beyond the one asked for",
}


@dataclass(frozen=True)
class Choice(Draw):
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
    """An interval that covers the true value with probability `level`.

    low, high: how many selections after the answer its ends follow; None for the bound.
    """

    level: Fraction
    low: int | None
    high: int | None


@dataclass(frozen=True)
class RankReading(Reading):
    """The selected grid point.

    Its rank error is known; its distance from the true value depends on the rows, so that only a
    paid interval bounds it. place: which of the selections of a cell it is.
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
        """The paid interval, if its level is at least that; any other would depend on the rows.

        Both ends lie beyond the true value at once with the level that was paid for. They are then
        widened to enclose the answer.
        """
        bought = self.bought
        if bought is None or level > bought.level:
            return None
        steps = noisy[-1]
        low = self.selection.low if bought.low is None else steps[self.place + bought.low]
        high = self.selection.high if bought.high is None else steps[self.place + bought.high]
        answer = steps[self.place]
        return min(low, high, answer) * self.grid, max(low, high, answer) * self.grid

    def rank_error(self, level: Fraction) -> float:
        """A minimum or maximum is aimed at a rank inside the table, which counts too."""
        return (self.selection.score.rank or 0) + self.selection.misses(miss(level))

    def size(self, parts: Parts, wanted: Criterion) -> float:
        return self.rank_error(SHOWN_LEVEL)

    def moved(self, parts: int, places: int) -> RankReading:
        return replace(self, place=self.place + places)

    def expect(self, alias: str, parts: Parts, rows: int | None) -> Expectation:
        rank = self.rank_error(SHOWN_LEVEL)
        return Expectation(
            alias,
            rank=rank,
            words=("", f"{shortly(rank)} ranks"),
            note="The rank error is known in advance; the error in value depends on the rows.",
        )

    def beside(
        self,
        value: object,
        interval: Callable[[Fraction], Interval | None],
        held: Callable[[Fraction], Any],
        paid: Fraction | None,
    ) -> str:
        if paid is None:
            return f"{shortly(self.rank_error(SHOWN_LEVEL))} ranks"
        return " to ".join(readable(plain(held(end))) for end in interval(paid) or ())


class Rank(Family):
    functions = (
        Function("MEDIAN", "quantile", ORDERED, q=Fraction(1, 2)),
        Function("QUANTILE", "quantile", ORDERED, share=True),
        Function("MIN", "min", ORDERED),
        Function("MAX", "max", ORDERED),
    )
    of_column = True
    buys_intervals = True

    def block(
        self, aggregate: Aggregate, setting: Setting, level: Fraction | None, price: Fraction
    ) -> Strategy:
        """A row costs a selection at most `epsilon`, in any cell; a unit may have several rows.

        The loss of a selection grows with the number of rows that change, so that of a unit's rows
        in several cells adds up to no more than if all lay in one.
        """
        native = setting.native_replace

        def row_epsilon(share: Fraction) -> Fraction:
            return setting.law_epsilon(share, native=native) / setting.rows_per_unit

        span = setting.spans[aggregate.column or ""]
        neighbours = "replace" if native else "add-or-remove"
        choices, paid = choices_for(aggregate, span, neighbours, price, row_epsilon, level)
        reading = RankReading(0, span.grid, choices[0].selection, paid)
        return Strategy(SELECTION, tuple(choices), {aggregate: reading})

    def possible(self, aggregate: Aggregate, schema: Schema) -> Ends:
        column = schema.column(aggregate.column or "")
        if isinstance(column, Date | Datetime):
            return Fraction(0), Fraction(column.steps)
        return bounds_of_number(aggregate.column, schema)

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
    level: of the interval that part of the price pays for; None for no interval.
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
        only = [choice(extreme(paid(price), points, outside), SELECTION, price)]
        if level is None:
            return only, None
        ends = (None, 0) if aggregate.kind == "min" else (0, None)
        return only, RankInterval(level, *ends)
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


# -- noise scaled to the smooth sensitivity --------------------------------------------------------

_NAME = "smooth sensitivity"
"""The names of these mechanisms begin so; the tail of the noise follows."""


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
        "No scale, interval or error is stated, because the smooth sensitivity is an exact "
        "function of the rows; nor may Bayesian estimation be applied.",
    )
    caveat = "No margin of error is stated: it would be a fact about the rows."

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{_NAME} {self.gamma}"

    @property
    def line(self) -> str:
        return (
            f"{self.statistic} of {self.column}, clipped to its bounds: noise with tail "
            f"gamma = {self.gamma}, scaled by the smooth sensitivity"
        )

    def check_draw(self, cells: int) -> None:
        """The noise lies between that of the least and the greatest sensitivity of any table."""
        for law in extreme_laws(self.span, self.gamma, self.epsilon):
            law.check_draw()

    def released(self, rows: Rows, cells: Sequence[int], source: Source) -> list[list[int]]:
        """The order statistic with heavy-tailed noise; the number of rows is public."""
        from ...mechanism.smooth import smooth_release

        found = smooth_release(
            *(self.statistic, rows.steps(self.column), self.span.low, self.span.high),
            *(self.epsilon, self.gamma, source),
            rows_public=True,
            q=self.q,
        )
        return [[found.numerator, found.denominator]]


@dataclass(frozen=True)
class ValueOnly(Reading):
    """The value in units of the column; scale, interval and error would be facts about the rows.

    differential: whether it is differentially private.
    """

    unit: Fraction
    differential: bool = False

    alone = True

    @property
    def caveat(self) -> str:  # type: ignore[override]
        return "" if self.differential else "This is not differential privacy: see the certificate."

    @property
    def unstated(self) -> str:  # type: ignore[override]
        if not self.differential:
            return ""
        return "“not stated”: the error of smooth sensitivity would be a fact about the rows."

    def value(self, noisy: Noisy, rows: int | None) -> Fraction:
        top, bottom = noisy[0]
        return Fraction(top, bottom) * self.unit


class Smooth(Family):
    """One order statistic of a whole column whose number of rows is public."""

    def by_name(self, asked: Asked, setting: Setting, epsilon: Fraction) -> list[Strategy]:
        if len(asked) != 1 or asked[0].kind not in RANK.kinds:
            return []
        (only,) = asked
        column = only.column or ""
        if not setting.rows_public(column):
            return []
        span = setting.spans[column]
        readings = {only: ValueOnly(span.grid, differential=True)}
        return [Strategy(one.name, (one,), readings) for one in smoothed_for(only, span, epsilon)]

    def refuse_name(self, mechanism: str, names: Sequence[str]) -> Refused | None:
        offered = any(name.startswith(_NAME) for name in names)
        if offered or not mechanism.startswith(_NAME):
            return None
        return refuse("ask.not-smooth-question")


def smoothed_for(aggregate: Aggregate, span: Span, epsilon: Fraction) -> list[SmoothNoise]:
    """One for each tail, where noise exists for every table with these bounds."""
    from ...noise.heavy_tail import GAMMAS

    statistic = aggregate.name.lower()
    q = aggregate.q if statistic == "quantile" else None
    if span.high - span.low >= LARGEST >> 2:
        return []
    found = []
    for gamma in GAMMAS:
        try:
            extreme_laws(span, gamma, epsilon)
        except Refused:
            continue
        found.append(SmoothNoise(aggregate.column or "", statistic, q, span, gamma, epsilon))
    return found


def extreme_laws(span: Span, gamma: int, epsilon: Fraction) -> list[HeavyTailSteps]:
    """The noise for the least and the greatest smooth sensitivity; refused if one is missing."""
    from ...mechanism.smooth import LEAST
    from ...noise.heavy_tail import HeavyTail

    return [
        HeavyTail(gamma=gamma, smooth_sensitivity=spread, epsilon=epsilon).on_grid(1)
        for spread in (LEAST, Fraction(2 * (span.high - span.low)))
    ]


SMOOTH = Smooth()
