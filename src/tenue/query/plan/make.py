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
from ...frozen import dataclass
from ...noise.criterion import Criterion, criterion
from ...number import Number as NumberGiven
from ...number import fraction_of_one
from ...schema import Bounded, Category, Number, Schema
from ..computed import asked_of, seen_by
from ..family.reading import Reading, fold
from ..family.registry import FAMILIES
from ..family.strategy import Range, Setting, Span, Strategy, score_of, sizes
from ..question import Aggregate, Output, Question
from .cut import cut_count
from .limit import Limit, limits_of, person_limits
from .people import check_limited, spares, ways_to_keep
from .plan import DECLARED, Candidate, Plan
from .ways import levels_for, strategies


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
    measure_cut: NumberGiven | None = None,
) -> Plan:
    """The plan for a question at a price, for the caller's criterion.

    mechanism: the name of the candidate to choose; None for the one with the least error.
    interval: the level of value intervals that part of the price shall buy.
    measure_cut: the share of the price that buys how many persons are above the limits.
    beside: others are answered for the same price, about rows that cannot be the same: the
        question is one cell of several.
    """
    if question.persons is None:
        check_limited(schema)
    share = None if measure_cut is None else fraction_of_one(measure_cut, "measure_cut")
    answered = nano if share is None else nano - int(nano * share)
    asking = _Asking(question, schema, answered, criterion(minimise), sql, beside, interval)
    plan = _least_cut(asking, ways_to_keep(question, schema), mechanism)
    if share is None:
        return plan
    cut = cut_count(plan.limits, plan.request, schema.neighbours, share, nano)
    return replace(plan, nano=nano, cut=cut)


def _least_cut(asking: _Asking, kept: Sequence[People | None], mechanism: str | None) -> Plan:
    """The plan that cuts no groups, where that is worth its error and cuts nothing else instead."""
    if len(kept) == 1:
        return asking.plan(kept[0], mechanism)
    everybody, few = kept
    cut = asking.plan(few)
    whole = asking.plan(everybody, within=cut.limits)
    errors = (sizes(plan.strategy, asking.wanted) for plan in (whole, cut))
    setting = setting_of(asking.question, asking.schema, everybody)
    worth = set(whole.limits) < set(cut.limits) and spares(*errors, setting=setting)
    if mechanism is None:
        return whole if worth else cut
    try:
        return asking.plan(everybody if worth else few, mechanism)
    except Refused:  # only one of the ways to keep people may offer it
        return asking.plan(few if worth else everybody, mechanism)


@dataclass(frozen=True)
class _Asking:
    """A question at a price, whatever is kept of each person."""

    question: Question
    schema: Schema
    nano: int
    wanted: Criterion
    sql: str
    beside: bool
    interval: NumberGiven | None

    def plan(
        self,
        people: People | None,
        mechanism: str | None = None,
        within: tuple[Limit, ...] | None = None,
    ) -> Plan:
        """The best way to answer, or the one of that name.

        within: the only limits that may cut something, if any way has no others.
        """
        question, schema, interval = self.question, self.schema, self.interval
        nano, wanted = self.nano, self.wanted
        setting = setting_of(question, schema, people)
        if self.beside:
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
        if within is not None:
            cells = question.cells
            seen = seen_by(question, schema)
            limits = {i: set(limits_of(found[i], seen, people, cells)) for i in named}
            named = [i for i in named if limits[i] <= set(within)] or named
        best = min(named, key=lambda i: (not found[i].preferred, candidates[i].score))
        return build_plan(
            question,
            schema,
            found[best],
            nano,
            wanted,
            self.sql,
            people=people,
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
    people: People | None,
    candidates: Sequence[Candidate] = (),
    chosen: Candidate | None = None,
    interval: Fraction | None = None,
    measures: Iterable[Measure] | None = None,
) -> Plan:
    """The plan of a question that is answered in one way.

    people: what is kept of each person; the strategy must have been made for just that.
    candidates: all ways that are shown; the chosen one alone if none are given.
    chosen: what is shown of that way; None for what its readings say.
    measures: what is measured, if it is less than all that its draws need.
    """
    if chosen is None:
        (chosen,) = candidates_for([strategy], question, schema, wanted)
    if measures is None:
        measures = [measure for draw in strategy.draws for measure in draw.measures]
    needed = tuple(dict.fromkeys(measures))
    for measure in needed:
        if measure.kind == "moment":  # refused now, from the bounds, and not after the debit
            check_product(measure.factors, seen_by(question, schema).columns)
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
        request=Request(
            *(needed, question.where, question.keys, people, asked_of(question)),
            units=None if question.persons is None else question.persons.units,
        ),
        readings=tuple([fold(o.expression, strategy.readings) for o in _outputs(question)]),
        needs_row_count=any(reading.needs_row_count for reading in strategy.readings.values()),
        interval=interval,
        limits=person_limits(question.persons, schema)
        or limits_of(strategy, seen_by(question, schema), people, question.cells),
    )


def candidates_for(
    found: Sequence[Strategy], question: Question, schema: Schema, wanted: Criterion
) -> list[Candidate]:
    """What a plan says of each way, before a row is read."""
    whole = not question.keys and question.where is None and question.persons is None
    rows = schema.rows if whole else None
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
        "query.mechanism-not-applicable",
        mechanism=str(mechanism)[:60],
        names=", ".join(f'"{name}"' for name in names),
        nearest=nearest(str(mechanism)[:60], names),
    )


def setting_of(question: Question, schema: Schema, people: People | None) -> Setting:
    """What decides the price, if so much is kept of each person."""
    schema, aggregates, cells = seen_by(question, schema), question.aggregates(), question.cells
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
        persons=people is not None or question.persons is not None,
        cells=cells,
    )
