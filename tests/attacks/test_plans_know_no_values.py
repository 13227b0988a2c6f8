"""How a question runs depends on the schema and on how values are stored, never on the values.

DuckDB plans by the least and greatest values of a file, and by whether one is missing: a comparison
that all pass is left out, a count of a column becomes one of rows. The time of a question would
tell one row.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tenue.engine.computed_column import Within
from tenue.engine.duckdb.engine import DuckDB
from tenue.engine.duckdb.sandbox import SETTINGS
from tenue.engine.open import open_engine
from tenue.engine.request import Group, Measure, Request
from tenue.engine.sql.statement import write
from tenue.schema import Schema

KINDS = ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UBIGINT", "DOUBLE", "FLOAT", "DECIMAL(9,2)"]
CODES = [str(i) for i in range(20)]
SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
        "columns": {
            "x": {"type": "number", "bounds": [0, 100], "grid": 1},
            "k": {"type": "category", "categories": CODES},
        },
    }
)
MEASURES = (Measure("rows"), Measure("present", "x"), Measure("total", "x"))
REQUESTS = [
    Request(MEASURES),
    Request(MEASURES, keys=(Group("k", 20),)),
    Request((Measure("rows"),), keys=(Group("k", 20),), where=Within("x", 5, 90)),
]
LAST_ROWS = ["(50, 3)", "(NULL, 3)", "(120, 3)", "(50, NULL)", "(50, 77)"]


def plans(folder: Path, kind: str, last: str) -> list[str]:
    """How DuckDB runs each request on a table of which one row may be another."""
    path = folder / "t.parquet"
    with duckdb.connect() as connection:
        rows = f"SELECT i % 90, i % 20 FROM range(3000) r(i) UNION ALL VALUES {last}"  # noqa: S608
        connection.execute(
            f"COPY (SELECT CAST(x AS {kind}) AS x, CAST(k AS INTEGER) AS k "  # noqa: S608
            f"FROM ({rows}) AS t(x, k)) TO '{path}' (FORMAT parquet)"
        )
    engine: Any = open_engine(path, SCHEMA)
    assert isinstance(engine, DuckDB)
    found = []
    try:
        for request in REQUESTS:
            sql = write(request, engine._table).sql
            ((_, plan),) = engine._session.run(f"EXPLAIN {sql}")  # type: ignore[union-attr]
            found.append(re.sub(r"~?[0-9,]+ rows?| ", "", plan))
    finally:
        engine.close()
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_one_row_changes_no_plan(tmp_path: Path, kind: str) -> None:
    first, *others = (plans(tmp_path, kind, last) for last in LAST_ROWS)
    assert all(other == first for other in others)


def test_statistics_would_change_the_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(SETTINGS, "disabled_optimizers")
    first, *others = (plans(tmp_path, "BIGINT", last) for last in LAST_ROWS)
    assert any(other != first for other in others)
