"""What may be done with a question, decided without rows.

A plan names every admissible strategy with its expected error and price, and the one chosen: the
least expected error for the caller's criterion. Two tables that share a schema have the same plan.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from ...engine.request import Factor, Measure, Request
from ...engine.sql.product import check_product
from ...errors import Refused, nearest, refuse
from ...mechanism.bernstein import Axis, Bernstein, powers_of
from ...mechanism.part import Component
from ...noise.criterion import Criterion, criterion
from ...number import Number as NumberGiven
from ...number import fraction_of_one
from ...schema import Bounded, Category, Number, Schema
from ...schema.table import RECORD
from ..family.mode import Voted
from ..family.rank import Chosen, Span
from ..family.rank_interval import levels_for
from ..family.reading import Linear, fold
from ..family.smooth import SMOOTH, smoothed_for
from ..family.value_only import Told
from ..question import Aggregate, Output, Question
from .comparison import SHOWN_LEVEL, score_of
from .person import counted
from .plan import DECLARED, Candidate, Expectation, Plan
from .strategy import Range, Setting, Strategy
from .ways import strategies


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
        raise refuse("query.unit-of-is-who-may-have-any-number", name=schema.name, unit=schema.unit)
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
    if mechanism is not None and not isinstance(mechanism, str):
        raise _unknown(mechanism, candidates)
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
        counted=counted(strategy, schema, grouped=bool(question.keys)),
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
        return refuse("query.smooth-sensitivity-does-not-answer-this-question")
    names = list(dict.fromkeys(c.mechanism for c in candidates))
    return refuse(
        "query.mechanism-is-which-does-not-answer-this",
        mechanism=str(mechanism)[:60],
        names=", ".join(f'"{name}"' for name in names),
        nearest=nearest(str(mechanism)[:60], names),
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
            grid, ends = column.grid, column.bounds_per_unit
            sums = None if ends is None else (int(ends[0] / grid), int(ends[1] / grid))
            ranges[column.name] = Range(low, high, grid, column.missing is not None, sums)
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
        cells=question.cells,
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
        if component.kind in ("unit-total", "minus-unit-total"):
            low, high = component.low, component.high
            measures[Measure("unit-total", component.column, low=low, high=high)] = None
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
