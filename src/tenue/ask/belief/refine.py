"""One sample of a belief, refined towards the truth: the step that touches rows, and its promise.

A truth that the belief holds impossible raises what is nearest to it; one that has no place among
its values, a person who is not there and a mean of no rows leave the belief as it is. So no table
is ever refused.
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
from ..question import Aggregate, Output, Question
from ..release import true_numbers
from .answer import REFINEMENT, BeliefPlan, Way
from .check_prior import Personal, fit_columns

_SAMPLE = (
    "Mass never leaves the belief: what the analyst held impossible is never answered; where it is "
    "the truth, the nearest possible values are raised."
)
_PERSON = (
    "The answer does not say whether the person is in the table: who has no row, or several, is "
    "answered with a draw of the prior, as it is. Error and posterior are for who has one.",
    "Questions about one person add up for that person, whoever asks them.",
)
_NOTHING = Fraction(1, 10**9)
_LONGEST = 2000


def plan_personal(
    question: Personal, schema: Schema, prior: object, price: EpsilonDelta
) -> BeliefPlan:
    """The plan for a question about one person; the belief is checked without looking at a row."""
    epsilon, delta = price.epsilon, price.delta
    columns = [schema.column(name) for name in question.columns]
    belief = fit_columns(prior, columns)
    distance = _distance(belief, columns)
    refine(belief, None, epsilon, kind="individual", distance=distance, delta=delta)

    def error(level: Fraction) -> float:
        return expected_error(belief, level, kind="individual", distance=distance)

    way = Way(REFINEMENT, error(epsilon))
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
        candidates=(way,),
        chosen=way,
        reason="Refinement, for one person decides the whole answer, and noise would drown it. "
        f"The errors are for one row of that {question.unit}; who has none, or several, is "
        "answered with a draw of the prior, as it is.",
        without=error(_NOTHING),
        guess=_guess(belief, distance),
        wrong=isinstance(belief, Categorical) and distance is None,
    )


def _guess(belief: Any, distance: Any) -> float | None:
    """How far the best guess from the prior is off, where the distance is a plain one."""
    if isinstance(belief, Categorical):
        return None if distance is not None else 1 - max(belief.weights) / belief.total
    return guess_error(belief) if isinstance(belief, Points | Density | Counts) else None


def answer_refined(
    plan: BeliefPlan, engine: Engine, schema: Schema, source: Source = SYSTEM
) -> bytes:
    """One sample of the refined belief, ready to be stored."""
    require_safe(source)
    question = plan.question
    if isinstance(question, Personal):
        truth = _of_person(question, engine, schema)
    else:
        truth = _of_table(question, engine, schema, source)
    law = refine(
        plan.prior, truth, plan.epsilon, kind=plan.kind, distance=plan.distance, delta=plan.delta
    )
    return json.dumps({"sample": _written(law.draw(source))}).encode()


def stored_sample(stored: bytes) -> Any:
    """The sample that was stored."""
    return _read(json.loads(stored)["sample"])


def certify_refined(plan: BeliefPlan, schema: Schema, seal: str = "") -> Certificate:
    """What is promised: a function of question, belief, schema and price only."""
    personal = isinstance(plan.question, Personal)
    parameters = {"epsilon": exactly(plan.epsilon), "prior": _named(plan.stated)}
    if not personal:
        parameters = {"question": plan.sql, **parameters}
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


def _named(prior: Any) -> str:
    """The belief as it was stated; a long one by its hash."""
    text: str = prior.to_json()
    if len(text) <= _LONGEST:
        return text
    return f"{prior!r}, whose JSON has SHA-256 {hashlib.sha256(text.encode()).hexdigest()}"


# -- the truth -------------------------------------------------------------------------------------


def _of_person(question: Personal, engine: Engine, schema: Schema) -> Any:
    """The values of the one row that the person has; None if there is none, or several."""
    found = [engine.look_up(question.unit, question.name, name) for name in question.columns]
    if any(len(rows) != 1 or rows[0] is None for rows in found):
        return None
    columns = (schema.column(name) for name in question.columns)
    values = tuple(_value(column, rows[0]) for column, rows in zip(columns, found, strict=True))
    return values if len(values) > 1 else values[0]


def _of_table(question: Question, engine: Engine, schema: Schema, source: Source) -> Any:
    """The exact answers; None if one of them is the mean of no rows."""
    outputs = [output for output in question.outputs if isinstance(output, Output)]
    asked = [o.expression for o in outputs if isinstance(o.expression, Aggregate)]
    numbers = true_numbers(question, engine, schema)
    values = []
    for aggregate in asked:
        column = aggregate.column or ""
        if aggregate.kind == "units":
            values.append(Fraction(numbers.units))
        elif aggregate.kind == "count":
            values.append(Fraction(numbers.present[column] if column else numbers.rows))
        else:
            grid = _grid(schema, column)
            total, rows = numbers.total[column] * grid, numbers.present[column]
            if aggregate.kind == "avg" and not rows:
                return None
            values.append(total / rows if aggregate.kind == "avg" else total)
    return tuple(values) if len(values) > 1 else values[0]


def _grid(schema: Schema, name: str) -> Fraction:
    column = schema.column(name)
    assert isinstance(column, Number)  # noqa: S101 - only numbers are added up
    return column.grid


def _value(column: Column, number: int | None) -> Any:
    assert number is not None  # noqa: S101 - narrows the type
    if isinstance(column, Category):
        return column.categories[number]
    if isinstance(column, Boolean):
        return bool(number)
    assert isinstance(column, Number)  # noqa: S101 - others were refused
    return number * column.grid


def _distance(belief: Any, columns: list[Column]) -> Any:
    """The meaning of categories, where some of them are nearer to each other than others."""
    column = columns[0]
    if len(columns) == 1 and isinstance(column, Category) and isinstance(belief, Categorical):
        taxonomy = column.taxonomy
        if len(taxonomy.concepts) > len(taxonomy.categories) + 1:
            return taxonomy
    return None


# -- how a sample is stored ------------------------------------------------------------------------


def _written(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_written(part) for part in value]
    return {"number": str(value)} if isinstance(value, Fraction) else value


def _read(given: Any) -> Any:
    if isinstance(given, list):
        return tuple(_read(part) for part in given)
    return Fraction(given["number"]) if isinstance(given, dict) else given
