"""What may be done with a question, decided without rows.

A plan names every admissible strategy with its expected error and price, and the one chosen: the
least expected error for the caller's criterion. Two tables that share a schema have the same plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from ...engine.request import Measure, People, Request
from ...engine.sql.product import check_product
from ...errors import Refused, nearest, refuse
from ...noise.criterion import Criterion, criterion
from ...number import Number as NumberGiven
from ...number import fraction_of_one
from ...schema import Bounded, Category, Number, Schema
from ...schema.table import RECORD
from ..family.reading import Reading, fold
from ..family.registry import FAMILIES
from ..family.strategy import Range, Setting, Span, Strategy, score_of
from ..question import Aggregate, Output, Question
from .limit import limits_of
from .plan import DECLARED, Candidate, Plan
from .ways import levels_for, strategies

_WORTH = 2
"""Nobody is cut if the noise is so many times larger at most."""


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
    check_limited(schema)
    wanted = criterion(minimise)
    setting = setting_of(question, schema)
    if beside:
        setting = replace(setting, grouped=True)
    levels = None if interval is None else levels_for(question, interval)
    aggregates = question.aggregates()
    declared: dict[Aggregate, Reading] = {}
    if schema.rows is not None:
        for family in FAMILIES:
            declared |= family.declared(aggregates, setting, schema.rows)
    asked = [a for a in aggregates if a not in declared]
    if asked:
        found = strategies(asked, setting, nano, wanted, levels)
    else:
        found, nano = [Strategy(DECLARED, (), declared)], 0
    if declared:
        found = [replace(one, readings={**one.readings, **declared}) for one in found]
    elif interval is None and setting.all_public:
        epsilon = found[0].epsilon
        for family in FAMILIES:
            found += family.by_name(aggregates, setting, epsilon)
    candidates = candidates_for(found, question, schema, wanted)
    known = mechanism is None or isinstance(mechanism, str)
    named = [i for i, c in enumerate(candidates) if known and mechanism in (None, c.mechanism)]
    if not named:
        raise _unknown(mechanism, candidates)
    best = min(named, key=lambda i: (not found[i].preferred, candidates[i].score))
    return build_plan(
        question,
        schema,
        found[best],
        nano,
        wanted,
        sql,
        candidates=candidates,
        chosen=candidates[best],
        interval=None if interval is None else fraction_of_one(interval, "interval"),
    )


def build_plan(
    question: Question,
    schema: Schema,
    strategy: Strategy,
    nano: int,
    wanted: Criterion,
    sql: str,
    *,
    candidates: Sequence[Candidate] = (),
    chosen: Candidate | None = None,
    interval: Fraction | None = None,
    measures: Iterable[Measure] | None = None,
) -> Plan:
    """The plan of a question that is answered in one way.

    candidates: all ways that are shown; the chosen one alone if none are given.
    chosen: what is shown of that way; None for what its readings say.
    measures: what is measured, if it is less than all that its draws need.
    """
    if chosen is None:
        (chosen,) = candidates_for([strategy], question, schema, wanted)
    if measures is None:
        measures = [measure for draw in strategy.draws for measure in draw.measures]
    needed = tuple(dict.fromkeys(measures))
    people = people_of(question, schema)
    for measure in needed:
        if measure.kind == "moment":  # refused now, from the bounds, and not after the debit
            check_product(measure.factors, schema.columns)
    return Plan(
        question=question,
        sql=sql,
        neighbours=schema.neighbours,
        unit=schema.unit,
        criterion=wanted,
        nano=nano,
        candidates=tuple(candidates) or (chosen,),
        chosen=chosen,
        strategy=strategy,
        request=Request(needed, question.where, question.keys, people),
        readings=tuple([fold(o.expression, strategy.readings) for o in _outputs(question)]),
        needs_row_count=any(reading.needs_row_count for reading in strategy.readings.values()),
        interval=interval,
        limits=limits_of(strategy, schema, people, question.cells),
    )


def candidates_for(
    found: Sequence[Strategy], question: Question, schema: Schema, wanted: Criterion
) -> list[Candidate]:
    """What a plan says of each way, before a row is read."""
    rows = schema.rows if not question.keys and question.where is None else None
    outputs = _outputs(question)
    candidates = []
    for one in found:
        price, parts, score = one.epsilon, one.parts, score_of(one, wanted)
        expected = [
            fold(output.expression, one.readings).expect(output.alias, parts, rows)
            for output in outputs
        ]
        candidates.append(Candidate(one.name, price, tuple(expected), score))
    return candidates


def _outputs(question: Question) -> list[Output]:
    return [output for output in question.outputs if isinstance(output, Output)]


def _unknown(mechanism: object, candidates: Sequence[Candidate]) -> Refused:
    names = list(dict.fromkeys(c.mechanism for c in candidates))
    for family in FAMILIES:
        refusal = family.refuse_name(str(mechanism), names)
        if refusal is not None:
            return refusal
    return refuse(
        "query.mechanism-is-which-does-not-answer-this",
        mechanism=str(mechanism)[:60],
        names=", ".join(f'"{name}"' for name in names),
        nearest=nearest(str(mechanism)[:60], names),
    )


def check_limited(schema: Schema) -> None:
    """Refuses questions about people who may have any number of rows."""
    if schema.unit != RECORD and schema.rows_per_unit is None:
        raise refuse("query.unit-of-is-who-may-have-any-number", name=schema.name, unit=schema.unit)


def people_of(question: Question, schema: Schema) -> People | None:
    """What is kept of each person for a question; None if every record is a unit.

    Who is counted once in each group loses nothing by a limit of rows. Where nothing limits groups,
    or people are all that is counted, nobody is cut if that costs at most twice the noise; else as
    many groups are kept of each as there may be rows.
    """
    if schema.unit == RECORD:
        return None
    rows, groups = schema.rows_per_unit or 1, schema.groups_per_unit
    counts_people = [aggregate.kind == "units" for aggregate in question.aggregates()]
    if any(counts_people) and (groups is None or all(counts_people)):
        limit = groups or rows
        groups = None if question.cells <= _WORTH * limit else limit
    return People(schema.unit, rows, groups)


def setting_of(question: Question, schema: Schema) -> Setting:
    aggregates, cells = question.aggregates(), question.cells
    asked = {name for a in aggregates for name in (a.column, a.other)}
    columns = list(schema.columns.values())
    ranges, spans = {}, {}
    for column in [column for column in columns if column.name in asked]:
        if isinstance(column, Number):
            low, high = int(column.low / column.grid), int(column.high / column.grid)
            grid, ends = column.grid, column.bounds_per_unit
            sums = None if ends is None else (int(ends[0] / grid), int(ends[1] / grid))
            ranges[column.name] = Range(low, high, grid, column.missing is not None, sums)
            spans[column.name] = Span(low, high, column.grid)
        elif isinstance(column, Bounded):  # days or seconds from the lowest
            spans[column.name] = Span(0, column.steps, Fraction(1))
    people = people_of(question, schema)
    return Setting(
        neighbours=schema.neighbours,
        grouped=bool(question.keys),
        filtered=question.where is not None,
        ranges=ranges,
        never_missing=frozenset([c.name for c in columns if c.missing is not None]),
        spans=spans,
        categories={c.name: len(c.categories) for c in columns if isinstance(c, Category)},
        rows_per_unit=1 if people is None else people.rows,
        groups_per_unit=None if people is None else people.groups,
        persons=people is not None,
        cells=cells,
    )
