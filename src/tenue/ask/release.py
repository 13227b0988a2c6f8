"""From rows to released numbers: the only step of a question that touches rows.

engine → true whole numbers of every declared cell → noise or selection → released numbers
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..engine.computed_column import Computed
from ..engine.contract import Cells, Engine, Profile, Profiles
from ..engine.request import CellKey, Group, Measure, RankRequest, Request, Window
from ..mechanism.additive_noise import Atoms
from ..noise.source import SYSTEM, Source, require_safe
from ..schema import Schema
from .aggregates.noise import atoms_of, component_of, measures_of
from .aggregates.strategy import Draw
from .plan.plan import Plan
from .plan.truncation import kept_rows
from .question import Question, engine_columns, every_value, seen_by

if TYPE_CHECKING:
    from .workload.plan import Workload

_NOBODY = Profile(0, ())
_EVERY_ROW = Request((Measure("rows"),), None, (), None)


@dataclass(frozen=True)
class Released:
    """The noisy whole numbers of every cell, by part: all that leaves the mechanism.

    rows: the public number of rows, where a mean over all of them needs it.
    above: how many persons are above each limit, with noise, where that was measured.
    """

    cells: tuple[tuple[tuple[int, ...], ...], ...]
    rows: int | None = None
    above: tuple[int, ...] = ()

    def to_bytes(self) -> bytes:
        return json.dumps(self._to_dict()).encode()

    def _to_dict(self) -> dict[str, object]:
        above = {"above": self.above} if self.above else {}
        return {"released": 1, "cells": self.cells, "rows": self.rows} | above

    @classmethod
    def from_bytes(cls, stored: bytes) -> Released:
        return cls._from_dict(json.loads(stored))

    @classmethod
    def _from_dict(cls, given: dict[str, Any]) -> Released:
        cells = tuple(tuple(tuple(part) for part in cell) for cell in given["cells"])
        return cls(cells, given["rows"], tuple(given.get("above", ())))


def release(plan: Plan, engine: Engine, schema: Schema, source: Source = SYSTEM) -> Released:
    """The noisy numbers of every declared cell, whether or not rows are in it."""
    require_safe(source)
    rows = _Rows(plan, engine, schema)
    draws = plan.strategy.draws
    drawn = [_drawn([draw], rows, source) for draw in draws if not draw.chosen]
    if together := [draw for draw in draws if draw.chosen]:
        drawn.append(_drawn(together, rows, source))
    cells = tuple(tuple(tuple(by_draw[i]) for by_draw in drawn) for i in range(len(rows.cells)))
    # unit = record, replace, no filter, no groups, no missing value: public by definition
    present = rows.present if plan.needs_row_count else None
    return Released(cells, present, () if plan.cut is None else plan.cut.release(engine, source))


def _drawn(draws: Sequence[Draw], rows: _Rows, source: Source) -> list[list[int]]:
    """The numbers of each cell, of one draw, or of several that are drawn cell by cell."""
    if len(draws) == 1:
        return draws[0].released(rows, range(len(rows.cells)), source)
    for draw in draws:
        draw.read(rows)
    return [
        [number for draw in draws for number in draw.released(rows, [cell], source)[0]]
        for cell in range(len(rows.cells))
    ]


@dataclass(frozen=True)
class ReleasedMany:
    """The released numbers of many questions.

    blocks: for each block, side and level the noisy measurements of the strategy, from which
        answers are estimated. apart: the released numbers of each of the other questions.
    """

    blocks: tuple[tuple[tuple[tuple[int, ...], ...], ...], ...]
    apart: tuple[Released | None, ...]

    def to_bytes(self) -> bytes:
        apart = [None if one is None else one._to_dict() for one in self.apart]
        return json.dumps({"workload": 1, "blocks": self.blocks, "apart": apart}).encode()

    @classmethod
    def from_bytes(cls, stored: bytes) -> ReleasedMany:
        given = json.loads(stored)
        if isinstance(given, list):  # stored before there were blocks
            given = {"blocks": (), "apart": given}
        blocks = tuple(
            tuple(tuple(tuple(level) for level in side) for side in block)
            for block in given["blocks"]
        )
        apart = (None if one is None else Released._from_dict(one) for one in given["apart"])
        return cls(blocks, tuple(apart))


def release_many(
    workload: Workload, engine: Engine, schema: Schema, source: Source = SYSTEM
) -> ReleasedMany:
    """The released numbers of a workload; the rows of its blocks are read once."""
    require_safe(source)
    boxed = _boxed(workload, engine, schema, source)
    apart = tuple(
        None
        if number in workload.shared
        else boxed.get(number) or release(plan, engine, schema, source)
        for number, plan in enumerate(workload.plans)
    )
    if not workload.blocks:
        return ReleasedMany((), apart)
    measured = measured_cells(workload.request, engine)
    rows = 0
    if any(block.strategy.sum_public for block in workload.blocks):
        (rows,) = engine.measure(_EVERY_ROW).get((), (0,))
    drawn = (block.release(measured, source, rows) for block in workload.blocks)
    blocks = tuple(tuple(tuple(map(tuple, side)) for side in block) for block in drawn)
    return ReleasedMany(blocks, apart)


def measured_cells(request: Request, engine: Engine) -> dict[int, dict[Measure, int]]:
    """The measures of every cell with rows, by its number: the last key runs fastest."""
    shape = tuple(key.cells for key in request.keys)
    return {
        int(np.ravel_multi_index(cell, shape)) if shape else 0: dict(
            zip(request.measures, values, strict=True)
        )
        for cell, values in engine.measure(request).items()
    }


def _boxed(
    workload: Workload, engine: Engine, schema: Schema, source: Source
) -> dict[int, Released]:
    """The released numbers of questions that share the noise of a box, by number."""
    noise = workload.together
    if noise is None:
        return {}
    atoms = {
        number: atoms_of(_Rows(workload.plans[number], engine, schema).measured[0])
        for number in set(workload.owners)
    }
    pairs = zip(noise.components, workload.owners, strict=True)
    truth = [component.of(atoms[owner]) for component, owner in pairs]
    (drawn,) = noise.draw(1, source)
    noisy = tuple(value + extra for value, extra in zip(truth, drawn, strict=True))
    return {number: Released(((noisy,),)) for number in atoms}


def true_numbers(question: Question, engine: Engine, schema: Schema) -> Atoms:
    """The exact numbers from which counts, sums and means of a question without groups follow."""
    measures = measures_of(component_of(aggregate) for aggregate in question.aggregates())
    request = Request(
        measures,
        question.where,
        question.keys,
        kept_rows(schema),
        engine_columns(question.computed),
    )
    values = engine.measure(request).get((), (0,) * len(measures))
    return atoms_of(dict(zip(measures, values, strict=True)))


class _Rows:
    """The true numbers of every declared cell of a plan, each read from the engine once.

    cells: the key values of every declared cell, by number; the last key runs fastest.
    """

    def __init__(self, plan: Plan, engine: Engine, schema: Schema) -> None:
        self._draws = plan.strategy.draws
        self._request = plan.request
        self._engine = engine
        self._ranks: dict[str, list[Profile]] = {}
        self._votes: dict[str, list[list[int]]] = {}
        self._distinct: dict[str, list[int]] = {}
        self._columns = seen_by(plan.question, schema).columns
        self.cells = list(product(*(range(key.cells) for key in plan.request.keys)))

    @cached_property
    def measured(self) -> list[dict[Measure, int]]:
        measures = self._request.measures
        values = self._engine.measure(self._request)
        empty = (0,) * len(measures)
        return [dict(zip(measures, values.get(cell, empty), strict=True)) for cell in self.cells]

    @property
    def present(self) -> int:
        """How many rows have a column that is never missing."""
        first = self.measured[0].items()
        return max(value for measure, value in first if measure.kind == "present")

    def ranks(self, column: str) -> list[Profile]:
        if column not in self._ranks:
            windows = tuple(w for draw in self._draws for w in draw.windows.get(column, ()))
            profiles = self._profiles(column, windows, self._request.keys)
            self._ranks[column] = [profiles.get(cell, _NOBODY) for cell in self.cells]
        return self._ranks[column]

    def _profiles(
        self,
        column: str,
        windows: tuple[Window, ...],
        keys: tuple[CellKey, ...],
        computed: tuple[Computed, ...] = (),
    ) -> Profiles:
        asked = self._request
        return self._engine.ranks(
            RankRequest(
                *(column, windows, asked.where, keys, asked.people),
                computed=(*asked.computed, *computed),
                units=asked.units,
            )
        )

    def votes(self, column: str, categories: int) -> list[list[int]]:
        if column not in self._votes:
            rows = self._by_value(Group(column, categories))
            self._votes[column] = [
                [rows.get((*cell, number), (0,))[0] for number in range(categories)]
                for cell in self.cells
            ]
        return self._votes[column]

    def distinct(self, column: str) -> list[int]:
        if column not in self._distinct:
            rows = self._by_value(every_value(self._columns[column]))
            counts = Counter(cell[:-1] for cell, (count,) in rows.items() if count)
            self._distinct[column] = [counts[cell] for cell in self.cells]
        return self._distinct[column]

    def _by_value(self, value: CellKey) -> Cells:
        """How many rows are in each cell of the keys and have each value."""
        keys, people = (*self._request.keys, value), self._request.people
        if people is not None:
            # a limit of groups would drop values; the price is by rows alone
            people = replace(people, groups=None)
        rows = replace(self._request, measures=(Measure("rows"),), keys=keys, people=people)
        return self._engine.measure(rows)

    def overall(self, computed: Computed, window: Window) -> Profile:
        return self._profiles(computed.name, (window,), (), (computed,)).get((), _NOBODY)

    def totals(self, computed: Computed) -> list[tuple[int, int]]:
        measures = (Measure("present", computed.name), Measure("total", computed.name))
        several = (*self._request.computed, computed)
        values = self._engine.measure(replace(self._request, measures=measures, computed=several))
        return [values.get(cell, (0, 0)) for cell in self.cells]  # type: ignore[misc]

    def steps(self, column: str) -> NDArray[np.int64]:
        return self._engine.column_steps(column)[:, 0]
