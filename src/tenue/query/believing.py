"""From the text of a question and a prior to a plan, without rows.

The text decides whether a question is about one person or a statistic, never whoever asks.
"""

from __future__ import annotations

from fractions import Fraction

from ..ledger.amount import in_delta, in_epsilon
from ..schema import Schema
from .belief import BeliefPlan
from .parse import parse
from .personal import read_personal
from .refining import plan_personal
from .render import render
from .weighing import plan_statistic

__all__ = ["plan_belief"]


def plan_belief(
    sql: str,
    schema: Schema,
    prior: object,
    *,
    nano: int,
    atto: int = 0,
    minimise: object = "variance",
    refinement_only: bool = False,
) -> BeliefPlan:
    """The plan of a question about which something is believed, at a price in whole coins."""
    epsilon: Fraction = in_epsilon(nano)
    delta: Fraction = in_delta(atto)
    about_one = read_personal(sql, schema)
    if about_one is not None:
        return plan_personal(about_one, schema, prior, nano, epsilon, delta)
    question = parse(sql, schema)
    text = render(question, schema)
    return plan_statistic(
        question,
        text,
        schema,
        prior,
        nano,
        epsilon,
        delta,
        minimise,
        refinement_only=refinement_only,
    )
