"""From the text of a question and a prior to a plan, without rows.

The text decides whether a question is about one person or a statistic, never the analyst. For a
statistic, noise, noise with Bayes' rule, and refinement are compared under the prior.

Refinement of a statistic is private whatever its sensitivity: the masses of any two truths stay
within e^ε of each other. That holds for a mean as well, although it is a quotient: the exact
quotient is the truth, and a mean of no rows leaves the prior unchanged, whose masses lie between
those of any two truths.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ...errors import refuse
from ...estimate import count, guess_error, refined_error, require_free, total
from ...estimate import expected_error as bayes_error
from ...mechanism import expected_error, refine
from ...mechanism.additive_noise import Term
from ...prior.counts import Counts
from ...prior.joint import Joint
from ...prior.normalise import MOST_POINTS
from ...privacy import Neighbours, Promise, checked_neighbours
from ...privacy.loss import NOTHING, EpsilonDelta
from ...schema import Number, Schema
from ...schema.table import FIXED_NOISE
from ..aggregates.reading import Noisy
from ..paid_request import Inquiry, Terms, affordable, identity_under, inquire
from ..plan.plan import Plan, shown
from ..plan.planner import build_plan, make_plan, setting_of, strategies
from ..plan.truncation import Limit, kept_rows, row_limit
from ..question import Aggregate, Output, Question
from ..sql.parse import parse
from ..sql.write import render
from .answer import REFINEMENT, BeliefCandidate, BeliefPlan, Believed
from .check_prior import Personal, fit_statistics, names_once, read_personal
from .refine import answer_refined, certify_refined, plan_personal, stored_sample

if TYPE_CHECKING:
    from ...estimate.posterior import Posterior

_KINDS = ("count", "units", "sum", "avg")
_TIE = 1e-9
_LEAST_EPSILON = Fraction(1, 10**9)
_FEW = 1024


def believe_for(sql: str, schema: Schema, terms: Terms) -> BeliefPlan:
    """The plan for the terms of `ask` or `explain`, from the schema alone."""
    if terms.prior is None:
        raise refuse("ask.delta-without-prior")
    others = (terms.accuracy, terms.interval, terms.mechanism, terms.measure_cut)
    if terms.individual or any(given is not None for given in others):
        raise refuse("ask.prior-with-other-terms")
    protocol = schema.protocol
    if protocol is not None and protocol.kind == FIXED_NOISE:
        raise refuse("ask.fixed-noise-with-prior", name=schema.name, protocol=protocol)
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
    price = str(plan.price.units), str(plan.delta)
    return identity_under(schema, plan.question.canonical, *price, plan.stated.to_json())


# -- Noise, noise with Bayes' rule, or refinement of a statistic -----------------------------------


def plan_belief(
    sql: str, schema: Schema, prior: object, price: EpsilonDelta, *, minimise: object = "variance"
) -> BeliefPlan:
    """The plan of a question with a prior, at a price.

    Of a statistic: all candidates, and the one with the least error under the prior; under a
    protocol, which allows no noise, refinement.
    """
    about_one = read_personal(sql, schema)
    if about_one is not None:
        return plan_personal(about_one, schema, prior, price)
    question = parse(sql, schema)
    sql = render(question, schema)
    asked = _only_aggregates(question)
    names = tuple(o.alias for o in question.outputs)
    belief = fit_statistics(prior, names, [_grid(a, schema) for a in asked])
    noises = _noise_plans(question, sql, schema, price, minimise)
    without = _without(belief)
    refined = _refinements(belief, price, without)
    if schema.protocol is None:
        noisy = [one for plan in noises for one in _noise_candidates(plan, belief)]
    elif refined:
        noisy = []
    else:
        raise refuse("ask.prior-too-many-points", most_points=MOST_POINTS)
    chosen = _best(noisy, refined, belief)
    return BeliefPlan(
        kind="statistical",
        question=question,
        sql=sql,
        names=names,
        neighbours=schema.neighbours,
        unit=schema.unit,
        stated=prior,
        prior=belief,
        distance=None,
        price=price,
        candidates=tuple(sorted([*noisy, *refined], key=_error)),
        chosen=chosen,
        reason=_reason(chosen, noisy, refined, belief, schema),
        without=without,
        limits=_limits(chosen, asked, schema),
    )


def _limits(chosen: BeliefCandidate, asked: list[Aggregate], schema: Schema) -> tuple[Limit, ...]:
    """Refinement reads so many rows of each person; counts of persons have no limit."""
    if chosen.noise is not None:
        return chosen.noise.limits
    people = kept_rows(schema)
    reads_rows = any(aggregate.kind != "units" for aggregate in asked)
    return () if people is None or not reads_rows else (row_limit(people),)


def _only_aggregates(question: Question) -> list[Aggregate]:
    asked = [o.expression for o in question.outputs if isinstance(o, Output)]
    counted = [a for a in asked if isinstance(a, Aggregate) and a.kind in _KINDS]
    after = question.keys or question.having or question.order or question.limit is not None
    computes = question.computed or question.persons is not None
    if after or computes or not len(set(counted)) == len(counted) == len(question.outputs):
        raise refuse("ask.prior-for-other-question")
    return counted


def _grid(aggregate: Aggregate, schema: Schema) -> Fraction | None:
    if aggregate.kind == "avg":
        return None
    if aggregate.kind != "sum":
        return Fraction(1)
    column = schema.column(aggregate.column or "")
    assert isinstance(column, Number)  # noqa: S101 - only numbers are added up
    return column.grid


# -- the candidates --------------------------------------------------------------------------------


def _noise_plans(
    question: Question, sql: str, schema: Schema, price: EpsilonDelta, minimise: object
) -> list[Plan]:
    base = make_plan(question, schema, price, minimise, sql)
    if not base.price:
        raise refuse("ask.prior-about-public-count")
    wanted, people = base.criterion, base.request.people
    setting = setting_of(question, schema, people)
    return [
        build_plan(
            *(question, schema, strategy, base.price, wanted, sql),
            people=people,
            candidates=base.candidates,
        )
        for strategy in strategies(question.aggregates(), setting, price, wanted)
    ]


def _noise_candidates(plan: Plan, belief: Any) -> list[BeliefCandidate]:
    name = plan.chosen.mechanism
    noise = None if isinstance(belief, Joint) else noise_of(plan)
    if noise is None:
        return [BeliefCandidate(name, _alone(plan, belief), plan)]
    error = bayes_error(noise.law, belief)
    return [
        BeliefCandidate(f"{name} + Bayes", error, plan, bayes=True),
        BeliefCandidate(name, float(noise.law.mean_absolute_error), plan),
    ]


def _alone(plan: Plan, belief: Any) -> float | None:
    """The error of noise alone, in the prior's distance; None where it depends on rows."""
    errors = [expectation.expected_error for expectation in plan.chosen.expectations]
    if not isinstance(belief, Joint):
        return errors[0]
    total = 0.0
    for index, error in enumerate(errors):
        values = [value[index] for value in belief.values]
        widest = float(max(values) - min(values))
        if error is None or not widest:
            return None
        total += error / widest
    return total


