"""The engine refuses by schema alone, fails with fixed words, and says nothing of rows."""

from __future__ import annotations

import threading
import traceback
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tenue.engine.contract import FAULT
from tenue.engine.duckdb.engine import DuckDB
from tenue.engine.request import Group, Measure, Request
from tenue.engine.source.location import Files, Frame, Relation
from tenue.errors import EngineFault, InvalidTable
from tenue.schema import Schema

TABLE = {"name": "t", "unit": "record", "neighbours": "replace"}
SCHEMA = Schema.from_dict(
    {
        "table": TABLE,
        "columns": {
            "x": {"type": "number", "bounds": [0, 10]},
            "c": {"type": "category", "categories": ["a"]},
        },
    }
)
TOTAL = Request((Measure("rows"), Measure("total", "x")))


def everything_said(error: BaseException) -> str:
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        following = error.__cause__ or error.__context__
        if following is None:
            break
        error = following
    return "".join(
        "".join(traceback.format_exception(part)) + repr(part.__dict__) for part in chain
    )


def test_a_failure_has_one_text_and_no_cause() -> None:
    failing_sql = "SELECT CAST('canary row ' || range AS INTEGER) AS x, 'a' AS c FROM range(3)"
    with duckdb.connect() as connection:
        failing = connection.sql(failing_sql)
        engine = DuckDB(Relation(failing), SCHEMA)
        with pytest.raises(EngineFault) as fault:
            engine.measure(TOTAL)
    assert str(fault.value) == FAULT
    assert fault.value.__cause__ is None
    assert fault.value.__context__ is None
    assert "canary row" not in everything_said(fault.value)
    # on a connection of its own: DuckDB's default one is shared with whatever ran before
    with duckdb.connect() as another, pytest.raises(duckdb.Error, match="canary row"):
        another.sql(failing_sql).fetchall()


def test_a_file_that_vanishes_or_breaks_is_the_same_failure(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    said = set()
    for damage in ("gone", "cut", "other"):
        pq.write_table(pa.table({"x": list(range(100)), "c": ["a"] * 100}), path)
        engine = DuckDB(Files("parquet", (path,)), SCHEMA)
        assert engine.measure(TOTAL)
        if damage == "gone":
            path.unlink()
        elif damage == "cut":
            path.write_bytes(path.read_bytes()[:50])
        else:
            pq.write_table(pa.table({"x": ["canary"] * 100, "c": ["a"] * 100}), path)
        with pytest.raises(EngineFault) as fault:
            engine.measure(TOTAL)
        said.add(everything_said(fault.value).rpartition("\n")[0].rpartition("\n")[2])
        assert "canary" not in everything_said(fault.value)
        engine.close()
    assert len(said) == 1


def test_a_closed_engine_does_not_answer() -> None:
    engine = DuckDB(Frame(pa.table({"x": [1], "c": ["a"]})), SCHEMA)
    assert engine.measure(TOTAL) == {(): (1, 1)}
    engine.close()
    engine.close()
    with pytest.raises(EngineFault, match=FAULT):
        engine.measure(TOTAL)


def test_an_absent_column_is_refused_by_its_declared_name() -> None:
    with pytest.raises(InvalidTable, match="no column `c`") as refused:
        DuckDB(Frame(pa.table({"X": [1], "canary": ["a"]})), SCHEMA)
    assert refused.value.column == "c"
    assert "canary" not in str(refused.value)


def test_a_number_stored_as_text_is_read_like_a_field_of_a_file() -> None:
    texts = pa.array(["1", " 2 ", "canary", None, "inf", ""], pa.string())
    for stored in (texts, texts.dictionary_encode(), texts.cast(pa.string_view())):
        engine = DuckDB(Frame(pa.table({"x": stored, "c": ["a"] * 6})), SCHEMA)
        (measured,) = engine.measure(Request((Measure("present", "x"),))).values()
        assert measured == (3,)
        engine.close()


def test_a_column_that_no_integer_holds_is_refused_by_name() -> None:
    schema = SCHEMA.replace(columns={"x": {"bounds": [0, 1], "grid": 0.01}})
    stored = pa.array([1], pa.decimal128(38, 37))
    with pytest.raises(InvalidTable, match="`x` cannot be computed exactly"):
        DuckDB(Frame(pa.table({"x": stored, "c": ["a"]})), schema)


def test_a_column_of_nothing_is_missing_everywhere() -> None:
    engine = DuckDB(Frame(pa.table({"x": pa.nulls(3), "c": pa.nulls(3)})), SCHEMA)
    asked = Request((Measure("rows"), Measure("present", "x"), Measure("present", "c")))
    assert engine.measure(asked) == {(): (3, 0, 0)}
    assert engine.measure(Request((Measure("rows"),), keys=(Group("c", 1),))) == {}
    engine.close()


def test_undeclared_columns_cannot_break_a_question(tmp_path: Path) -> None:
    odd = pa.array([[1, 2], None], pa.list_(pa.int64()))
    table = pa.table({"x": [1, 2], "c": ["a", "b"], "odd": odd, "C1": ["canary", None]})
    engine = DuckDB(Frame(table), SCHEMA)
    assert engine.measure(TOTAL) == {(): (2, 3)}
    engine.close()


def test_many_threads_may_ask() -> None:
    engine = DuckDB(Frame(pa.table({"x": [1] * 1000, "c": ["a"] * 1000})), SCHEMA)
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(engine.measure(TOTAL))) for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [{(): (1000, 1000)}] * 16
    engine.close()


def test_hugeint_columns_of_a_database(tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (x HUGEINT, c VARCHAR)")
        connection.execute("INSERT INTO t VALUES (170141183460469231731687303715884105727, 'a')")
        connection.execute("INSERT INTO t VALUES (-170141183460469231731687303715884105728, 'a')")
        engine = DuckDB(Relation(connection.table("t")), SCHEMA)
        assert engine.measure(TOTAL) == {(): (2, 10)}


@pytest.mark.parametrize("setting", ["integer_division = true", "default_collation = 'nocase'"])
def test_settings_of_a_borrowed_connection_change_nothing(setting: str) -> None:
    schema = SCHEMA.replace(
        columns={
            "x": {"grid": 2.5},
            "half": {"type": "number", "expression": "x / 2", "bounds": [0, 5], "grid": 0.25},
        }
    )
    asked = Request((Measure("total", "x"), Measure("total", "half"), Measure("present", "c")))
    found = []
    for each in ("threads = 1", setting):
        with duckdb.connect() as connection:
            connection.execute(f"SET {each}")
            connection.execute("CREATE TABLE t AS SELECT 3.8e0 AS x, 'A' AS c")
            found.append(DuckDB(Relation(connection.table("t")), schema).measure(asked))
    assert found == [{(): (2, 10, 0)}] * 2
