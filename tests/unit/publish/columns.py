"""Columns and scales for the tests of recoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tenue.publish.generalise.hierarchy import Scale, scale_of
from tenue.publish.table.cells import Cells
from tenue.schema import Schema

TREE = {"any": {"water": {"sail": ["dinghy", "yacht"], "surf": []}, "snow": ["ski", "sled"]}}
SPORTS = ["dinghy", "yacht", "surf", "ski", "sled"]
NUMBER: dict[str, Any] = {"type": "number", "bounds": [0, 15]}
SPORT: dict[str, Any] = {"type": "category", "taxonomy": TREE}
TOWN: dict[str, Any] = {"type": "category", "categories": ["Bern", "Genf", "Chur", "Thun"]}


def scale(declared: dict[str, Any], numbers: Sequence[int], name: str = "x") -> Scale:
    """A column of these numbers: grid steps, or places among the declared categories."""
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    column = Schema.from_dict({"table": table, "columns": {name: declared}}).columns[name]
    values = np.array(numbers, np.int64)
    return scale_of(Cells(column, values, np.ones(values.size, np.bool_), None))


def sports(*names: str) -> Scale:
    return scale(SPORT, [SPORTS.index(name) for name in names])
