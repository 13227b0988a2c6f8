"""Every row of one or two columns, as the logical table has them."""

from __future__ import annotations

from typing import Any

import pandas as pd

import tenue as tn
from tenue.engine.open import open_engine
from tenue.query.individual.all_rows import column_steps, ends, pair_steps, votes

TABLE = pd.DataFrame(
    {
        "x": [3, -1, None, 99, 3],
        "y": [0.5, 1.0, 1.0, -7.0, 0.5],
        "c": ["b", "a", "pink", None, "b"],
    }
)
SCHEMA: Any = tn.Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "x": {"type": "number", "bounds": [-2, 10], "missing": 4},
            "y": {"type": "number", "bounds": [-1, 1], "grid": 0.5, "missing": 0},
            "c": {"type": "category", "categories": ["a", "b", "z"], "missing": "z"},
        },
    }
)


def test_rows_are_clamped_filled_and_complete() -> None:
    x, y, c = (SCHEMA.column(name) for name in "xyc")
    engine = open_engine(TABLE, SCHEMA)
    try:
        assert column_steps(engine, "x").tolist() == [-1, 3, 3, 4, 10]
        assert ends(y) == (-2, 2)
        pairs = sorted(map(tuple, pair_steps(engine, x, y).tolist()))
        assert pairs == [(-1, 2), (3, 1), (3, 1), (4, 2), (10, -2)]
        assert sorted(map(tuple, pair_steps(engine, x, x).tolist())) == [
            (v, v) for v in (-1, 3, 3, 4, 10)
        ]
        assert votes(engine, c) == [1, 2, 2]
    finally:
        engine.close()


def test_an_empty_table_has_no_rows() -> None:
    engine = open_engine(TABLE.head(0), SCHEMA)
    try:
        assert column_steps(engine, "x").size == 0
        assert pair_steps(engine, SCHEMA.column("x"), SCHEMA.column("y")).shape == (0, 2)
        assert votes(engine, SCHEMA.column("c")) == [0, 0, 0]
    finally:
        engine.close()