def _refinements(belief: Any, price: EpsilonDelta, without: float | None) -> list[BeliefCandidate]:
    """Refinement, unless the prior is of a family with too many points."""
    if isinstance(belief, Counts) and belief.n >= MOST_POINTS:
        return []
    epsilon = price.epsilon
    refine(belief, None, epsilon, kind="statistical", delta=price.delta)
    alone = BeliefCandidate(REFINEMENT, expected_error(belief, epsilon, kind="statistical"))
    if isinstance(belief, Joint):
        return [alone]
    error = refined_error(belief, epsilon, kind="statistical")
    bound = error if without is None else min(error, without)
    return [BeliefCandidate(f"{REFINEMENT} + Bayes", bound, bayes=True), alone]


def _without(belief: Any) -> float | None:
    """The error without asking: of the best guess, or of a draw for several values.

    None where it takes too long to compute.
    """
    if isinstance(belief, Counts) and belief.n >= MOST_POINTS:
        return None
    if not isinstance(belief, Joint):
        return guess_error(belief)
    few = len(belief.values) <= _FEW
    return expected_error(belief, _LEAST_EPSILON, kind="statistical") if few else None


# -- the choice ------------------------------------------------------------------------------------


def _error(candidate: BeliefCandidate) -> float:
    return float("inf") if candidate.expected_error is None else candidate.expected_error


