"""Noise, noise with Bayes' rule, or refinement: weighed under the analyst's own prior.

Refinement of a statistic is private whatever its sensitivity: the masses of any two truths stay
within e^ε of each other. That holds for a mean as well, although it is a
quotient: the exact quotient is the truth, and a mean of no rows leaves the belief as it is, whose
masses lie between those of any two truths.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ...errors import Refused, refuse
from ...estimate import count, guess_error, refined_error, require_free, total
from ...estimate import expected_error as bayes_error
from ...mechanism import expected_error, refine
from ...mechanism.additive_noise import Term
from ...noise.criterion import criterion
from ...prior.counts import Counts
from ...prior.joint import Joint
from ...prior.normalise import MOST_POINTS
from ...privacy import Promise
from ...privacy.loss import EpsilonDelta
from ...schema import Number, Schema
from ..aggregates.reading import Noisy
from ..plan.contribution_bounds import kept_rows
from ..plan.plan import Plan, shown
from ..plan.planner import build_plan, make_plan, setting_of, strategies
from ..plan.truncation import Limit, row_limit
from ..question import Aggregate, Output, Question
from .answer import REFINEMENT, BeliefPlan, Way
from .check_prior import fit_statistics

if TYPE_CHECKING:
    from ...estimate.posterior import Posterior


@dataclass(frozen=True)
class AnswerNoise:
    """The noise of a plan whose answer is one noisy number.

    law: in units of the answer. counted: whether the number counts rows or units.
    """

    term: Term
    law: Any
    counted: bool

    def value(self, cell: Noisy) -> Fraction:
        """The noisy number, as it left."""
        return self.term.weight * cell[self.term.part][self.term.component]


def noise_of(plan: Plan) -> AnswerNoise | None:
    """The law of the one count or sum that a plan answers; None for any other."""
    term = plan.readings[0].term if len(plan.readings) == 1 and plan.cells == 1 else None
    if term is None:
        return None
    part, unit = plan.parts[term.part], abs(term.weight)
    counts = part.components[term.component].kind in ("rows", "present", "units")
    return AnswerNoise(term, part.noise.alone(term.component, unit), counts and unit == 1)


def estimate(plan: Plan, cell: Noisy, promise: Promise, prior: Any) -> Posterior:
    """The posterior of the one count or sum that an answer holds.

    Guarantee
        Bayes' rule with the law that was really drawn from. Refused after individual differential
        privacy, and where a value is not one noisy number: means, ranks, several cells.
    """
    require_free(promise=promise)
    noise = noise_of(plan)
    if noise is None:
        raise refuse("ask.answer-not-noisy-number")
    return (count if noise.counted else total)(noise.value(cell), noise.law, prior)


# -- Noise, noise with Bayes' rule, or refinement: weighed under the analyst's own prior -----------

_KINDS = ("count", "units", "sum", "avg")
_TIE = 1e-9
_NOTHING = Fraction(1, 10**9)
_FEW = 1024


def plan_statistic(
    question: Question,
    sql: str,
    schema: Schema,
    prior: object,
    price: EpsilonDelta,
    minimise: object,
    *,
    refinement_only: bool = False,
) -> BeliefPlan:
    """Every way to answer, and the one with the least error under the prior.

    refinement_only: the data set's protocol allows no noise.
    """
    asked = _asked(question)
    names = tuple(o.alias for o in question.outputs)
    belief = fit_statistics(prior, names, [_grid(a, schema) for a in asked])
    noises = _noises(question, sql, schema, price, minimise)
    without = _without(belief)
    refined = _refined_ways(belief, price.epsilon, price.delta, without)
    if not refined and refinement_only:
        raise _too_many()
    ways = [] if refinement_only else [w for noise in noises for w in _noise_ways(noise, belief)]
    chosen = _best(ways, refined, belief)
    ways += refined
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
        candidates=tuple(sorted(ways, key=_error)),
        chosen=chosen,
        reason=_reason(chosen, ways, belief, refinement_only),
        without=without,
        limits=_limits(chosen, asked, schema),
    )


def _limits(chosen: Way, asked: list[Aggregate], schema: Schema) -> tuple[Limit, ...]:
    """What the way cuts: refinement reads so many rows of each person, and all who are counted."""
    if chosen.noise is not None:
        return chosen.noise.limits
    people = kept_rows(schema)
    reads_rows = any(aggregate.kind != "units" for aggregate in asked)
    return () if people is None or not reads_rows else (row_limit(people),)


def _asked(question: Question) -> list[Aggregate]:
    """The aggregates, if nothing else is asked."""
    asked = [
        output.expression
        for output in question.outputs
        if isinstance(output, Output) and isinstance(output.expression, Aggregate)
    ]
    plain = len(asked) == len(question.outputs) and all(a.kind in _KINDS for a in asked)
    after = question.keys or question.having or question.order or question.limit is not None
    computes = question.computed or question.persons is not None
    if plain and not after and not computes and len(set(asked)) == len(asked):
        return asked
    raise refuse("ask.prior-for-other-question")


def _grid(aggregate: Aggregate, schema: Schema) -> Fraction | None:
    """The grid of the answer; a mean has none."""
    if aggregate.kind == "avg":
        return None
    if aggregate.kind != "sum":
        return Fraction(1)
    column = schema.column(aggregate.column or "")
    assert isinstance(column, Number)  # noqa: S101 - only numbers are added up
    return column.grid


# -- the ways --------------------------------------------------------------------------------------


def _noises(
    question: Question, sql: str, schema: Schema, price: EpsilonDelta, minimise: object
) -> list[Plan]:
    """A plan for every admissible noise."""
    base = make_plan(question, schema, price, minimise, sql)
    if not base.price:
        raise refuse("ask.prior-about-public-count")
    wanted = criterion(minimise)
    people = base.request.people
    setting = setting_of(question, schema, people)
    return [
        build_plan(
            *(question, schema, strategy, base.price, wanted, sql),
            people=people,
            candidates=base.candidates,
        )
        for strategy in strategies(question.aggregates(), setting, price, wanted)
    ]


def _noise_ways(plan: Plan, belief: Any) -> list[Way]:
    name = plan.chosen.mechanism
    noise = None if isinstance(belief, Joint) else noise_of(plan)
    if noise is None:
        return [Way(name, _alone(plan, belief), plan)]
    return [
        Way(f"{name} + Bayes", bayes_error(noise.law, belief), plan, bayes=True),
        Way(name, float(noise.law.mean_absolute_error), plan),
    ]


def _alone(plan: Plan, belief: Any) -> float | None:
    """The error of noise alone, in the prior's distance; None where it depends on rows."""
    errors = [expectation.expected_error for expectation in plan.chosen.expectations]
    if not isinstance(belief, Joint):
        return errors[0]
    total = 0.0
    for place, error in enumerate(errors):
        values = [value[place] for value in belief.values]
        widest = float(max(values) - min(values))
        if error is None or not widest:
            return None
        total += error / widest
    return total


