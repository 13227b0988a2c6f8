"""Questions that are read off blocks: what is measured for them, and how they are estimated.

First their plans and the one request of all of them, before a row is read; then, from the noisy
answers of strategies, the numbers of every cell of every question.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ...engine.computed_column import All, Any_, Missing, Not, Predicate
from ...engine.request import People, Request
from ...errors import Fault
from ...noise.criterion import VARIANCE, Criterion
from ...noise.source import Source
from ...privacy.loss import NOTHING, EpsilonDelta
from ...schema import Schema
from ...schema.table import RECORD
from ..aggregates.reading import fold
from ..aggregates.strategy import Draw, Rows, Strategy, sizes, split
from ..plan.plan import Candidate, Plan
from ..plan.planner import make_plan
from ..plan.truncation import Limit, row_limit
from ..question import Aggregate, Output, Question
from .measured_quantity import Block
from .required_quantities import Components, readings

if TYPE_CHECKING:
    from .plan import Workload, WorkloadWay


@dataclasses.dataclass(eq=False)
class Alone:
    """The questions one by one.

    free: which of them are public. share: the price of each of the others.
    """

    questions: Sequence[Question]
    texts: Sequence[str]
    schema: Schema
    price: EpsilonDelta
    wanted: Criterion
    _plans: dict[Any, Plan] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.free = [self._like(question, self.price).free for question in self.questions]
        paying = self.free.count(False)
        self.share = split(self.price, paying) if paying else NOTHING

    def _like(self, question: Question, price: EpsilonDelta) -> Plan:
        """A plan of the same errors: they depend on what is asked, not on which rows."""
        kind = (
            *(question.aggregates(), question.keys and question.cells, question.where is None),
            *(question.computed, question.persons, price),
        )
        if kind not in self._plans:
            self._plans[kind] = make_plan(question, self.schema, price, self.wanted)
        return self._plans[kind]

    def like(self, number: int) -> Plan:
        """A plan with the errors of a question at its share."""
        return self._like(self.questions[number], self.price if self.free[number] else self.share)

    def plan(self, number: int) -> Plan:
        """The plan of a question at its share."""
        price = self.price if self.free[number] else self.share
        question, text = self.questions[number], self.texts[number]
        return make_plan(question, self.schema, price, self.wanted, text)

    def variances(self, number: int) -> dict[Aggregate, float]:
        """The variance of each of its aggregates, in squared units."""
        return {a: size**2 for a, size in sizes(self.like(number).strategy, VARIANCE).items()}

    def sizes(self, number: int) -> dict[Aggregate, float]:
        """Their errors, as the caller's criterion counts them."""
        return sizes(self.like(number).strategy, self.wanted)


# -- The draw of a workload, as certificates and limits see it -------------------------------------


@dataclass(frozen=True)
class WorkloadNoise(Draw):
    """The noise of all blocks of a workload; it is drawn for all questions at once."""

    name: str
    epsilon: Fraction
    words: str

    source = (
        "Li, Hay, Rastogi, Miklau and McGregor 2010 (strategies for linear questions), with "
        "discrete Laplace noise (Ghosh, Roughgarden and Sundararajan 2009)"
    )

    @property
    def line(self) -> str:
        return self.words

    def check_draw(self, cells: int) -> None:
        """The laws of the blocks are checked once for all questions."""

    def released(self, rows: Rows, cells: Sequence[int], source: Source) -> list[list[int]]:
        raise Fault("a workload is drawn once for all of its questions")


def noise_of(blocks: Sequence[Block], epsilon: Fraction) -> WorkloadNoise:
    """What is said of the noise of these blocks."""
    names = dict.fromkeys(block.strategy.name for block in blocks)
    said = []
    for block in blocks:
        levels = zip(block.strategy.lengths, block.laws, strict=True)
        scales = ", ".join(f"{many:,} of scale {law.scale:.6g}" for many, law in levels)
        said.append(
            f"discrete Laplace on {block.quantity.words} over {block.strategy.name}: {scales}"
        )
    words = "; ".join(said) + " steps"
    if any(block.strategy.sum_public for block in blocks):
        words += "; the number of all rows, which is public, without noise"
    return WorkloadNoise(" and ".join(names), epsilon, words)


# Questions that are read off blocks: what is measured for them, and how they are estimated.

Drawn = Sequence[Sequence[Sequence[Sequence[int]]]]
"""For each block, side and level, what was released."""
Cells = tuple[tuple[tuple[int, ...], ...], ...]


