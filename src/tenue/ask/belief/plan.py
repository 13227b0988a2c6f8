"""From the text of a question and a prior to a plan, without rows.

The text decides whether a question is about one person or a statistic, never the analyst.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

from ...errors import refuse
from ...privacy import Neighbours, checked_neighbours
from ...privacy.loss import NOTHING, EpsilonDelta
from ...schema import Schema
from ...version import LAYOUT
from ..paid_request import Inquiry, Terms, affordable, identity_of, inquire
from ..sql.parse import parse
from ..sql.write import render
from .answer import BeliefPlan, Believed
from .check_prior import Personal, names_once, read_personal
from .compare import plan_statistic
from .protocol import allow_prior
from .refine import answer_refined, certify_refined, plan_personal, stored_sample


def plan_belief(
    sql: str, schema: Schema, prior: object, price: EpsilonDelta, *, minimise: object = "variance"
) -> BeliefPlan:
    """The plan of a question with a prior, at a price."""
    about_one = read_personal(sql, schema)
    if about_one is not None:
        return plan_personal(about_one, schema, prior, price)
    question = parse(sql, schema)
    return plan_statistic(question, render(question, schema), schema, prior, price, minimise)


def believe_for(sql: str, schema: Schema, terms: Terms) -> BeliefPlan:
    """The plan for the terms of `ask` or `explain`, from the schema alone."""
    if terms.prior is None:
        raise refuse("ask.delta-without-prior")
    others = (terms.accuracy, terms.interval, terms.mechanism, terms.measure_cut)
    if terms.individual or any(given is not None for given in others):
        raise refuse("ask.prior-with-other-terms")
    allow_prior(schema)
    if terms.epsilon is None:
        raise refuse("ask.epsilon-for-prior-missing")
    price = affordable(terms.epsilon, terms.delta)
    return plan_belief(sql, schema, terms.prior, price, minimise=terms.minimise)


def inquire_believing(plan: BeliefPlan, schema: Schema, seal: str = "") -> Inquiry[Believed]:
    """A sample of the prior, moved towards the truth, or a noisy answer if that is better."""
    if plan.chosen.noise is not None:
        # stored without the prior: the same question with another prior is answered for nothing
        noise = inquire(plan.chosen.noise, schema, seal)

        def read_noise(stored: bytes, replayed: bool) -> Believed:
            noisy = noise.read(stored, replayed)
            return Believed(plan, noisy.certificate, noisy.price, replayed=replayed, noisy=noisy)

        return replace(noise, read=read_noise)  # type: ignore[arg-type, return-value]
    kept = checked_neighbours(schema.neighbours)
    # a question about one person is proved under add-or-remove; the ledger knows its price
    proved: Neighbours = kept if plan.kind == "statistical" else "add-or-remove"

    def read(stored: bytes, replayed: bool) -> Believed:
        paid = NOTHING if replayed else plan.price.under(proved, kept)
        return Believed(
            plan=plan,
            certificate=certify_refined(plan, schema, seal),
            price=paid.epsilon,
            delta=paid.delta,
            replayed=replayed,
            sample=stored_sample(stored),
        )

    return Inquiry(
        price=plan.price,
        identity=belief_identity(plan, schema),
        asked=plan.for_the_ledger,
        draw=lambda engine: answer_refined(plan, engine, schema),
        read=read,
        proved=proved,
        person=person_of(plan, schema),
    )


def person_of(plan: BeliefPlan, schema: Schema) -> str | None:
    """The digest by which the ledger knows the person of a question; None for a statistic.

    None as well where one person may have several names: such questions add up like statistics,
    for two of them may be about the same person.
    """
    question = plan.question
    if not isinstance(question, Personal) or not names_once(schema):
        return None
    return hashlib.sha256(f"{question.unit.lower()}\n{question.name}".encode()).hexdigest()


def belief_identity(plan: BeliefPlan, schema: Schema) -> str:
    """A digest of all that decides the law of a refined answer, and how it is read."""
    return identity_of(
        plan.question.canonical,
        str(plan.price.units),
        str(plan.delta),
        plan.stated.to_json(),
        str(LAYOUT),
        schema.digest,
        schema.version or "",
    )