def _refined_ways(
    belief: Any, epsilon: Fraction, delta: Fraction, without: float | None
) -> list[Way]:
    """Refinement, unless the belief is of a family with too many points."""
    if isinstance(belief, Counts) and belief.n >= MOST_POINTS:
        return []
    refine(belief, None, epsilon, kind="statistical", delta=delta)
    alone = Way(REFINEMENT, expected_error(belief, epsilon, kind="statistical"))
    if isinstance(belief, Joint):
        return [alone]
    error = refined_error(belief, epsilon, kind="statistical")
    bound = error if without is None else min(error, without)
    return [Way(f"{REFINEMENT} + Bayes", bound, bayes=True), alone]


def _without(belief: Any) -> float | None:
    """The error of who does not ask: of the best guess, or of a draw where there are several.

    None where it takes too long to know.
    """
    if isinstance(belief, Counts) and belief.n >= MOST_POINTS:
        return None
    if not isinstance(belief, Joint):
        return guess_error(belief)
    few = len(belief.values) <= _FEW
    return expected_error(belief, _NOTHING, kind="statistical") if few else None


# -- the choice ------------------------------------------------------------------------------------


def _error(way: Way) -> float:
    return float("inf") if way.expected_error is None else way.expected_error


def _best(noises: list[Way], refined: list[Way], belief: Any) -> Way:
    """Several values must be possible together, so they are refined; one has the least error.

    What depends on rows, as the error of a mean does, cannot be weighed: then noise is taken, for
    refinement is seldom better where one unit moves little, and never by much.
    """
    if refined and isinstance(belief, Joint):
        return refined[0]
    with_bayes = [way for way in noises if way.bayes]
    noises = sorted(with_bayes or noises, key=_error)
    if noises and noises[0].expected_error is None:
        return noises[0]
    if not refined or (noises and _error(noises[0]) <= _error(refined[0]) * (1 + _TIE)):
        return noises[0]
    return refined[0]


def _reason(chosen: Way, ways: list[Way], belief: Any, refinement_only: bool) -> str:
    if refinement_only:
        return "Refinement, for the data set's protocol answers in no other way."
    if isinstance(belief, Joint):
        return "Refinement, for noise would answer combinations that the prior holds impossible."
    refined = [way for way in ways if way.noise is None]
    if chosen.noise is not None and chosen.expected_error is None:
        return (
            "Noise, though its error depends on the number of rows and is told with the answer: "
            "one unit moves a mean of many rows little."
        )
    if chosen.noise is None:
        others = sorted((way for way in ways if way.noise is not None), key=_error)
        return (
            "Refinement, for one unit may move this statistic so far that noise tells less: "
            f"{shown(chosen.expected_error)} against {shown(others[0].expected_error)}."
        )
    what = "Noise and Bayes' rule" if chosen.bayes else "Noise"
    if not refined:
        return f"{what}, for the prior has more than {MOST_POINTS:,} points: too many to refine."
    return (
        f"{what}, for one unit moves this statistic so little that noise tells more: "
        f"{shown(chosen.expected_error)} against {shown(refined[0].expected_error)}."
    )


def _too_many() -> Refused:
    return refuse("ask.prior-too-many-points", most_points=MOST_POINTS)
