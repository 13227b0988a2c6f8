"""Questions that are read off blocks: what is measured for them, and how they are estimated.

First their plans and the one request of all of them, before a row is read; then, from the noisy
answers of strategies, the numbers of every cell of every question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...engine.request import All, Any_, Missing, Not, People, Predicate, Request
from ...promise.loss import NOTHING
from ...schema import Schema
from ...schema.table import RECORD
from ..family.reading import fold
from ..family.strategy import Strategy
from ..plan.limit import Limit, row_limit
from ..plan.plan import Candidate, Plan
from ..question import Output, Question
from .alone import Alone
from .layout import readings
from .noise import noise_of
from .reading import Components

if TYPE_CHECKING:
    from .plan import Way, Workload

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


def estimated_plans(alone: Alone, way: Way) -> tuple[dict[int, Plan], dict[int, Components]]:
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


def request_of(alone: Alone, way: Way) -> Request:
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
