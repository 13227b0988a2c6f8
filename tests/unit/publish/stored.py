"""Tables with ties, blanks and heaps that are published in memory and in passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import tenue as tn

MEMORY = 128 << 20
"""The least that may be stated; tests make a value count for more."""


def schema(**more: Any) -> dict[str, Any]:
    return {
        "table": {"name": "people", "unit": "record", "neighbours": "replace"},
        "columns": {
            "name": {"type": "identifier", "role": "identifier"},
            "age": {"type": "number", "bounds": [0, 100], "role": "quasi-identifier"},
            "town": {
                "type": "category",
                "categories": ["north", "south", "west"],
                "role": "quasi-identifier",
            },
            "born": {
                "type": "date",
                "bounds": ["1920-01-01", "2020-12-31"],
                "role": "quasi-identifier",
            },
            "pay": {
                "type": "number",
                "bounds": [0, 5000],
                "grid": 0.5,
                "role": "confidential",
            },
            "ill": {
                "type": "category",
                "taxonomy": {"any": {"lung": ["flu", "Flu", "cough"], "bone": ["arm", "leg"]}},
                "role": "confidential",
            },
            "note": {"type": "number", "bounds": [0, 9], "role": "other"},
            **more,
        },
    }


def people(rows: int = 300, seed: int = 1, blanks: float = 0.05) -> pa.Table:
    rng = np.random.default_rng(seed)

    def some(values: np.ndarray) -> pa.Array:
        return pa.array(values, mask=rng.uniform(size=rows) < blanks)

    pay = np.where(rng.uniform(size=rows) < 0.2, 0, rng.integers(0, 400, rows) * 12.5)
    return pa.table(
        {
            "name": [f"person {seed} {i}" for i in range(rows)],
            "age": some(rng.integers(0, 60, rows)),
            "town": some(rng.choice(["north", "south", "west"], rows)),
            "born": some(np.datetime64("1950-01-01") + rng.integers(0, 9000, rows)),
            "pay": some(pay),
            "ill": some(rng.choice(["flu", "Flu", "cough", "arm", "leg"], rows)),
            "note": some(rng.integers(0, 9, rows)),
        }
    )


def stored(folder: Path, table: pa.Table) -> Path:
    path = folder / "people.parquet"
    pq.write_table(table, path)
    return path


def rows_of(release: tn.microdata.Release) -> list[tuple[Any, ...]]:
    """The rows in an order of their own."""
    table = release.table
    return sorted(map(repr, zip(*(column.to_pylist() for column in table.columns), strict=True)))
