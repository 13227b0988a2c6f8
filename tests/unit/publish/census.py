"""A small table about nobody, and its schema, for the tests of publishing."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa

from tenue.schema import Schema

JOBS = {"any": {"desk": ["clerk", "writer"], "field": ["farmer", "miner"]}}
COLUMNS: dict[str, dict[str, Any]] = {
    "name": {"type": "identifier"},
    "age": {"type": "number", "bounds": [0, 120], "role": "quasi-identifier"},
    "job": {"type": "category", "taxonomy": JOBS, "role": "quasi-identifier"},
    "sex": {"type": "category", "categories": ["f", "m"], "role": "quasi-identifier"},
    "income": {"type": "number", "bounds": [0, 1000], "grid": 0.01, "role": "confidential"},
    "ill": {"type": "category", "categories": ["no", "flu", "cold"], "role": "confidential"},
    "note": {"type": "category", "categories": ["=1+1", "plain", "-2"], "role": "other"},
}


def schema(unit: str = "record", **changes: dict[str, Any] | None) -> Schema:
    """The schema with some keys of some columns changed; None removes a column."""
    table: dict[str, Any] = {"name": "people", "unit": unit, "neighbours": "replace"}
    if unit != "record":
        table["rows_per_unit"] = 9
    columns = {
        name: {**declared, **(changes.get(name) or {})}
        for name, declared in COLUMNS.items()
        if name not in changes or changes[name] is not None
    }
    return Schema.from_dict({"table": table, "columns": columns})


def people(size: int = 60, seed: int = 1, **columns: list[Any]) -> pa.Table:
    """Made-up rows; columns given replace the made-up ones."""
    rng = random.Random(seed)
    made: dict[str, list[Any]] = {
        "name": [f"person {i}" for i in range(size)],
        "age": [rng.randrange(18, 95) for _ in range(size)],
        "job": [rng.choice(["clerk", "writer", "farmer", "miner"]) for _ in range(size)],
        "sex": [rng.choice("fm") for _ in range(size)],
        "income": [rng.randrange(100_000) / 100 for _ in range(size)],
        "ill": [rng.choice(["no", "no", "flu", "cold"]) for _ in range(size)],
        "note": [rng.choice(["=1+1", "plain", "-2"]) for _ in range(size)],
        "undeclared": list(range(size)),
    }
    return pa.table({**made, **columns})
