"""What may be done with a question, decided without rows.

A plan names every admissible strategy with its expected error and price, and the one chosen: the
least expected error for the caller's criterion. Two tables that share a schema have the same plan.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ..engine.product import check_product
from ..engine.request import Factor, Measure, Request
from ..errors import InvalidArgument, NotPromised, Refused, nearest
from ..mechanism.bernstein import Axis, Bernstein, powers_of
from ..mechanism.part import Component, Part
from ..noise.criterion import Criterion, criterion
from ..number import NANO, fraction_of_one
from ..number import Number as NumberGiven
from ..promise import show
from ..schema import Bounded, Category, Number, Schema
from ..schema.table import RECORD
from .bought import levels_for
from .chosen import BOUGHT, Chosen, Span
from .comparison import SHOWN_LEVEL, score_of
from .page import html_table
from .question import Aggregate, Output, Question
from .reading import Linear, Reading, fold
from .smoothed import SMOOTH, smoothed_for
from .strategy import Range, Setting, Strategy
from .told import Told
from .voted import Voted
from .ways import strategies

__all__ = [
    "DECLARED",
    "Candidate",
    "Expectation",
    "Plan",
    "candidate_for",
    "make_plan",
    "moment_of",
    "request_for",
    "setting_of",
]


DECLARED = "declared by the schema"
"""The mechanism of what is public: no row is read, and nothing is paid."""


@dataclass(frozen=True)
class Expectation:
    """How far one output will be off; None where that depends on rows.

    rank: for a value with a rank, by how many ranks it is off at most with 95 %.
    votes: for the most frequent category, by how many rows it is behind at most with 95 %.
    """

    alias: str
    expected_error: float | None
    half_width: float | None
    standard_deviation: float | None
    rank: float | None = None
    votes: float | None = None


@dataclass(frozen=True)
class Candidate:
    """One admissible way to answer."""

    mechanism: str
    epsilon: Fraction
    expectations: tuple[Expectation, ...]
    score: float

    def to_dict(self) -> dict[str, Any]:
        return {
            "mechanism": self.mechanism,
            "epsilon": show(self.epsilon),
            "outputs": [
                {
                    "alias": e.alias,
                    "expected_error": e.expected_error,
                    "interval_95": e.half_width,
                    "standard_deviation": e.standard_deviation,
                    "rank_95": e.rank,
                    "votes_95": e.votes,
                }
                for e in self.expectations
            ],
        }


@dataclass(frozen=True, repr=False)
class Plan:
    """A question with its candidates and the chosen one. Reads no rows."""

    question: Question
    sql: str
    neighbours: str
    unit: str
    criterion: Criterion
    nano: int
    candidates: tuple[Candidate, ...]
    chosen: Candidate
    strategy: Strategy
    request: Request
    readings: tuple[Reading, ...]
    needs_row_count: bool
    interval: Fraction | None = None

    @property
    def interval_epsilon(self) -> Fraction:
        """The part of the price that went into the ends of value intervals."""
        bought = (c.epsilon for c in self.strategy.choices if c.name == BOUGHT)
        return sum(bought, start=Fraction(0))

    @property
    def epsilon(self) -> Fraction:
        """The price."""
        return Fraction(self.nano, NANO)

    @property
    def free(self) -> bool:
        """Whether the answer is public: no row is read for it."""
        return self.strategy.name == DECLARED

    @property
    def parts(self) -> tuple[Part, ...]:
        return self.strategy.parts

    @property
    def cells(self) -> int:
        return self.question.cells

    def to_dict(self) -> dict[str, Any]:
        return {
            "question": self.sql,
            "epsilon": show(self.epsilon),
            "neighbours": self.neighbours,
            "unit": self.unit,
            "cells": self.cells,
            "criterion": str(self.criterion),
            "interval": None
            if self.interval is None
            else {"level": show(self.interval), "epsilon": show(self.interval_epsilon)},
            "chosen": self.chosen.to_dict(),
            "candidates": [candidate.to_dict() for candidate in self.candidates],
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def _head(self) -> str:
        cells = f", {self.cells:,} cells" if self.question.keys else ""
        price = f"epsilon {show(self.epsilon)}"
        return f"{price}, neighbours {self.neighbours}, unit {self.unit}{cells}"

    def _table(self) -> list[list[str]]:
        """What people see: a header, and a row for each output of each candidate."""
        rows = [["", "mechanism", "output", "mean |error|", "95 % within ±"]]
        for candidate in self.candidates:
            mark = "→" if candidate is self.chosen else " "
            for place, e in enumerate(candidate.expectations):
                name = [mark, candidate.mechanism] if place == 0 else ["", ""]
                rows.append([*name, e.alias, *_errors(e, candidate)])
        return rows

    def _notes(self) -> list[str]:
        """What the table leaves to be said."""
        notes = []
        chosen = self.chosen.expectations
        if any(e.expected_error is None and e.rank is None and e.votes is None for e in chosen):
            notes.append("“after” is told with the answer: it depends on the number of rows.")
        if any(e.rank is not None for e in chosen):
            notes.append(
                "How many ranks a value is off can be told; how far in value depends on rows."
            )
        if self.interval is not None:
            notes.append(self._bought())
        if self.free:
            notes.append(
                "The number of rows is public (neighbours replace, all rows) and the schema states "
                "it: no row is read, and it costs nothing."
            )
        if any(candidate.mechanism.startswith(SMOOTH) for candidate in self.candidates):
            notes.append(
                "“untold”: how far smooth sensitivity is off would be a fact about the rows."
            )
        return notes

    def __str__(self) -> str:
        rows = self._table()
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        lines = []
        for row in rows:
            names = [row[i].ljust(widths[i]) for i in range(3)]
            numbers = [row[i].rjust(widths[i]) for i in (3, 4)]
            lines.append("  ".join(names + numbers).rstrip())
        notes = [line for note in self._notes() for line in ("", note)]
        return "\n".join([self.sql, self._head(), "", *lines, *notes])

    def _repr_html_(self) -> str:
        return html_table(self._table(), [self.sql, self._head()], self._notes())

    def _bought(self) -> str:
        part = f"epsilon {show(self.interval_epsilon)} of {show(self.epsilon)} buys them"
        return (
            f"The answer has intervals in values at {float(self.interval or 0):.10g}: "
            + (part if self.interval_epsilon else "an extreme and its bound cost nothing more")
            + "."
        )

    def __repr__(self) -> str:
        return str(self)


def shown(number: float | None) -> str:
    """A number to three digits, or "after" where it can only be told with the answer."""
    if number is None:
        return "after"
    if math.isinf(number):
        return "infinite"
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"


def _errors(e: Expectation, candidate: Candidate) -> tuple[str, str]:
    """The mean error and the 95 % reach of one output, as the table shows them."""
    if e.rank is not None:
        return "", f"{shown(e.rank)} ranks"
    if e.votes is not None:
        return "", f"{shown(e.votes)} rows behind"
    return _told(e.expected_error, candidate), _told(e.half_width, candidate)


def _told(number: float | None, candidate: Candidate) -> str:
    return "untold" if number is None and candidate.mechanism.startswith(SMOOTH) else shown(number)


def make_plan(
    question: Question,
    schema: Schema,
    nano: int,
    minimise: object = "variance",
    sql: str = "",
    *,
    beside: bool = False,
    interval: NumberGiven | None = None,
    mechanism: str | None = None,
) -> Plan:
    """The plan for a question at a price, for the caller's criterion.

    mechanism: the name of the candidate to choose; None for the one with the least error.
    interval: the level of value intervals that part of the price shall buy.
    beside: others are answered for the same price, about rows that cannot be the same: the
        question is one cell of several.
    """
    if schema.unit != RECORD and schema.rows_per_unit is None:
        raise NotPromised(
            f"The unit of `{schema.name}` is `{schema.unit}`, who may have any number of rows",
            "What a person can change must be limited",
            "Add rows_per_unit = 10, or what you decide, to [table]",
        )
    wanted = criterion(minimise)
    setting = setting_of(question, schema)
    if beside:
        setting = replace(setting, grouped=True)
    levels = None if interval is None else levels_for(question, interval)
    declared = _declared(question, setting, schema)
    asked = [a for a in question.aggregates() if a not in declared]
    if asked:
        found = [
            replace(one, readings={**one.readings, **declared})
            for one in strategies(asked, setting, nano, wanted, levels)
        ]
    else:
        found, nano = [Strategy(DECLARED, (), declared)], 0
    outputs = [o for o in question.outputs if isinstance(o, Output)]
    rows = schema.rows if not question.keys and question.where is None else None
    if interval is None and not declared:
        found += _smooth(question, setting, found[0].epsilon)
    candidates = [candidate_for(strategy, outputs, wanted, rows) for strategy in found]
    named = [i for i, c in enumerate(candidates) if mechanism in (None, c.mechanism)]
    if not named:
        raise _unknown(mechanism, candidates)
    best = min(named, key=lambda i: (not found[i].preferred, candidates[i].score))
    strategy = found[best]
    readings = tuple(fold(o.expression, strategy.readings) for o in outputs)
    request = request_for(question, [c for part in strategy.parts for c in part.components])
    for measure in request.measures:
        if measure.kind == "moment":  # refused now, from the bounds, and not after the debit
            check_product(measure.factors, schema.columns)
    public_mean = any(
        a.kind == "avg" and setting.rows_public(a.column or "") for a in question.aggregates()
    )
    return Plan(
        question=question,
        sql=sql,
        neighbours=schema.neighbours,
        unit=schema.unit,
        criterion=wanted,
        nano=nano,
        candidates=tuple(candidates),
        chosen=candidates[best],
        strategy=strategy,
        request=request,
        readings=readings,
        needs_row_count=public_mean,
        interval=None if interval is None else fraction_of_one(interval, "interval"),
    )


def _declared(question: Question, setting: Setting, schema: Schema) -> dict[Aggregate, Linear]:
    """The counts of all rows of a table whose number of rows is public and declared: constants."""
    if schema.rows is None or not setting.all_public:
        return {}
    return {
        a: Linear((), Fraction(schema.rows), grid=Fraction(1))
        for a in question.aggregates()
        if a.kind == "count" and (a.column is None or a.column in setting.never_missing)
    }


def _unknown(mechanism: str | None, candidates: Sequence[Candidate]) -> Refused:
    if str(mechanism).startswith(SMOOTH) and candidates[-1].score < math.inf:
        return NotPromised(
            "Smooth sensitivity does not answer this question",
            "It answers one MEDIAN, QUANTILE, MIN or MAX, without an interval, where the number of "
            'rows is public: unit = "record", neighbours = "replace", no WHERE, no GROUP BY, and a '
            "column that declares what stands for missing values",
            "Leave `mechanism` out",
        )
    names = list(dict.fromkeys(c.mechanism for c in candidates))
    return InvalidArgument(
        f"`mechanism` is {str(mechanism)[:60]!r}, which does not answer this question",
        "Its mechanisms are " + ", ".join(f'"{name}"' for name in names),
        nearest(str(mechanism)[:60], names),
    )


def _smooth(question: Question, setting: Setting, epsilon: Fraction) -> list[Strategy]:
    """Smooth sensitivity, where it is admissible: its error is a fact about the rows, so it is
    never preferred, and chosen only by name."""
    asked = question.aggregates()
    public = len(asked) == 1 and asked[0].selected and setting.rows_public(asked[0].column or "")
    if not public:
        return []
    span = setting.spans[asked[0].column or ""]
    return [
        Strategy(one.name, (), {asked[0]: Told(span.grid, differential=True)}, smoothed=one)
        for one in smoothed_for(asked[0], span, epsilon)
    ]


def setting_of(question: Question, schema: Schema) -> Setting:
    ranges, spans = {}, {}
    for name in {n for a in question.aggregates() for n in (a.column, a.other) if n is not None}:
        column = schema.column(name)
        if isinstance(column, Number):
            low, high = int(column.low / column.grid), int(column.high / column.grid)
            ranges[column.name] = Range(low, high, column.grid, column.missing is not None)
            spans[column.name] = Span(low, high, column.grid)
        elif isinstance(column, Bounded):  # days or seconds from the lowest
            spans[column.name] = Span(0, column.steps, Fraction(1))
    never = frozenset(c.name for c in schema.columns.values() if c.missing is not None)
    persons = schema.unit != RECORD
    return Setting(
        neighbours=schema.neighbours,
        grouped=bool(question.keys),
        filtered=question.where is not None,
        ranges=ranges,
        never_missing=never,
        spans=spans,
        categories={
            c.name: len(c.categories) for c in schema.columns.values() if isinstance(c, Category)
        },
        rows_per_unit=schema.rows_per_unit or 1 if persons else 1,
        groups_per_unit=schema.groups_per_unit if persons else None,
        persons=persons,
    )


def candidate_for(
    strategy: Strategy, outputs: Sequence[Output], wanted: Criterion, rows: int | None
) -> Candidate:
    expectations = []
    for output in outputs:
        reading = fold(output.expression, strategy.readings)
        error = reading.before_rows(strategy.parts, rows)
        rank = reading.rank_error(SHOWN_LEVEL) if isinstance(reading, Chosen) else None
        expectations.append(
            Expectation(
                alias=output.alias,
                expected_error=None if error is None else error.quick_mean_absolute_error,
                half_width=None if error is None else error.quick_half_width(SHOWN_LEVEL),
                standard_deviation=None if error is None else math.sqrt(error.variance),
                rank=rank,
                votes=reading.behind(SHOWN_LEVEL) if isinstance(reading, Voted) else None,
            )
        )
    return Candidate(
        mechanism=strategy.name,
        epsilon=strategy.epsilon,
        expectations=tuple(expectations),
        score=score_of(strategy, wanted),
    )


def request_for(question: Question, components: Iterable[Component | Bernstein]) -> Request:
    """The whole numbers the components need, and nothing else."""
    measures: dict[Measure, None] = {}
    for component in components:
        if isinstance(component, Bernstein):
            measures.update(dict.fromkeys(_moments(component)))
            continue
        if component.kind == "units":
            measures[Measure("units")] = None
            continue
        if component.kind in ("rows", "absent"):
            measures[Measure("rows")] = None
        if component.kind != "rows":
            measures[Measure("present", component.column)] = None
        if component.kind not in ("rows", "present", "absent"):
            measures[Measure("total", component.column)] = None
    return Request(measures=tuple(measures), where=question.where, keys=question.keys)


def _moments(component: Bernstein) -> list[Measure]:
    """All moments of the component's columns, up to its degree."""
    return [
        moment_of(component.axes, powers)
        for powers in powers_of(len(component.axes), component.degree)
    ]


def moment_of(axes: Sequence[Axis], powers: Sequence[int]) -> Measure:
    """The sum of products of powers of the columns, each counted from its lowest value."""
    pairs = zip(axes, powers, strict=True)
    return Measure("moment", factors=tuple(Factor(a.column, a.low, p) for a, p in pairs))
