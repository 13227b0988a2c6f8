"""Questions that blocks answer: their plans and the one request of all of them, before a row is
read; then the numbers of every cell, from the noisy answers of strategies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
from ..aggregates.strategy import Draw, Rows, Strategy, sizes, split
from ..plan.plan import Candidate, Plan
from ..plan.planner import build_plan, make_plan
from ..plan.truncation import row_limit, unit_limit
from ..question import Aggregate, Question
from .measured_quantity import Block, Quantity
from .required_quantities import Components, Need, reading

if TYPE_CHECKING:
    from .plan import Workload, WorkloadWay


@dataclass(eq=False)
class Alone:
    """The questions one by one.

    free: whether the answer of each is public. share: the price of each of the others.
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
        """A plan with the same errors, which do not depend on the condition of the question."""
        kind = (
            *(question.aggregates(), question.keys and question.cells, question.where is None),
            *(question.computed, question.persons, price),
        )
        if kind not in self._plans:
            self._plans[kind] = make_plan(question, self.schema, price, self.wanted)
        return self._plans[kind]

    def price_of(self, many: int) -> EpsilonDelta:
        """The price of so many of the questions that are not public."""
        return self.price if many == self.free.count(False) else self.share * many

    def _price(self, number: int) -> EpsilonDelta:
        return self.price if self.free[number] else self.share

    def _strategy(self, number: int) -> Strategy:
        return self._like(self.questions[number], self._price(number)).strategy

    def plan(self, number: int) -> Plan:
        question, text = self.questions[number], self.texts[number]
        return make_plan(question, self.schema, self._price(number), self.wanted, text)

    def over_public_rows(self, number: int) -> bool:
        readings = self._strategy(number).readings.values()
        return any(reading.needs_row_count for reading in readings)

    def variances(self, number: int) -> dict[Aggregate, float]:
        """The variance of each of its aggregates, in squared units."""
        return {a: size**2 for a, size in sizes(self._strategy(number), VARIANCE).items()}

    def sizes(self, number: int) -> dict[Aggregate, float]:
        return sizes(self._strategy(number), self.wanted)


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
    names = dict.fromkeys(block.strategy.name for block in blocks)
    lines = []
    for block in blocks:
        levels = zip(block.strategy.lengths, block.laws, strict=True)
        scales = ", ".join(f"{many:,} of scale {law.scale:.6g}" for many, law in levels)
        on = f"discrete Laplace on {block.quantity.words} over {block.strategy.name}"
        lines.append(f"{on}: {scales}")
    words = "; ".join(lines) + " steps"
    if any(block.strategy.sum_public for block in blocks):
        words += "; the number of all rows, which is public, without noise"
    return WorkloadNoise(" and ".join(names), epsilon, words)


Drawn = Sequence[Sequence[Sequence[Sequence[int]]]]
"""For each block, side and level, the released numbers."""
Cells = tuple[tuple[tuple[int, ...], ...], ...]


def estimated(workload: Workload, drawn: Drawn) -> dict[int, Cells]:
    """For each question that blocks answer, the numbers of its cells: the estimates of its
    components in parts 1/FINE of a step, and then the cell with a bound of their rounding error."""
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
    """The plan of each question that the blocks of a candidate answer, and its components."""
    assert way.layout is not None and way.grid is not None  # noqa: S101, PT018 - blocks come with both
    schema, seen, blocks = alone.schema, way.grid.schema, way.blocks
    price = sum((block.price for block in blocks), start=NOTHING)
    noise = noise_of(blocks, price.epsilon)
    request = request_of(alone, way)
    limits = () if request.people is None else (row_limit(request.people),)
    needs: dict[int, list[tuple[Need, Quantity, int]]] = {}
    parts: dict[int, list[tuple[int, int, int]]] = {}
    for number, block in enumerate(blocks):
        quantity, slices = block.quantity, {one: i for i, one in enumerate(block.slices)}
        for need in way.layout.needs[quantity]:
            own = parts.setdefault(need.question, [])
            needs.setdefault(need.question, []).append((need, quantity, len(own)))
            own += [(number, slices[need.slice], side) for side in range(quantity.many)]
    plans, where = {}, {}
    chosen = Candidate(noise.name, price.epsilon, (), 0.0)
    for number in way.shared:
        question = alone.questions[number]
        where[number] = Components(blocks, tuple(parts[number]), question.cells)
        read = {
            need.aggregate: reading(need.aggregate, quantity, first, where[number], seen)
            for need, quantity, first in needs[number]
        }
        plan = build_plan(
            *(question, schema, Strategy(noise.name, (noise,), read), price, alone.wanted),
            alone.texts[number],
            people=None,
            chosen=chosen,
            measures=(),
        )
        own_limits = (*limits, *unit_limit(question, schema))
        plans[number] = replace(plan, request=request, limits=own_limits)
    return plans, where


def request_of(alone: Alone, way: WorkloadWay) -> Request:
    """The measures of every cell of the grid, for the blocks of a candidate."""
    assert way.grid is not None  # noqa: S101 - blocks come with their grid
    measures = dict.fromkeys(m for block in way.blocks for m in block.quantity.measures)
    where, people, schema = way.grid.where, None, alone.schema
    if schema.unit != RECORD:  # the limit of rows per person, drawn once for all questions
        people = People(schema.unit, schema.rows_per_unit or 1, None)
        # rows that no question is about do not count towards the limit
        asked = [_rows_of(alone.questions[number], way.grid.schema) for number in way.shared]
        where = None if None in asked else Any_(tuple(dict.fromkeys(a for a in asked if a)))
    keys = tuple(axis.key for axis in way.grid.axes)
    return Request(tuple(measures), where, keys, people, way.computed)


def _rows_of(question: Question, schema: Schema) -> Predicate | None:
    """The condition of the rows that a question is about; None for all."""
    keyed = [k.column for k in question.keys if schema.column(k.column).missing is None]
    parts: list[Predicate] = [Not(Missing(name)) for name in dict.fromkeys(keyed)]
    if question.where is not None:
        parts.insert(0, question.where)
    return All(tuple(parts)) if parts else None