def _best(
    noisy: list[BeliefCandidate], refined: list[BeliefCandidate], belief: Any
) -> BeliefCandidate:
    """Several values must be possible together, so they are refined; one has the least error.

    An error that depends on rows, as for a mean, cannot be compared: then noise is taken, because
    refinement is seldom better where one unit moves little, and never by much.
    """
    if refined and isinstance(belief, Joint):
        return refined[0]
    noisy = sorted([one for one in noisy if one.bayes] or noisy, key=_error)
    if noisy and noisy[0].expected_error is None:
        return noisy[0]
    if not refined or (noisy and _error(noisy[0]) <= _error(refined[0]) * (1 + _TIE)):
        return noisy[0]
    return refined[0]


def _reason(
    chosen: BeliefCandidate,
    noisy: list[BeliefCandidate],
    refined: list[BeliefCandidate],
    belief: Any,
    schema: Schema,
) -> str:
    if schema.protocol is not None:
        return "Refinement, because the data set's protocol allows nothing else."
    if isinstance(belief, Joint):
        return "Refinement, because noise would answer combinations that the prior excludes."
    name = "Noise and Bayes' rule" if chosen.bayes else "Noise"
    if chosen.noise is not None and chosen.expected_error is None:
        return (
            "Noise, although its error depends on the number of rows and is reported with the "
            "answer: one unit moves a mean of many rows little."
        )
    if not refined:
        return f"{name}, because refinement takes at most {MOST_POINTS:,} points of the prior."
    other = min(noisy, key=_error) if chosen.noise is None else refined[0]
    errors = f"{shown(chosen.expected_error)} against {shown(other.expected_error)}"
    if chosen.noise is None:
        return f"Refinement, because one unit may move this statistic far: mean error {errors}."
    return f"{name}, because one unit moves this statistic little: mean error {errors}."


# -- The posterior of an answer that was given without a prior -------------------------------------


@dataclass(frozen=True)
class AnswerNoise:
    """The noise of a plan whose answer is one noisy number.

    law: in units of the answer. counted: whether the number counts rows or units.
    """

    term: Term
    law: Any
    counted: bool


def noise_of(plan: Plan) -> AnswerNoise | None:
    """The noise of a plan that answers one count or sum; None for any other plan."""
    term = plan.readings[0].term if len(plan.readings) == 1 and plan.cells == 1 else None
    if term is None:
        return None
    part, unit = plan.parts[term.part], abs(term.weight)
    counts = part.components[term.component].kind in ("rows", "present", "units")
    return AnswerNoise(term, part.noise.alone(term.component, unit), counts and unit == 1)


def estimate(plan: Plan, cell: Noisy, promise: Promise, prior: Any) -> Posterior:
    """The posterior of the one count or sum of an answer.

    Guarantee
        Bayes' rule with the law of the noise that was drawn. Refused after individual differential
        privacy, and where the answer is not one noisy number: means, ranks, several cells.
    """
    require_free(promise=promise)
    noise = noise_of(plan)
    if noise is None:
        raise refuse("ask.answer-not-noisy-number")
    value = noise.term.weight * cell[noise.term.part][noise.term.component]
    return (count if noise.counted else total)(value, noise.law, prior)
