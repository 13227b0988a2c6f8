"""What may be done with a question, from its text, its terms and the schema alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import Refused, refuse
from ..schema import Schema
from .belief.protocol import allow_without_protocol, plan_fixed_noise
from .coarse import planned_coarsely
from .family.clip import CLIPPED, UNASKED, UNASKED_NAME
from .plan.accuracy import epsilon_for
from .plan.make import make_plan
from .plan.plan import Plan
from .question import (
    Aggregate,
    Applied,
    Arithmetic,
    Expression,
    GroupingSets,
    Output,
    Question,
)
from .read.parse import parse, parse_select
from .terms import Terms, price_for
from .write.question import render

if TYPE_CHECKING:
    from ..number import Number
    from .belief.answer import BeliefPlan
    from .workload.declare import Declared
    from .workload.explain import WorkloadPlan


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


def clipped(question: Question) -> Question:
    """The same question, in which sums and means are cut above at a value chosen in private."""

    def cut(expression: Expression) -> Expression:
        if isinstance(expression, Aggregate):
            return replace(expression, kind=CLIPPED.get(expression.kind, expression.kind))
        if isinstance(expression, Arithmetic):
            return replace(expression, left=cut(expression.left), right=cut(expression.right))
        return (
            replace(expression, of=cut(expression.of))
            if isinstance(expression, Applied)
            else expression
        )

    if not any(aggregate.kind in CLIPPED for aggregate in question.aggregates()):
        raise refuse("query.clip-without-sum")
    outputs = tuple(
        replace(output, expression=cut(output.expression)) if isinstance(output, Output) else output
        for output in question.outputs
    )
    return replace(question, outputs=outputs)


def plan_select(sql: str, schema: Schema, terms: Terms) -> Plan | WorkloadPlan:
    """parse → plan → choose: all that happens before the ledger where nothing is believed."""
    asked = parse_select(sql, schema)
    if isinstance(asked, GroupingSets):
        return _plan_sets(asked, schema, terms)
    return _plan(asked, schema, terms)


def plan_for(sql: str, schema: Schema, terms: Terms) -> Plan:
    """The same, of a question that asks for one table."""
    return _plan(parse(sql, schema), schema, terms)


def _plan_sets(asked: GroupingSets, schema: Schema, terms: Terms) -> WorkloadPlan:
    from .workload.explain import WorkloadPlan, least_price_of_many
    from .workload.plan import plan_workload

    allow_without_protocol(schema, "GROUPING SETS")
    for name in ("interval", "mechanism", "measure_cut", "clip"):
        if getattr(terms, name) is not None:
            raise refuse("query.grouping-sets-option", name=name)
    questions, sql = asked.parts(), render(asked, schema)
    texts = [render(question, schema) for question in questions]

    def planned(price: int) -> WorkloadPlan:
        found = plan_workload(questions, texts, schema, price, terms.minimise, consistent=True)
        return WorkloadPlan(found, schema, asked, sql)

    wanted = terms.accuracy
    return planned(
        price_for(terms.epsilon, wanted, lambda given: least_price_of_many(given, planned))
    )


def _plan(question: Question, schema: Schema, terms: Terms) -> Plan:
    text = render(question, schema)
    if terms.clip is not None:
        allow_without_protocol(schema, "`clip`")
        question = clipped(question)
    if schema.protocol is not None:
        bought = (terms.interval, terms.mechanism, terms.measure_cut)
        if any(given is not None for given in bought):
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

    def make(asked: Question) -> Plan:
        return make_plan(
            asked,
            schema,
            price,
            terms.minimise,
            text if asked is question else render(asked, schema),
            interval=terms.interval,
            mechanism=terms.mechanism,
            measure_cut=terms.measure_cut,
        )

    return planned_coarsely(question, schema, make)


def explain_many(
    questions: Sequence[str] | Declared,
    schema: Schema,
    epsilon: Number | None,
    minimise: object,
    accuracy: object,
) -> WorkloadPlan:
    """parse → plan → choose, for several questions at one price; reads no rows."""
    from .workload.declare import Line, Tables
    from .workload.explain import WorkloadPlan, least_price_of_many
    from .workload.plan import MOST_QUESTIONS, plan_line, plan_workload

    given = questions.texts(schema) if isinstance(questions, Line | Tables) else questions
    if not isinstance(given, list | tuple) or not all(isinstance(q, str) for q in given):
        raise refuse("query.questions-not-a-list")
    if not 1 <= len(given) <= MOST_QUESTIONS:
        raise refuse("query.too-many-questions", many=len(given), most_questions=MOST_QUESTIONS)
    parsed = [parse(sql, schema) for sql in given]
    if isinstance(questions, Line | Tables):
        questions.check(parsed)
    texts = [render(question, schema) for question in parsed]

    def planned(price: int) -> WorkloadPlan:
        if isinstance(questions, Line):
            workload = plan_line(questions, parsed[0], texts[0], schema, price)
        else:
            workload = plan_workload(parsed, texts, schema, price, minimise)
        return WorkloadPlan(workload, schema)

    return planned(
        price_for(epsilon, accuracy, lambda wanted: least_price_of_many(wanted, planned))
    )
