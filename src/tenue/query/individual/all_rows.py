"""Every row of one or two columns, for mechanisms that are calibrated to the table itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...engine.contract import Engine
from ...engine.request import Bin, Group, Key, Measure, RankRequest, Request, Window
from ...schema import Category, Number

_EVERYTHING = Window(1, 0, 0, 0, 1 << 200)


def column_steps(engine: Engine, column: str) -> NDArray[np.int64]:
    """The steps of a bounded column, in increasing order."""
    profile = engine.ranks(RankRequest(column, (_EVERYTHING,))).get(())
    listed = () if profile is None else profile.values
    steps = np.array([step for step, _, _ in listed], dtype=np.int64)
    return np.repeat(steps, [count for _, _, count in listed])


def ends(column: Number) -> tuple[int, int]:
    """The bounds of a column in steps."""
    return int(column.low / column.grid), int(column.high / column.grid)


def pair_steps(engine: Engine, x: Number, y: Number) -> NDArray[np.int64]:
    """The steps of two columns that are never missing: one row of two numbers for each row."""
    keys = [Bin(c.name, 1, ends(c)[0], ends(c)[1] - ends(c)[0] + 1) for c in (x, y)]
    counted = _counted(engine, *keys)
    cells = np.array(list(counted), dtype=np.int64).reshape(-1, 2)
    lowest = np.array([key.first for key in keys], dtype=np.int64)
    return np.repeat(cells + lowest, list(counted.values()), axis=0)


def votes(engine: Engine, column: Category) -> list[int]:
    """How many rows each category has, in the order declared."""
    cells = len(column.categories)
    counted = _counted(engine, Group(column.name, cells))
    return [counted.get((place,), 0) for place in range(cells)]


def _counted(engine: Engine, *keys: Key) -> dict[tuple[int, ...], int]:
    measured = engine.measure(Request((Measure("rows"),), keys=keys))
    return {cell: rows for cell, (rows,) in sorted(measured.items())}
