"""Several questions answered at one price: apart, together in one noise, or side by side.

* one by one: each gets an equal share of the price;
* together: all counts and sums get one noise, shaped to what one unit can do to all of them at
  once; what is neither keeps its own share;
* side by side: questions about rows that cannot be the same cost what one of them costs, as the
  groups of GROUP BY do.

The way with the least expected error is chosen, so a batch is never worse than its questions asked
one by one at the same total.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ...errors import refuse
from ...noise.box.law import Signs
from ...noise.criterion import Criterion, criterion
from ...number import NANO
from ...schema import Schema
from ...schema.table import RECORD
from ..family.noise import (
    CUT_BY_PERSON,
    MOST_IN_A_BOX,
    Atom,
    SumNoise,
    box_noise,
    is_atom,
    least_atom,
    measures_of,
)
from ..family.reading import Reading
from ..family.strategy import Strategy, no_worse, score_of, sizes, split
from ..plan.make import build_plan, make_plan, setting_of
from ..plan.people import people_of
from ..plan.plan import Plan
from ..question import Aggregate, Question
from .disjoint import all_disjoint

MOST_QUESTIONS = 100


@dataclass(frozen=True)
class Batch:
    """Plans that are paid for together.

    together: the one noise of all answers, or None where each plan draws its own.
    owners: for each component of it, the number of its question; questions without any draw their
        own noise.
    saved: the share of the variance that the chosen way saves, against one by one.
    """

    plans: tuple[Plan, ...]
    nano: int
    saved: float
    together: SumNoise | None = None
    owners: tuple[int, ...] = ()


def plan_batch(
    questions: Sequence[Question],
    texts: Sequence[str],
    schema: Schema,
    nano: int,
    minimise: object,
) -> Batch:
    """The best way to answer all questions at a total price of `nano`."""
    if not 1 <= len(questions) <= MOST_QUESTIONS:
        raise refuse("query.questions-asked", many=len(questions), most_questions=MOST_QUESTIONS)
    wanted = criterion(minimise)
    pairs = list(zip(questions, texts, strict=True))
    free = [make_plan(q, schema, nano, wanted, text).free for q, text in pairs]
    if all(free):
        plans = tuple(make_plan(q, schema, nano, wanted, text) for q, text in pairs)
        return Batch(plans, 0, 0.0)
    share = int(split(nano, free.count(False)) * NANO)
    apart = [make_plan(q, schema, share, wanted, text) for q, text in pairs]
    ways = [Batch(tuple(apart), nano, 0.0)]
    whole = not any(q.keys for q in questions)
    # the rows of one person may answer several questions, whatever their conditions say
    alone = schema.unit == RECORD and len(questions) > 1
    if alone and whole and all_disjoint([q.where for q in questions]):
        beside = [make_plan(q, schema, nano, wanted, text, beside=True) for q, text in pairs]
        ways.append(Batch(tuple(beside), nano, 0.0))
    shared = [n for n, q in enumerate(questions) if not free[n] and _linear(q)]
    if shared:
        ways.extend(_together(shared, questions, texts, schema, nano, apart, wanted))
    ways = [way for way in ways if _none_worse(way.plans, apart, wanted)]
    scores = [sum(score_of(p.strategy, wanted) for p in way.plans) for way in ways]
    best = min(range(len(ways)), key=lambda i: scores[i])
    outputs = sum(len(p.strategy.readings) for p in apart)
    saved = max(0.0, -math.expm1(2 * (scores[best] - scores[0]) / outputs))
    return replace(ways[best], saved=saved)


def _none_worse(plans: Sequence[Plan], apart: Sequence[Plan], wanted: Criterion) -> bool:
    """Whether no answer is worse than asked one by one."""
    pairs = zip(plans, apart, strict=True)
    return all(
        no_worse(sizes(one.strategy, wanted), sizes(other.strategy, wanted)) for one, other in pairs
    )


def _linear(question: Question) -> bool:
    """Whether a question has nothing but counts and sums, and no groups."""
    return not question.keys and all(map(is_atom, question.aggregates()))


def _together(
    shared: Sequence[int],
    questions: Sequence[Question],
    texts: Sequence[str],
    schema: Schema,
    nano: int,
    apart: Sequence[Plan],
    wanted: Criterion,
) -> list[Batch]:
    """One box for every count and sum, at the price of the questions it answers; others alone."""
    asked = [(number, a) for number in shared for a in questions[number].aggregates()]
    if not 2 <= len(asked) <= MOST_IN_A_BOX:
        return []
    paying = [plan.nano for plan in apart if not plan.free]
    share = nano if len(shared) == len(paying) else paying[0] * len(shared)
    shapes: list[tuple[Signs, bool]] = [("same", False)]
    shapes.append(("any", schema.neighbours == "replace"))
    found = []
    for signs, native in shapes:
        boxed = _box(questions, texts, schema, share, wanted, asked, signs, native)
        if boxed is not None:
            noise, made = boxed
            plans = tuple(made.get(n, plan) for n, plan in enumerate(apart))
            found.append(Batch(plans, nano, 0.0, noise, tuple(number for number, _ in asked)))
    return found


def _box(
    questions: Sequence[Question],
    texts: Sequence[str],
    schema: Schema,
    nano: int,
    wanted: Criterion,
    asked: Sequence[tuple[int, Aggregate]],
    signs: Signs,
    native: bool,
) -> tuple[SumNoise, dict[int, Plan]] | None:
    """The noise of all counts and sums that are asked, and the plan of each question, by number."""
    atoms: list[Atom] = []
    readings: dict[int, dict[Aggregate, Reading]] = {}
    own: dict[int, list[Atom]] = {}
    for place, (number, aggregate) in enumerate(asked):
        setting = setting_of(questions[number], schema, people_of(questions[number], schema))
        atom = least_atom(aggregate, setting, signs=signs, native=native)
        if atom is None:
            return None
        atoms.append(atom)
        own.setdefault(number, []).append(atom)
        readings.setdefault(number, {})[aggregate] = atom.read(place)
    price = Fraction(nano, NANO)
    halved = schema.neighbours == "replace" and not native
    noise = box_noise(atoms, price, price / 2 if halved else price, wanted, signs)
    name = noise.name + CUT_BY_PERSON * noise.cut_by_person
    return noise, {
        number: build_plan(
            questions[number],
            schema,
            Strategy(name, (noise,), readings[number]),
            nano,
            wanted,
            texts[number],
            people=people_of(questions[number], schema),
            measures=measures_of(atom.component for atom in own[number]),
        )
        for number in own
    }
