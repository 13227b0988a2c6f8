"""One sample of a prior, moved towards the truth: the step that touches rows, and its promise.

A truth that the prior excludes raises the nearest possible values. A truth that is no value of that
kind, a person who is not there and a mean of no rows leave the prior unchanged. So no table is ever
refused.
"""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import Any

from ...engine.contract import Engine
from ...estimate import guess_error
from ...mechanism import expected_error, refine
from ...noise.source import SYSTEM, Source, require_safe
from ...prior.categorical import Categorical
from ...prior.counts import Counts
from ...prior.density import Density
from ...prior.points import Points
from ...privacy import Certificate
from ...privacy.certificate import About, certify
from ...privacy.loss import EpsilonDelta
from ...schema import Boolean, Category, Column, Number, Schema
from ...text import exactly
from ..certify import DOES_NOT_PROMISE, assumptions_of
from ..question import Question
from ..release import true_numbers
from .answer import REFINEMENT, BeliefCandidate, BeliefPlan
from .check_prior import Personal, fit_columns

_SAMPLE = (
    "It does not answer values that the prior excludes: if the truth is one of them, the nearest "
    "possible values become more likely."
)
_PERSON = (
    "It does not say whether the person is in the table: for a person with no row, or several, it "
    "is a draw of the unchanged prior. Error and posterior hold for one row.",
    "It does not bound several answers about the person: their prices add up, for all analysts.",
)
_NOTHING = Fraction(1, 10**9)
_LONGEST = 2000


def plan_personal(
    question: Personal, schema: Schema, prior: object, price: EpsilonDelta
) -> BeliefPlan:
    """The plan for a question about one person; the prior is checked without looking at a row."""
    epsilon, delta = price.epsilon, price.delta
    columns = [schema.column(name) for name in question.columns]
    belief = fit_columns(prior, columns)
    distance = _distance(belief, columns)
    refine(belief, None, epsilon, kind="individual", distance=distance, delta=delta)

    def error(level: Fraction) -> float:
        return expected_error(belief, level, kind="individual", distance=distance)

    refinement = BeliefCandidate(REFINEMENT, error(epsilon))
    return BeliefPlan(
        kind="individual",
        question=question,
        sql=f"{', '.join(question.columns)} of one {question.unit} in {question.table}",
        names=question.columns,
        neighbours=schema.neighbours,
        unit=schema.unit,
        stated=prior,
        prior=belief,
        distance=distance,
        price=price,
        candidates=(refinement,),
        chosen=refinement,
        reason="Refinement, because one person decides the whole answer, and noise would hide it. "
        f"The errors are for one row of that {question.unit}; with none, or several, the answer is "
        "a draw of the unchanged prior.",
        without=error(_NOTHING),
        guess=_guess_error(belief, distance),
        wrong=isinstance(belief, Categorical) and distance is None,
    )


def _guess_error(belief: Any, distance: Any) -> float | None:
    if isinstance(belief, Categorical):
        return None if distance is not None else 1 - max(belief.weights) / belief.total
    return guess_error(belief) if isinstance(belief, Points | Density | Counts) else None


def answer_refined(
    plan: BeliefPlan, engine: Engine, schema: Schema, source: Source = SYSTEM
) -> bytes:
    """One sample of the refined prior, ready to be stored."""
    require_safe(source)
    question = plan.question
    if isinstance(question, Personal):
        truth = _person_values(question, engine, schema)
    else:
        truth = _exact_answers(question, engine, schema)
    law = refine(
        plan.prior, truth, plan.epsilon, kind=plan.kind, distance=plan.distance, delta=plan.delta
    )
    return json.dumps({"sample": _to_json(law.draw(source))}).encode()


def stored_sample(stored: bytes) -> Any:
    """The sample that was stored."""
    return _from_json(json.loads(stored)["sample"])


def certify_refined(plan: BeliefPlan, schema: Schema, seal: str = "") -> Certificate:
    """The promise: a function of question, prior, schema and price only."""
    personal = isinstance(plan.question, Personal)
    parameters = {} if personal else {"question": plan.sql}
    parameters |= {"epsilon": exactly(plan.epsilon), "prior": _prior_as_text(plan.stated)}
    # about one person it is proved when one is added or removed; otherwise for any two tables
    neighbours = "add-or-remove" if personal else schema.neighbours
    return certify(
        plan.price.promise(),
        About(neighbours, schema.unit),
        REFINEMENT,
        parameters,
        ["Soria-Comas, thesis, chapter 5, corrected"],
        assumptions_of(schema),
        (_SAMPLE, *(_PERSON if personal else ()), *DOES_NOT_PROMISE),
        seal,
    )


def _prior_as_text(prior: Any) -> str:
    text: str = prior.to_json()
    if len(text) <= _LONGEST:
        return text
    return f"{prior!r}, whose JSON has SHA-256 {hashlib.sha256(text.encode()).hexdigest()}"


# -- the truth -------------------------------------------------------------------------------------


def _person_values(question: Personal, engine: Engine, schema: Schema) -> Any:
    """The values of the person's one row; None if there is none, or several."""
    values: list[Any] = []
    for name in question.columns:
        rows = engine.look_up(question.unit, question.name, name)
        if len(rows) != 1 or rows[0] is None:
            values.append(None)
        else:
            values.append(_value(schema.column(name), rows[0]))
    if None in values:
        return None
    return tuple(values) if len(values) > 1 else values[0]


def _exact_answers(question: Question, engine: Engine, schema: Schema) -> Any:
    """The exact answers; None if one of them is the mean of no rows."""
    numbers = true_numbers(question, engine, schema)
    values = []
    for aggregate in question.aggregates():
        column = aggregate.column or ""
        rows = numbers.present[column] if column else numbers.rows
        if aggregate.kind == "units":
            values.append(Fraction(numbers.units))
        elif aggregate.kind == "count":
            values.append(Fraction(rows))
        else:
            total = _value(schema.column(column), numbers.total[column])
            if aggregate.kind == "avg" and not rows:
                return None
            values.append(total / rows if aggregate.kind == "avg" else total)
    return tuple(values) if len(values) > 1 else values[0]


def _value(column: Column, number: int) -> Any:
    if isinstance(column, Category):
        return column.categories[number]
    if isinstance(column, Boolean):
        return bool(number)
    assert isinstance(column, Number)  # noqa: S101 - others were refused
    return number * column.grid


def _distance(belief: Any, columns: list[Column]) -> Any:
    """The taxonomy of a category, where some of its values are nearer to each other than others."""
    column = columns[0]
    if len(columns) == 1 and isinstance(column, Category) and isinstance(belief, Categorical):
        taxonomy = column.taxonomy
        if len(taxonomy.concepts) > len(taxonomy.categories) + 1:
            return taxonomy
    return None


# -- how a sample is stored ------------------------------------------------------------------------


def _to_json(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_to_json(part) for part in value]
    return {"number": str(value)} if isinstance(value, Fraction) else value


def _from_json(given: Any) -> Any:
    if isinstance(given, list):
        return tuple(_from_json(part) for part in given)
    return Fraction(given["number"]) if isinstance(given, dict) else given