def estimated(workload: Workload, drawn: Drawn) -> dict[int, Cells]:
    """For each question that is read off blocks, the numbers of its cells: the estimates of its
    components in parts 1/FINE of a step, and then the cell with how far rounding moved them."""
    blocks = workload.blocks
    values = [block.estimates(one) for block, one in zip(blocks, drawn, strict=True)]
    slack = [block.slack(one) for block, one in zip(blocks, drawn, strict=True)]
    found: dict[int, Cells] = {}
    for number in workload.shared:
        components = workload.components[number]
        cells = []
        for cell in range(components.cells):
            rows = [components.row(place, cell) for place in range(len(components.places))]
            most = max(slack[b][row] for b, _, row in rows)
            cells.append((tuple(values[b][side][row] for b, side, row in rows), (cell, most)))
        found[number] = tuple(cells)
    return found


def estimated_plans(
    alone: Alone, way: WorkloadWay
) -> tuple[dict[int, Plan], dict[int, Components]]:
    """The plan of each question that is read off the blocks of a way, and where its parts are."""
    assert way.layout is not None and way.grid is not None  # noqa: S101, PT018 - blocks come with both
    schema, seen, blocks = alone.schema, way.grid.schema, way.blocks
    price = sum((block.price for block in blocks), start=NOTHING)
    noise = noise_of(blocks, price.epsilon)
    request, limits = request_of(alone, way), _limits(schema)
    places = {block.quantity: number for number, block in enumerate(blocks)}
    slices = {
        (number, one): place
        for number, block in enumerate(blocks)
        for place, one in enumerate(block.slices)
    }
    needs: dict[int, list[tuple[object, object, int]]] = {}
    parts: dict[int, list[tuple[int, int, int]]] = {}
    for quantity, own in way.layout.needs.items():
        for need in own:
            at = parts.setdefault(need.question, [])
            needs.setdefault(need.question, []).append((need, quantity, len(at)))
            number = places[quantity]
            at += [(number, slices[number, need.slice], side) for side in range(quantity.many)]
    found, where = {}, {}
    chosen = Candidate(noise.name, price.epsilon, (), 0.0)
    for number in way.shared:
        question = alone.questions[number]
        components = Components(blocks, tuple(parts[number]), question.cells)
        where[number] = components
        read = readings(question, components, needs[number], seen)  # type: ignore[arg-type]
        outputs = [output for output in question.outputs if isinstance(output, Output)]
        found[number] = Plan(
            question=question,
            sql=alone.texts[number],
            neighbours=schema.neighbours,
            unit=schema.unit,
            criterion=alone.wanted,
            price=price,
            candidates=(chosen,),
            chosen=chosen,
            strategy=Strategy(noise.name, (noise,), read),
            request=request,
            readings=tuple(fold(output.expression, read) for output in outputs),
            needs_row_count=False,
            limits=limits,
        )
    return found, where


def _limits(schema: Schema) -> tuple[Limit, ...]:
    people = _people(schema)
    return () if people is None else (row_limit(people),)


def _people(schema: Schema) -> People | None:
    """What is kept of each person: so many rows, drawn once for all questions."""
    if schema.unit == RECORD:
        return None
    return People(schema.unit, schema.rows_per_unit or 1, None)


def request_of(alone: Alone, way: WorkloadWay) -> Request:
    """What an engine measures for the blocks of a way: every cell of their grid."""
    assert way.grid is not None  # noqa: S101 - blocks come with their grid
    measures = dict.fromkeys(m for block in way.blocks for m in block.quantity.measures)
    where, people = way.grid.where, _people(alone.schema)
    if people is not None:
        # rows that no question is about use up no limit
        asked = [_rows_of(alone.questions[number], way.grid.schema) for number in way.shared]
        where = None if None in asked else Any_(tuple(dict.fromkeys(a for a in asked if a)))
    keys = tuple(axis.key for axis in way.grid.axes)
    return Request(tuple(measures), where, keys, people, way.computed)


def _rows_of(question: Question, schema: Schema) -> Predicate | None:
    """The rows that a question is about; None for all."""
    keyed = [k.column for k in question.keys if schema.column(k.column).missing is None]
    parts: list[Predicate] = [Not(Missing(name)) for name in dict.fromkeys(keyed)]
    if question.where is not None:
        parts.insert(0, question.where)
    return All(tuple(parts)) if parts else None
