# ruff: noqa: S608 - tests write their own SQL
"""A fraction is seen just where no grid was stated and the storage can have one."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from tenue.engine.duckdb.dialect import DUCKDB, storage
from tenue.engine.sql.rounding import rounded_where
from tenue.engine.storage import Storage, Written
from tenue.schema import Column, Schema

TABLE = {"name": "t", "unit": "record", "neighbours": "replace"}


def column(**stated: Any) -> Column:
    stated = {"type": "number", "bounds": [0, 10], **stated}
    return Schema.from_dict({"table": TABLE, "columns": {"x": stated}}).column("x")


def counted(stored: Storage, kind: str, values: list[str]) -> int:
    condition = rounded_where(column(), stored, "x", DUCKDB)
    rows = ", ".join(f"(CAST({value} AS {kind}))" for value in values)
    sql = f"SELECT count_if({condition}), count_if(({condition}) IS NULL) FROM (VALUES {rows}) t(x)"
    with duckdb.connect() as connection:
        ((many, unknown),) = connection.execute(sql).fetchall()
    assert unknown == 0
    return int(many)


def test_values_with_a_fraction_are_counted() -> None:
    values = ["1", "1.5", "-0.25", "NULL", "'nan'", "'inf'", "1e300"]
    assert counted(storage("DOUBLE"), "DOUBLE", values) == 2
    assert counted(storage("FLOAT"), "FLOAT", values[:-1]) == 2
    assert counted(storage("DECIMAL(9,2)"), "DECIMAL(9,2)", ["1.00", "1.01", "NULL"]) == 1
    assert counted(Written(), "VARCHAR", ["'1.0'", "'1.5'", "'x'", "' 2.5 '", "NULL"]) == 2


@pytest.mark.parametrize("kind", ["BIGINT", "BOOLEAN", "DECIMAL(9,0)", "DATE"])
def test_whole_numbers_have_none(kind: str) -> None:
    assert rounded_where(column(), storage(kind), "x", DUCKDB) is None


def test_a_stated_grid_is_no_surprise() -> None:
    assert rounded_where(column(grid=1), storage("DOUBLE"), "x", DUCKDB) is None
