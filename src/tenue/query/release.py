"""From rows to released numbers: the only step of a question that touches them.

engine → true whole numbers of every declared cell → noise or selection → what leaves
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..engine.contract import Engine, Profile
from ..engine.request import Group, Measure, People, RankRequest, Request, Window
from ..errors import refuse
from ..mechanism.bernstein import Axis, Bernstein, Powers, powers_of
from ..mechanism.part import Atoms, Component
from ..mechanism.smooth import smooth_release
from ..noise.source import SYSTEM, Source, require_safe
from ..schema import Schema
from ..schema.table import RECORD
from .answer import Released
from .family.mode import Ballot
from .family.rank import Choice
from .family.smooth import Smoothed
from .plan.make import moment_of, request_for
from .plan.plan import Plan
from .question import Aggregate, Question
from .workload.batch import Batch

_NOBODY = Profile(0, ())


def release(plan: Plan, engine: Engine, schema: Schema, source: Source = SYSTEM) -> Released:
    """The noisy numbers of every declared cell, whether or not rows are in it."""
    require_safe(source)
    if plan.strategy.smoothed is not None:
        return _smoothed(plan.strategy.smoothed, engine, source)
    people = _people(schema)
    atoms = _atoms(plan, engine, people)
    noisy = [part.release(atoms, source) for part in plan.parts]
    chosen = _chosen(plan, engine, people, source)
    cells = tuple(
        tuple(tuple(by_part[i]) for by_part in (*noisy, *chosen)) for i in range(plan.cells)
    )
    rows = None
    if plan.needs_row_count:
        # unit = record, replace, no filter, no groups, no missing value: public by definition
        rows = max(atoms[0].present.values())
    return Released(cells, rows)


def release_batch(batch: Batch, engine: Engine, schema: Schema, source: Source = SYSTEM) -> bytes:
    """What leaves for all questions of a batch, ready to be stored."""
    if batch.together is None:
        found = [release(plan, engine, schema, source) for plan in batch.plans]
        return Released.list_to_bytes(found)
    require_safe(source)
    people = _people(schema)
    atoms = {number: _atoms(batch.plans[number], engine, people)[0] for number in set(batch.owners)}
    pairs = zip(batch.together.components, batch.owners, strict=True)
    truth = [component.of(atoms[owner]) for component, owner in pairs]
    (noise,) = batch.together.draw(1, source)
    noisy = tuple(value + extra for value, extra in zip(truth, noise, strict=True))
    return Released.list_to_bytes(
        [
            Released(((noisy,),)) if number in atoms else release(plan, engine, schema, source)
            for number, plan in enumerate(batch.plans)
        ]
    )


def true_numbers(question: Question, engine: Engine, schema: Schema) -> Atoms:
    """The exact numbers that a question's counts, sums and means are made of; it has no groups."""
    components = [_component(aggregate) for aggregate in question.aggregates()]
    request = replace(request_for(question, components), people=_people(schema))
    nothing = (0,) * len(request.measures)
    return _of_cell(request.measures, engine.measure(request).get((), nothing), {})


def _component(aggregate: Aggregate) -> Component:
    if aggregate.kind == "units":
        return Component("units")
    if aggregate.kind == "count":
        return Component("present", aggregate.column) if aggregate.column else Component("rows")
    return Component("total", aggregate.column or "")


def refuse_other_rows(schema: Schema, engine: Engine) -> None:
    """Refuses a table that has not as many rows as the schema states, where the number is public.

    Answers are computed with the stated number; if it were wrong, they would be wrong unseen.
    """
    if schema.rows is None or schema.neighbours != "replace" or schema.unit != RECORD:
        return
    found = engine.measure(Request((Measure("rows"),))).get((), (0,))
    if found != (schema.rows,):
        raise refuse(
            "query.schema-states-rows-and-has-another-number", rows=schema.rows, name=schema.name
        )


def _people(schema: Schema) -> People | None:
    if schema.unit == RECORD:
        return None
    return People(schema.unit, schema.rows_per_unit or 1, schema.groups_per_unit)


def _places(plan: Plan) -> Iterator[tuple[int, ...]]:
    """The numbers of the keys of every declared cell; the last key runs fastest."""
    shape = [key.cells for key in plan.request.keys]
    for number in range(plan.cells):
        place, rest = [], number
        for size in reversed(shape):
            rest, index = divmod(rest, size)
            place.append(index)
        yield tuple(place[::-1])


