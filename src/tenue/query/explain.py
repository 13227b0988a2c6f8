"""What may be done with a question, from its text, its terms and the schema alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import refuse
from ..schema import Schema
from .belief.protocol import allow_without_protocol, plan_fixed_noise
from .coarse import planned_coarsely
from .family.clip import CLIPPED
from .plan.accuracy import epsilon_for
from .plan.make import make_plan
from .plan.plan import Plan
from .question import Aggregate, Applied, Arithmetic, Expression, Output, Question
from .read.parse import parse
from .terms import Terms, price_for
from .write.question import render

if TYPE_CHECKING:
    from .belief.answer import BeliefPlan


def explain(sql: str, schema: Schema, terms: Terms) -> Plan | BeliefPlan:
    """Every admissible mechanism with its expected error and price; reads no rows."""
    if not terms.believes:
        return plan_for(sql, schema, terms)
    from .belief.plan import believe_for

    return believe_for(sql, schema, terms)


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


def plan_for(sql: str, schema: Schema, terms: Terms) -> Plan:
    """parse → plan → choose: all that happens before the ledger where nothing is believed."""
    question = parse(sql, schema)
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
