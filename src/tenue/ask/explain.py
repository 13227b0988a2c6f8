"""From the text of a question, its terms and the schema to a plan: no row is read.

The noise of products of fine columns cannot be drawn exactly. Rounding the columns of a correlation
hardly changes it, so they are rounded half up, to a power of two of their steps. The text of the
question then says so, and the true answer is about the rounded columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from ..engine.computed_column import Steps
from ..errors import NotPromised, Refused, refuse
from ..privacy.loss import EpsilonDelta
from ..schema import Number, Schema
from .aggregates.clip import CLIPPED, UNASKED, UNASKED_NAME
from .belief.protocol import allow_without_protocol, plan_fixed_noise
from .paid_request import Terms, price_for
from .plan.plan import Plan
from .plan.planner import epsilon_for, make_plan
from .question import Aggregate, ComputedColumn, GroupingSets, Question, seen_by, used_columns
from .sql.exact_expr import Amount, added, constant, name_of, rounded_down, scaled
from .sql.parse import parse, parse_select
from .sql.write import render

if TYPE_CHECKING:
    from ..arguments import Number as NumberGiven
    from .belief.answer import BeliefPlan
    from .workload.explain import WorkloadPlan
    from .workload.workloads import Declared


_COARSEST = 40
_KIND = "corr"


def explain(sql: str, schema: Schema, terms: Terms) -> Plan | BeliefPlan | WorkloadPlan:
    """Every admissible mechanism with its expected error and price; reads no rows."""
    if not terms.believes:
        plan = plan_select(sql, schema, terms)
        return _with_clip(plan, sql, schema, terms) if isinstance(plan, Plan) else plan
    from .belief.plan import believe_for

    return believe_for(sql, schema, terms)


def _with_clip(plan: Plan, sql: str, schema: Schema, terms: Terms) -> Plan:
    """The plan that also names what clip="auto" would do, where that can be asked for."""
    sums = any(aggregate.kind in CLIPPED for aggregate in plan.question.aggregates())
    if terms.clip is not None or schema.protocol is not None or plan.free or not sums:
        return plan
    asked = Terms(epsilon=plan.epsilon, minimise=terms.minimise, clip="auto")
    try:
        offered = plan_for(sql, schema, asked).chosen
    except Refused:  # narrow bounds, or too little to be shared
        return plan
    named = replace(offered, mechanism=UNASKED_NAME, only_if_asked=UNASKED)
    return replace(plan, candidates=(*plan.candidates, named))


def plan_select(sql: str, schema: Schema, terms: Terms) -> Plan | WorkloadPlan:
    """parse → plan → choose: everything before the ledger, for a question without a prior."""
    asked = parse_select(sql, schema)
    if isinstance(asked, GroupingSets):
        return _plan_sets(asked, schema, terms)
    return _plan(asked, schema, terms)


def plan_for(sql: str, schema: Schema, terms: Terms) -> Plan:
    """The same, for a question that asks for one table."""
    return _plan(parse(sql, schema), schema, terms)


def _plan_sets(asked: GroupingSets, schema: Schema, terms: Terms) -> WorkloadPlan:
    from .workload.explain import WorkloadPlan, least_price_of_many
    from .workload.plan import plan_workload

    allow_without_protocol(schema, "GROUPING SETS")
    for name in ("interval", "mechanism", "measure_cut", "clip"):
        if getattr(terms, name) is not None:
            raise refuse("ask.grouping-sets-option", name=name)
    questions, sql = asked.parts(), render(asked, schema)
    texts = [render(question, schema) for question in questions]

    def planned(price: EpsilonDelta) -> WorkloadPlan:
        workload = plan_workload(questions, texts, schema, price, terms.minimise, consistent=True)
        return WorkloadPlan(workload, schema, asked, sql)

    least = partial(least_price_of_many, planned=planned)
    return planned(price_for(terms.epsilon, terms.accuracy, least))


def _plan(question: Question, schema: Schema, terms: Terms) -> Plan:
    text = render(question, schema)
    if terms.clip is not None:
        allow_without_protocol(schema, "`clip`")
        question = clipped(question)
    if schema.protocol is not None:
        if (terms.interval, terms.mechanism, terms.measure_cut) != (None, None, None):
            allow_without_protocol(schema, "`interval`, `mechanism` or `measure_cut`")
        return plan_fixed_noise(question, text, schema, terms)
    price = price_for(
        terms.epsilon,
        terms.accuracy,
        lambda wanted: epsilon_for(
            *(wanted, question, schema, terms.minimise),
            mechanism=terms.mechanism,
            measure_cut=terms.measure_cut,
        ),
    )

    def make(asked: Question, text: str) -> Plan:
        return make_plan(
            *(asked, schema, price, terms.minimise, text),
            interval=terms.interval,
            mechanism=terms.mechanism,
            measure_cut=terms.measure_cut,
        )

    try:
        return make(question, text)
    except NotPromised:
        if all(aggregate.kind != _KIND for aggregate in question.aggregates()):
            raise
        for power in range(1, _COARSEST):
            with suppress(NotPromised):
                coarse = coarser(question, schema, 2**power)
                return make(coarse, render(coarse, schema))
        raise


def clipped(question: Question) -> Question:
    """The same question, whose sums and means are clipped above at a value chosen in private."""
    if not any(aggregate.kind in CLIPPED for aggregate in question.aggregates()):
        raise refuse("ask.clip-without-sum")
    return question.with_aggregates(lambda a: replace(a, kind=CLIPPED.get(a.kind, a.kind)))


def coarser(question: Question, schema: Schema, steps: int) -> Question:
    """The question, with the columns of correlations rounded to multiples of so many steps."""
    seen = seen_by(question, schema)
    known = {one.name: one for one in question.computed}

    def rounded(name: str | None) -> str | None:
        column = seen.columns.get(name or "")
        if not isinstance(column, Number) or column.steps < 2 * steps:
            return name
        own = known.get(column.name)
        amount = Amount(column.grid, Steps(column.name) if own is None else own.formula)
        width = column.grid * steps
        down = rounded_down(added([scaled(amount, 1 / width), constant(Fraction(1, 2))]))
        coarse = scaled(down, width)
        computed = ComputedColumn(name_of(coarse, seen), coarse.formula, coarse.grid)
        known[computed.name] = computed
        return computed.name

    def change(aggregate: Aggregate) -> Aggregate:
        if aggregate.kind != _KIND:
            return aggregate
        first, second = sorted(str(rounded(name)) for name in (aggregate.column, aggregate.other))
        return replace(aggregate, column=first, other=second)

    changed = replace(question.with_aggregates(change), computed=())
    return replace(changed, computed=used_columns(changed, known))


def explain_many(
    questions: Sequence[str] | Declared,
    schema: Schema,
    epsilon: NumberGiven | None,
    minimise: object,
    accuracy: object,
) -> WorkloadPlan:
    """parse → plan → choose, for several questions at one price; reads no rows."""
    from .workload.explain import WorkloadPlan, least_price_of_many
    from .workload.plan import MOST_QUESTIONS, plan_line, plan_workload
    from .workload.workloads import Line, Tables

    given = questions.texts(schema) if isinstance(questions, Line | Tables) else questions
    if not isinstance(given, list | tuple) or not all(isinstance(q, str) for q in given):
        raise refuse("ask.questions-not-a-list")
    if not 1 <= len(given) <= MOST_QUESTIONS:
        raise refuse("ask.too-many-questions", many=len(given), most_questions=MOST_QUESTIONS)
    parsed = [parse(sql, schema) for sql in given]
    if isinstance(questions, Line | Tables):
        questions.check(parsed)
    texts = [render(question, schema) for question in parsed]

    def planned(price: EpsilonDelta) -> WorkloadPlan:
        if isinstance(questions, Line):
            workload = plan_line(questions, parsed[0], texts[0], schema, price)
        else:
            workload = plan_workload(parsed, texts, schema, price, minimise)
        return WorkloadPlan(workload, schema)

    least = partial(least_price_of_many, planned=planned)
    return planned(price_for(epsilon, accuracy, least))