# -- what noise is added to ------------------------------------------------------------------------


def _atoms(plan: Plan, engine: Engine, people: People | None) -> list[Atoms]:
    """The true numbers of every declared cell, in order; a cell without rows has zeros."""
    request = plan.request
    if not request.measures:
        return []
    measured = engine.measure(replace(request, people=people))
    empty = (0,) * len(request.measures)
    moments: dict[tuple[Axis, ...], int] = {}
    for part in plan.parts:
        for c in part.components:
            if isinstance(c, Bernstein):
                moments[c.axes] = max(moments.get(c.axes, 0), c.degree)
    return [
        _of_cell(request.measures, measured.get(place, empty), moments) for place in _places(plan)
    ]


def _of_cell(
    measures: Sequence[Measure], values: Sequence[int], moments: dict[tuple[Axis, ...], int]
) -> Atoms:
    rows = units = 0
    present, total, cut = {}, {}, {}
    found = dict(zip(measures, values, strict=True))
    for measure, value in found.items():
        if measure.kind == "rows":
            rows = value
        elif measure.kind == "units":
            units = value
        elif measure.kind == "present":
            present[measure.column or ""] = value
        elif measure.kind == "total":
            total[measure.column or ""] = value
        elif measure.kind == "unit-total":
            cut[measure.column or "", measure.low, measure.high] = value
    by_axes: dict[tuple[Axis, ...], dict[Powers, int]] = {
        axes: {powers: found[moment_of(axes, powers)] for powers in powers_of(len(axes), degree)}
        for axes, degree in moments.items()
    }
    return Atoms(rows, present, total, by_axes, units, cut)


# -- what is scaled to the table -------------------------------------------------------------------


def _smoothed(wanted: Smoothed, engine: Engine, source: Source) -> Released:
    """The order statistic with heavy-tailed noise; how many rows there are is public."""
    found = smooth_release(
        wanted.statistic,
        engine.column_steps(wanted.column)[:, 0],
        wanted.span.low,
        wanted.span.high,
        wanted.epsilon,
        wanted.gamma,
        source,
        rows_public=True,
        q=wanted.q,
    )
    return Released((((found.numerator, found.denominator),),))


# -- what is chosen --------------------------------------------------------------------------------


def _chosen(
    plan: Plan, engine: Engine, people: People | None, source: Source
) -> list[list[list[int]]]:
    """For every cell the chosen steps, one for each choice: at most one list of cells."""
    choices = plan.strategy.choices
    if not choices:
        return []
    ranked = [choice for choice in choices if isinstance(choice, Choice)]
    columns = list(dict.fromkeys(choice.column for choice in ranked))
    profiles = {
        column: engine.ranks(
            RankRequest(
                column,
                tuple(_window(choice) for choice in ranked if choice.column == column),
                plan.request.where,
                plan.request.keys,
                people,
            )
        )
        for column in columns
    }
    ballots = {c.column: c for c in choices if isinstance(c, Ballot)}
    voters = {name: _voters(plan, ballot, engine, people) for name, ballot in ballots.items()}
    found = []
    for place in _places(plan):
        cell = []
        for choice in choices:
            if isinstance(choice, Ballot):
                votes = voters[choice.column]
                counted = [votes.get((*place, c), 0) for c in range(choice.vote.categories)]
                cell.append(choice.vote.choose(counted, source))
                continue
            profile = profiles[choice.column].get(place, _NOBODY)
            cell.append(choice.selection.choose(profile.rows, profile.values, source))
        found.append(cell)
    return [found]


def _voters(
    plan: Plan, ballot: Ballot, engine: Engine, people: People | None
) -> dict[tuple[int, ...], int]:
    """How many rows of each cell have each category; the category's number comes last."""
    key = Group(ballot.column, ballot.vote.categories)
    request = Request((Measure("rows"),), plan.request.where, (*plan.request.keys, key), people)
    return {place: rows for place, (rows,) in engine.measure(request).items()}


def _window(choice: Choice) -> Window:
    score = choice.selection.score
    return Window(score.b, score.a, score.above, score.below, choice.selection.reach)
