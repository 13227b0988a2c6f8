"""From the text of a question and a prior to a plan, without rows.

The text decides whether a question is about one person or a statistic, never whoever asks.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction

from ...errors import refuse
from ...ledger.amount import atto as in_atto
from ...ledger.amount import in_delta, in_epsilon
from ...number import Number
from ...schema import Schema
from ...version import VERSION
from ..plan.make import affordable
from ..read.parse import parse
from ..write.question import render
from .answer import BeliefPlan
from .compare import plan_statistic
from .person import Personal, names_once, read_personal
from .protocol import allow_prior
from .refine import plan_personal


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


def believe_for(
    sql: str,
    schema: Schema,
    prior: object,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    minimise: object = "variance",
    accuracy: object = None,
    individual: bool = False,
    interval: Number | None = None,
    mechanism: str | None = None,
) -> BeliefPlan:
    """The plan for what a caller of `ask` or `explain` stated, from the schema alone."""
    if prior is None:
        raise refuse("query.delta-is-given-without-prior")
    if individual or any(given is not None for given in (accuracy, interval, mechanism)):
        raise refuse("query.prior-is-given-together-with-individual-accuracy")
    refinement_only = allow_prior(schema)
    if epsilon is None:
        raise refuse("query.epsilon-is-not-given")
    return plan_belief(
        sql,
        schema,
        prior,
        nano=affordable(epsilon),
        atto=0 if delta is None else in_atto(delta),
        minimise=minimise,
        refinement_only=refinement_only,
    )


def person_of(plan: BeliefPlan, schema: Schema) -> str | None:
    """The person a question is about, as the ledger knows people; None for a statistic.

    None as well where one person may have several names: such questions add up like statistics,
    for two of them may be about the same person.
    """
    question = plan.question
    if not isinstance(question, Personal) or not names_once(schema):
        return None
    return hashlib.sha256(f"{question.unit.lower()}\n{question.name}".encode()).hexdigest()


def identity_of(plan: BeliefPlan, schema: Schema) -> str:
    """What decides the law of a refined answer: question, price, prior, schema, data version, and
    the version of Tenue."""
    parts = (
        plan.question.canonical,
        str(plan.nano),
        str(plan.delta),
        plan.stated.to_json(),
        VERSION,
        schema.digest,
        schema.version or "",
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
