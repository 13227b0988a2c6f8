"""Contribution limits and bounds of a column, chosen in private.

Everything is post-processing of one released answer.

Why it is private. Every person has one number in each of these lists, so that one person more or
less is one number more or less, and to replace one is to change one. A quantile is chosen from a
declared grid by the exponential mechanism, with a score that one number moves by max(p, 1 − p), or
by 1 under replace; the prices of all quantiles add up.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from ..arguments import Number as NumberGiven
from ..arguments import exact, fraction_of_one, whole
from ..engine.contract import Engine
from ..engine.request import Contribution, ContributionRequest, Key, Window
from ..errors import refuse
from ..mechanism import rank_score
from ..mechanism.exponential_mechanism import Selection
from ..noise.samplers import LARGEST
from ..noise.source import SYSTEM, Source, require_safe
from ..privacy import Certificate
from ..privacy.certificate import certify
from ..privacy.loss import EpsilonDelta
from ..schema import Column, Named, Number, Schema
from ..schema.table import RECORD
from ..text import exactly, html_table, notes, plain, readable, shortly, text_table
from .aggregates.reading import SHOWN_LEVEL
from .aggregates.strategy import split
from .answer import Answer, Earlier
from .cells import Shown
from .certify import DOES_NOT_PROMISE, assumptions_of
from .paid_request import Inquiry, affordable, identity_under
from .plan.planner import make_plan
from .question import Aggregate, Output, Question
from .sql.constant import sql_name
from .sql.parse import parse

_SHARES = (Fraction(1, 20), Fraction(1, 2), Fraction(19, 20))
_ROUND = (1, 2, 5, 10)


@dataclass(frozen=True, repr=False)
class BoundsSuggestion:
    """Narrower bounds for a number.

    quantiles: the share of values below, and the private quantile.
    bounds: the lowest and highest quantile, rounded outwards; inside the declared bounds.
    answer: what was released, with its price and certificate.
    """

    column: str
    quantiles: dict[Fraction, Fraction]
    bounds: tuple[Fraction, Fraction]
    answer: Answer

    def __str__(self) -> str:
        low, high = map(exactly, self.bounds)
        lines = [f"[columns.{self.column}]", f"bounds = [{low}, {high}]", ""]
        lines += [
            f"about {100 * float(share):g} % of values are at most {exactly(value)}"
            for share, value in self.quantiles.items()
        ]
        lines.append("Values outside narrower bounds are clipped; the error of that is not known.")
        return "\n".join(lines)

    __repr__ = __str__


def question_of(schema: Schema, name: str) -> str:
    """The question whose answer suggests bounds."""
    column = schema.column(name)
    if not isinstance(column, Number):
        raise refuse("ask.bounds-of-non-number", name=column.name, type=column.type)
    asked = [
        f"QUANTILE({sql_name(column.name)}, {float(share)}) AS q{number}"
        for number, share in enumerate(_SHARES)
    ]
    return f"SELECT {', '.join(asked)} FROM {sql_name(schema.name)}"  # noqa: S608 - `parse` reads it


def suggest(schema: Schema, name: str, answer: Answer) -> BoundsSuggestion:
    """The bounds that follow from the answer."""
    column = schema.column(name)
    assert isinstance(column, Number)  # noqa: S101 - `question_of` refused the others
    values = sorted(exact(value, "quantile") for value in answer.exact.values())
    low, high = values[0], values[-1]
    zero = low >= 0 >= column.low
    least = max(column.low, Fraction(0) if zero else -outwards(-low, column.grid))
    most = min(column.high, outwards(high, column.grid))
    bounds = (least, most) if least < most else (column.low, column.high)
    return BoundsSuggestion(column.name, dict(zip(_SHARES, values, strict=True)), bounds, answer)


def outwards(value: Fraction, grid: Fraction) -> Fraction:
    """The next of 1, 2, 5, 10, 20, … that is no less, on the grid; itself if it is not positive.

    Example
        >>> outwards(Fraction(31_400), Fraction(1)), outwards(Fraction(-7), Fraction(1))
        (Fraction(50000, 1), Fraction(-7, 1))
    """
    if value <= 0:
        return value
    power = Fraction(10) ** math.floor(math.log10(value))
    nice = next((power * step for step in _ROUND if power * step >= value), value)
    return math.ceil(nice / grid) * grid


# Private quantiles of the rows, groups and sums of each person; from all rows, before any limit.


@dataclass(frozen=True)
class Sought:
    """One number of each person whose quantiles are sought, and its grid: all whole numbers from
    `first` to `last`. Numbers beyond count as the nearer end."""

    contribution: Contribution
    first: int
    last: int


@dataclass(frozen=True)
class Quantiles:
    """Quantiles that are paid for together, an equal part of the price for each.

    Guarantee
        `epsilon`-differential privacy for one person, whatever number of rows they have.

    shares: which quantiles, in increasing order; of the least sums the mirror images.
    """

    sought: tuple[Sought, ...]
    shares: tuple[Fraction, ...]
    keys: tuple[Key, ...]
    unit: str
    neighbours: str
    price: EpsilonDelta

    @property
    def written(self) -> str:
        """All of it as one text, by which stored answers are found: it may never change."""
        parts = f"sought={self.sought!r}, shares={self.shares!r}, keys={self.keys!r}"
        about = f"unit={self.unit!r}, neighbours={self.neighbours!r}, nano={self.price.units}"
        return f"Quantiles({parts}, {about})"

    @property
    def each(self) -> Fraction:
        """The price of one quantile."""
        return split(self.price, len(self.sought) * len(self.shares)).epsilon

    @property
    def epsilon(self) -> Fraction:
        """The price; the quantiles together use no more."""
        return self.price.epsilon

    def selections(self, sought: Sought) -> list[Selection]:
        """The selection of each quantile."""
        mirrored = sought.contribution.kind == "least"
        return [
            Selection(
                rank_score.quantile(1 - share if mirrored else share, self.neighbours),
                *(sought.first, sought.last, self.each),
            )
            for share in self.shares
        ]

    def choose(self, engine: Engine, source: Source = SYSTEM) -> list[list[int]]:
        """The chosen quantiles of each number that is sought; reads rows."""
        require_safe(source)
        chosen = []
        for sought in self.sought:
            selections = self.selections(sought)
            scores = [(one.score, one.reach) for one in selections]
            windows = tuple(Window(s.b, s.a, s.above, s.below, reach) for s, reach in scores)
            profile = engine.contributions(
                ContributionRequest(
                    *(sought.contribution, self.unit, windows, sought.first, sought.last, None),
                    keys=self.keys,
                )
            )
            values = [one.choose(profile.rows, profile.values, source) for one in selections]
            chosen.append(values)
        return chosen

    def lines(self) -> list[str]:
        """The description of each number in a certificate."""
        price = f"epsilon {exactly(self.each)} for each quantile"
        shares, lines = ", ".join(map(exactly, self.shares)), []
        for one in self.sought:
            kind, column = one.contribution.kind, one.contribution.column
            of = (
                f"{kind} of each person"
                if column is None
                else f"{kind} sum of {column} of each person"
            )
            grid = f"from {one.first} to {one.last} steps"
            lines.append(f"selection of quantiles {shares} of {of}, {grid}: {price}")
        return lines


def sought_for(keys: Sequence[Key], column: Number | None, most: int) -> tuple[Sought, ...]:
    """Rows of each person; groups, if there are several; the sums of a column, if one is named.

    most: how many rows and groups the grid goes up to; a sum goes as far as so many rows can.
    """
    sought = [Sought(Contribution("rows"), 1, most)]
    cells = math.prod(key.cells for key in keys)
    if cells > 1:
        sought.append(Sought(Contribution("cells"), 1, min(cells, most)))
    if column is not None:
        low, high = int(column.low / column.grid), int(column.high / column.grid)
        ends = most * min(low, 0), most * max(high, 0)
        if ends[1] - ends[0] >= LARGEST:
            raise refuse("ask.person-sum-too-large", name=column.name, most=most)
        if high > 0:
            sought.append(Sought(Contribution("largest", column.name), *ends))
        if low < 0:
            sought.append(Sought(Contribution("least", column.name), *ends))
    return tuple(sought)


def number_column(schema: Schema, name: str) -> Number:
    """The column whose sums are asked about; refused if it is no number."""
    column = schema.column(name)
    if not isinstance(column, Number):
        raise refuse("ask.limits-of-non-number", name=column.name, type=column.type)
    return column


# Suggested limits, as people and programs see them: quantiles, and the noise at each of them.

TYPICAL = Fraction(1)
"""The epsilon of the questions whose noise is shown."""
_UNKNOWN = (
    "The error of truncation at these limits is not known: nothing here shows how much of anybody "
    "lies above them, and no ± covers it."
)


@dataclass(frozen=True)
class Typical:
    """A typical question, and its 95 % half-width at the limit that each quantile suggests."""

    question: str
    half_widths: tuple[float, ...]


@dataclass(frozen=True, repr=False)
class Suggestion(Shown):
    """Limits that most persons stay below, chosen in private.

    Guarantee
        Everything here is computed from the chosen quantiles, the schema and the price.

    Attributes
        rows: how many rows a person has, at each of the quantiles.
        groups: in how many groups a person is; None where no groups were named.
        sums: the ends between which a person's sum of the column lies; None without a column.
        rows_per_unit, groups_per_unit, bounds_per_unit: the recommended limits: those at the
            highest quantile.
        price: the epsilon debited for it; 0 if it was answered before.
    """

    plan: Quantiles
    schema: Schema
    column: str | None
    chosen: tuple[tuple[int, ...], ...]
    certificate: Certificate
    price: Fraction
    replayed: bool = False
    earlier: Earlier | None = None

    def _of_earlier_rows(self, earlier: Earlier) -> Suggestion:
        return replace(self, earlier=earlier)

    @property
    def quantiles(self) -> tuple[Fraction, ...]:
        """The shares of persons that the limits are for."""
        return self.plan.shares

    @cached_property
    def _by_kind(self) -> dict[str, tuple[int, ...]]:
        """The chosen quantiles of each kind, sorted, which is post-processing."""
        kinds = [sought.contribution.kind for sought in self.plan.sought]
        return {
            kind: tuple(sorted(values, reverse=kind == "least"))
            for kind, values in zip(kinds, self.chosen, strict=True)
        }

    @property
    def rows(self) -> tuple[int, ...]:
        return self._by_kind["rows"]

    @property
    def groups(self) -> tuple[int, ...] | None:
        return self._by_kind.get("cells")

    @cached_property
    def sums(self) -> tuple[tuple[Fraction, Fraction], ...] | None:
        if self.column is None:
            return None
        grid = number_column(self.schema, self.column).grid
        zeros = (0,) * len(self.quantiles)
        lows, highs = (self._by_kind.get(kind, zeros) for kind in ("least", "largest"))
        ends = zip(lows, highs, strict=True)
        return tuple((min(low, 0) * grid, max(high, 0) * grid) for low, high in ends)

    @property
    def rows_per_unit(self) -> int:
        return self.rows[-1]

    @property
    def groups_per_unit(self) -> int | None:
        return None if self.groups is None else self.groups[-1]

    @property
    def bounds_per_unit(self) -> tuple[Fraction, Fraction] | None:
        """None as well where nearly every sum is 0, at which nothing can be clipped."""
        ends = None if self.sums is None else self.sums[-1]
        return ends if ends is not None and any(ends) else None

    def rank_error(self, level: NumberGiven) -> float:
        """By how many persons the rank of each quantile is off at most, with probability `level`;
        the largest of all."""
        outside = 1 - float(fraction_of_one(level, "level"))
        return max(
            selection.misses(outside)
            for sought in self.plan.sought
            for selection in self.plan.selections(sought)
        )

    # -- what each limit means for a question --------------------------------------------------

    @cached_property
    def typical(self) -> tuple[Typical, ...]:
        """The noise of typical questions, each at epsilon 1, at the limits of each quantile."""
        unit, column, by = self.schema.unit, self.column, self.groups is not None
        typical = [Typical("COUNT(*)", self._widths(Aggregate("count")))]
        if by:
            widths = self._widths(Aggregate("units"), groups=True)
            typical.append(Typical(f"COUNT(DISTINCT {unit}) by group", widths))
        if column is not None:
            name, total = f"SUM({column})" + " by group" * by, Aggregate("sum", column)
            for words, sums in (("rows truncated", False), ("sums clipped", True)):
                widths = self._widths(total, groups=by, sums=sums)
                typical.append(Typical(f"{name}, {words}", widths))
        return tuple(typical)

    def _widths(
        self, asked: Aggregate, *, groups: bool = False, sums: bool = False
    ) -> tuple[float, ...]:
        keys = self.plan.keys if groups else ()
        question = Question(self.schema.name, (Output("n", asked),), keys)
        widths = []
        for index in range(len(self.quantiles)):
            ends = None if not sums or self.sums is None else self.sums[index]
            if ends is not None and not any(ends):
                widths.append(0.0)
                continue
            stated = replace(
                self.schema,
                rows=None,
                rows_per_unit=self.rows[index],
                groups_per_unit=self.groups[index] if groups and self.groups else None,
                columns=self._columns(ends),
            )
            plan = make_plan(question, stated, EpsilonDelta.of(TYPICAL))
            candidates = [c for c in plan.candidates if ("cut by person" in c.mechanism) == sums]
            widths.append(min(c.expectations[0].half_width or 0.0 for c in candidates))
        return tuple(widths)

    def _columns(self, ends: tuple[Fraction, Fraction] | None) -> Named[Column]:
        """The columns of the schema, with these ends for the sums of the one asked about."""
        columns = dict(self.schema.columns)
        if self.column is not None:
            column = number_column(self.schema, self.column)
            columns[column.name] = replace(column, bounds_per_unit=ends)
        return Named(columns.items())

    # -- shapes --------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        ends = self.bounds_per_unit
        return {
            "unit": self.schema.unit,
            "quantiles": [exactly(share) for share in self.quantiles],
            "rows": list(self.rows),
            "groups": None if self.groups is None else list(self.groups),
            "column": self.column,
            "sums": None if self.sums is None else [list(map(plain, pair)) for pair in self.sums],
            "recommended": {
                "rows_per_unit": self.rows_per_unit,
                "groups_per_unit": self.groups_per_unit,
                "bounds_per_unit": None if ends is None else list(map(plain, ends)),
            },
            "rank_95": self.rank_error(SHOWN_LEVEL),
            "typical": [
                {
                    "question": one.question,
                    "epsilon": exactly(TYPICAL),
                    "interval_95": list(one.half_widths),
                }
                for one in self.typical
            ],
            "unknown": _UNKNOWN,
            "price": exactly(self.price),
            "replayed": self.replayed,
            **({} if self.earlier is None else {"earlier": self.earlier.to_dict()}),
            "certificate": self.certificate.to_dict(),
        }

    def _table(self) -> list[list[str]]:
        unit, most = self.schema.unit, self.plan.sought[0].last
        rows = [f"{n:,} or more" if n == most else f"{n:,}" for n in self.rows]
        table = [["", *(f"{float(100 * share):.10g} %" for share in self.quantiles)]]
        table.append([f"rows of a {unit}", *rows])
        if self.groups is not None:
            table.append([f"groups of a {unit}", *(f"{n:,}" for n in self.groups)])
        if self.sums is not None:
            ends = [f"{readable(low)} to {readable(high)}" for low, high in self.sums]
            table.append([f"sum of {self.column} of a {unit}", *ends])
        for one in self.typical:
            table.append([f"± of {one.question}", *map(shortly, one.half_widths)])
        return table

    def _notes(self) -> list[str]:
        share = f"{float(100 * self.quantiles[-1]):.10g} %"
        stated = [f"rows_per_unit = {self.rows_per_unit}"]
        if self.groups_per_unit is not None:
            stated.append(f"groups_per_unit = {self.groups_per_unit}")
        if self.bounds_per_unit is not None:
            ends = ", ".join(exactly(end) for end in self.bounds_per_unit)
            stated.append(f"bounds_per_unit = [{ends}] for {self.column}")
        paid = "answered before, no charge" if self.replayed else f"epsilon {exactly(self.price)}"
        return [
            *([] if self.earlier is None else [str(self.earlier)]),
            f"Recommended, so that nothing of about {share} of persons is truncated: "
            f"{'; '.join(stated)}.",
            f"A column is for that share of persons, give or take "
            f"{shortly(self.rank_error(SHOWN_LEVEL))} persons with 95 %. ± is the 95 % margin of "
            f"error of a question at epsilon {exactly(TYPICAL)}, at the limit above it.",
            _UNKNOWN,
            f"{paid}, selection of {len(self.plan.sought) * len(self.quantiles)} quantiles",
        ]

    def __str__(self) -> str:
        return "\n".join([*text_table(self._table(), left=1), *notes(self._notes())])

    def _repr_html_(self) -> str:
        return html_table(self._table(), after=self._notes())


# From the arguments to suggested limits: read → price → inquiry; rows are read once it is paid.

SHARES = (Fraction(1, 2), Fraction(4, 5), Fraction(19, 20))
MOST = 1000
_MOST_SHARES = 9
_ALL_ROWS = "all rows of a person count"
_CUT = "It does not state the error of truncation at these limits."


def plan_limits(
    schema: Schema,
    *,
    epsilon: NumberGiven,
    by: Sequence[str] = (),
    column: str | None = None,
    quantiles: Sequence[NumberGiven] = SHARES,
    most: int = MOST,
) -> Quantiles:
    """What is drawn, at which price; from the schema alone."""
    if schema.unit == RECORD:
        raise refuse("ask.limits-of-records", name=schema.name)
    named = None if column is None else number_column(schema, column)
    keys = _keys(schema, by)
    return Quantiles(
        sought=sought_for(keys, named, whole(most, "most", least=2)),
        shares=_shares(quantiles),
        keys=keys,
        unit=schema.unit,
        neighbours=schema.neighbours,
        price=affordable(epsilon),
    )


def inquire_limits(
    plan: Quantiles, schema: Schema, column: str | None, seal: str = ""
) -> Inquiry[Suggestion]:
    """The suggestion as the session pays for it."""
    name = None if column is None else schema.column(column).name

    def draw(engine: Engine) -> bytes:
        return json.dumps({"limits": 1, "chosen": plan.choose(engine)}).encode()

    def read(stored: bytes, replayed: bool) -> Suggestion:
        chosen = tuple(map(tuple, json.loads(stored)["chosen"]))
        certificate = certify_limits(plan, schema, seal)
        price = Fraction(0) if replayed else plan.epsilon
        return Suggestion(plan, schema, name, chosen, certificate, price, replayed)

    def check() -> None:
        for sought in plan.sought:
            # refused as well if the price is too small to be shared
            for selection in plan.selections(sought):
                selection.law.check_draw()

    return Inquiry(
        price=plan.price,
        identity=identity_under(schema, "suggest_limits", plan.written),
        asked=_asked(plan),
        draw=draw,
        read=read,
        check=check,
    )


def certify_limits(plan: Quantiles, schema: Schema, seal: str = "") -> Certificate:
    """What is promised about suggested limits."""
    parts = {f"part {number}": line for number, line in enumerate(plan.lines(), start=1)}
    return certify(
        plan.price.promise(),
        schema,
        "selection",
        {"question": _asked(plan), "epsilon": exactly(plan.epsilon)} | parts,
        ["McSherry and Talwar 2007, with a score of ranks"],
        assumptions_of(schema, _ALL_ROWS),
        (*DOES_NOT_PROMISE, _CUT),
        seal,
    )


def _asked(plan: Quantiles) -> str:
    contributions = [one.contribution for one in plan.sought]
    sought = dict.fromkeys(f"sums of {c.column}" if c.column else c.kind for c in contributions)
    by = ", ".join(key.column for key in plan.keys)
    return f"limits of {plan.unit}: {', '.join(sought)}" + (f" by {by}" if by else "")


def _keys(schema: Schema, by: Sequence[str]) -> tuple[Key, ...]:
    if isinstance(by, str) or not all(isinstance(text, str) for text in by):
        raise refuse("ask.groups-not-a-list")
    if not by:
        return ()
    texts = ", ".join(sql_name(text) if text in schema.columns else text for text in by)
    table = sql_name(schema.name)
    sql = f"SELECT {texts}, COUNT(*) FROM {table} GROUP BY {texts}"  # noqa: S608 - `parse` reads it
    question = parse(sql, schema)
    if question.computed:
        raise refuse("ask.groups-not-a-list")
    return question.keys


def _shares(quantiles: Sequence[NumberGiven]) -> tuple[Fraction, ...]:
    given = quantiles if isinstance(quantiles, list | tuple) else [quantiles]
    shares = sorted({fraction_of_one(share, "quantiles") for share in given})
    if not 1 <= len(shares) <= _MOST_SHARES:
        raise refuse("ask.too-many-quantiles", many=len(shares), most=_MOST_SHARES)
    return tuple(shares)
