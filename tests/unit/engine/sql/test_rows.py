"""All rows in SQL: what is not as declared is counted, in every storage, and nothing is filled in.

Engines run it: `tests/unit/engine/duckdb/test_rows.py`, `tests/unit/engine/postgres/test_rows.py`.
"""

from __future__ import annotations

from typing import Any

import duckdb
import pyarrow as pa
import pytest

from tenue.engine.duckdb.dialect import DUCKDB, storage
from tenue.engine.sql.logical import Held, Stored
from tenue.engine.sql.rows import checks_of, hand_over, read_rows, unfilled
from tenue.engine.storage import read_as
from tenue.schema import Schema

DAY = {"type": "date", "bounds": ["2000-01-01", "2000-12-31"]}
MOMENT = {"type": "datetime", "bounds": ["2000-01-01T00:00:00", "2000-12-31T00:00:00"], "grid": 1}
NUMBER = {"type": "number", "bounds": [0, 10], "missing": 3}


class Statements:
    """A table of one column, in a database of its own."""

    def __init__(self, kind: str, values: list[str]) -> None:
        self.connection = duckdb.connect()
        self.connection.execute(f"CREATE TABLE t (x {kind})")
        for value in values:
            self.connection.execute(f"INSERT INTO t VALUES ({value})")  # noqa: S608

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql).fetchall()

    def arrow(self, sql: str) -> pa.Table:
        return self.connection.sql(sql).to_arrow_table()

    def batches(self, sql: str, size: int) -> list[pa.RecordBatch]:
        return self.arrow(sql).to_batches(size)


def table(column: dict[str, Any], kind: str) -> Stored:
    stated = {"name": "t", "unit": "record", "neighbours": "replace"}
    schema = Schema.from_dict({"table": stated, "columns": {"x": column}})
    held = Held(schema.columns["x"], "x", read_as(schema.columns["x"], storage(kind)))
    return Stored("t", {"x": held}, schema.columns, DUCKDB)


@pytest.mark.parametrize(
    ("column", "kind", "values", "expected"),
    [
        (NUMBER, "DOUBLE", ["-1", "0", "10", "10.1", "'nan'", "'inf'", "NULL"], (0, 1, 3, 6)),
        (NUMBER, "VARCHAR", ["'-1'", "'x'", "'inf'", "'nan'", "NULL", "'7'"], (1, 1, 2, 2)),
        (NUMBER, "BOOLEAN", ["TRUE", "NULL"], (0, 0, 0, None)),
        (DAY, "DATE", ["'1999-12-31'", "'2000-12-31'", "'infinity'", "NULL"], (0, 1, 2, 3)),
        (
            DAY,
            "TIMESTAMP",
            ["'2000-12-31 23:59:59.9'", "'2001-01-01'", "'1999-12-31 23:59:59'"],
            (0, 0, 2, None),
        ),
        (DAY, "VARCHAR", ["'1999-12-31'", "'x'", "'2000-05-05'"], (1, 0, 1, 2)),
        (DAY, "TIMESTAMP_NS", ["'2000-12-31 23:59:59.9'", "'2001-01-01'"], (0, 0, 1, None)),
        (
            MOMENT,
            "TIMESTAMP",
            ["'2000-12-31'", "'2000-12-31 00:00:00.000001'", "'1999-12-31 23:59:59.999999'"],
            (0, 0, 2, None),
        ),
        (MOMENT, "DATE", ["'2000-12-31'", "'2001-01-01'", "'-infinity'"], (0, 1, 2, 3)),
    ],
)
def test_what_is_not_as_declared_is_counted(
    column: dict[str, Any], kind: str, values: list[str], expected: tuple[int, int, int, int | None]
) -> None:
    stored, place = table(column, kind), Statements(kind, values)
    rows = read_rows(stored, place, lambda _: None)
    unreadable, infinite, beyond, first = expected
    found = (rows.unreadable["x"], rows.infinite["x"], rows.beyond["x"], rows.first.get("x"))
    assert found == (unreadable, infinite, beyond, first)
    logical = unfilled(stored)
    checks = checks_of(logical)
    (row,) = place.run(logical.select([*checks.chosen(), "17"]))  # an engine may select more
    validated = checks.validated(row, "digest")
    assert (validated.rows, validated.digest) == (len(values), "digest")
    assert validated.unreadable == ({"x": unreadable} if unreadable else {})
    batches: list[pa.RecordBatch] = []
    handed = hand_over(stored, place, lambda _: None, batches.append, 2)
    assert (handed.rows, handed.beyond) == (len(values), {"x": beyond})
    assert max(batch.num_rows for batch in batches) <= 2
    assert pa.Table.from_batches(batches).column(0).to_pylist() == rows.logical["x"].to_pylist()


def test_nothing_is_filled_in() -> None:
    """The mutant keeps the declared `missing`: the table would be published with 3 for NULL."""
    rows = read_rows(table(NUMBER, "DOUBLE"), Statements("DOUBLE", ["NULL", "4"]), lambda _: None)
    assert rows.logical["x"].to_pylist() == [None, 4]
