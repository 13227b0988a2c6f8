"""One noise for all counts and sums, shaped to what one unit can do to all of them at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...noise.box.law import Signs
from ...noise.criterion import Criterion
from ...promise.loss import EpsilonDelta
from ...schema import Schema
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
from ..family.strategy import Strategy
from ..plan.make import build_plan, setting_of
from ..plan.people import people_of
from ..plan.plan import Plan
from ..question import Aggregate, Question


@dataclass(frozen=True)
class Boxed:
    """The noise, the plan of each question that it answers, and whose each component is."""

    noise: SumNoise
    plans: Mapping[int, Plan]
    owners: tuple[int, ...]


def boxes(
    questions: Mapping[int, Question],
    texts: Sequence[str],
    schema: Schema,
    price: EpsilonDelta,
    wanted: Criterion,
) -> list[Boxed]:
    """The boxes that answer all of the questions: none if some has groups, or anything but counts
    and sums, or if they are too many.

    questions: those that share the noise, by number. price: of that noise.
    """
    if not all(not q.keys and all(map(is_atom, q.aggregates())) for q in questions.values()):
        return []
    asked = [(number, a) for number, q in questions.items() for a in q.aggregates()]
    if not 2 <= len(asked) <= MOST_IN_A_BOX:
        return []
    shapes: list[tuple[Signs, bool]] = [("same", False)]
    shapes.append(("any", schema.neighbours == "replace"))
    found = (
        _box(questions, texts, schema, price, wanted, asked, signs, native)
        for signs, native in shapes
    )
    return [one for one in found if one is not None]


def _box(
    questions: Mapping[int, Question],
    texts: Sequence[str],
    schema: Schema,
    price: EpsilonDelta,
    wanted: Criterion,
    asked: Sequence[tuple[int, Aggregate]],
    signs: Signs,
    native: bool,
) -> Boxed | None:
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
    epsilon = price.epsilon
    halved = schema.neighbours == "replace" and not native
    noise = box_noise(atoms, epsilon, epsilon / 2 if halved else epsilon, wanted, signs)
    name = noise.name + CUT_BY_PERSON * noise.cut_by_person
    plans = {
        number: build_plan(
            questions[number],
            schema,
            Strategy(name, (noise,), readings[number]),
            price,
            wanted,
            texts[number],
            people=people_of(questions[number], schema),
            measures=measures_of(atom.component for atom in own[number]),
        )
        for number in own
    }
    return Boxed(noise, plans, tuple(number for number, _ in asked))
