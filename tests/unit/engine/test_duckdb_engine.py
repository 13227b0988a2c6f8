"""The engine that comes with Tenue."""

from __future__ import annotations

import threading
import traceback
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from parquet_lies import spliced
from tenue.engine.contract import FAULT, Rows
from tenue.engine.duckdb.dialect import DUCKDB
from tenue.engine.duckdb.engine import DuckDB, open_tally, open_whole
from tenue.engine.duckdb.sandbox import SETTINGS
from tenue.engine.open import open_engine
from tenue.engine.request import Group, Measure, Request
from tenue.engine.source import count_queries as statements
from tenue.engine.source.location import Database, Files, Frame, Relation, locate
from tenue.errors import EngineFault, InvalidTable
from tenue.schema import Schema

MEMORY = 1 << 28


def located(source: object) -> Files | Database | Relation:
    found = locate(source, "table")
    assert isinstance(found, Files | Database | Relation)
    return found


def test_a_line_that_is_no_row_is_refused_without_a_word_of_it(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\ncanary\n3,4\n")
    with (
        open_tally(located(path), MEMORY) as counted,
        pytest.raises(InvalidTable, match="Line 3") as refused,
    ):
        counted.sizes(["a"])
    assert "canary" not in str(refused.value)


def test_a_file_that_changes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 9)
    with open_tally(located(path), MEMORY) as counted:
        assert [part.tolist() for part in counted.sizes(["a"])] == [[9], [1]]
        path.write_text("a,b\n" + "1,2\n" * 8 + "1,3\n")
        with pytest.raises(InvalidTable, match="changed while it was read"):
            counted.sizes(["a"])


def test_counts_come_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "BATCH", 2048)
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": range(10_000)}), path)
    with open_tally(located(path), MEMORY) as counted:
        parts = list(counted.tally(["a"]))
    assert len(parts) > 1
    assert pa.concat_tables(parts).column("a").to_pylist() == list(range(10_000))


def test_statistics_that_lie_are_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant believes them: two zeros are one value, for no zero is there, and k doubles.

    Either of two means is enough: to hide them, or to plan without them.
    """
    path, many = tmp_path / "t.parquet", 2000
    zeros, other = [0.0, -0.0] * many, [1.0, 2.0] * many
    spliced(path, data=pa.table({"x": zeros}), footer=pa.table({"x": other}))
    with open_tally(located(path), MEMORY) as counted:
        assert [part.tolist() for part in counted.sizes(["x"])] == [[many], [2]]
    whole = [i % 7 * 1_000_003 for i in range(many)]
    spliced(path, data=pa.table({"x": whole}), footer=pa.table({"x": [1] * many}))
    with open_tally(located(path), MEMORY) as counted:
        assert counted.different("x") == 7
    spliced(path, data=pa.table({"x": zeros}), footer=pa.table({"x": other}))
    monkeypatch.setattr(type(DUCKDB), "stored", lambda self, name, kind: name)
    with open_tally(located(path), MEMORY) as counted:
        assert [part.tolist() for part in counted.sizes(["x"])] == [[many], [2]]
    monkeypatch.delitem(SETTINGS, "disabled_optimizers")
    with open_tally(located(path), MEMORY) as counted:
        assert [part.tolist() for part in counted.sizes(["x"])] == [[2 * many], [1]]


def test_types_of_a_database_are_counted_as_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT CAST(printf('%032x', i % 2) AS UUID) AS u,"
            " CAST(i % 3 AS HUGEINT) AS h, CAST(i % 2 AS DECIMAL(9, 2)) AS d,"
            " CAST(['b', 'a'][1 + i % 2] AS ENUM ('b', 'a')) AS e, [i] AS l FROM range(6) t(i)"
        )
    with open_tally(located(f"duckdb://{path}#t"), MEMORY) as counted:
        assert [name for name in counted.names if counted.can_tell(name)] == ["u", "h", "d", "e"]
        for name, many in (("u", 2), ("h", 3), ("d", 2), ("e", 2)):
            assert counted.different(name) == many
            (found,) = counted.tally([name])
            assert found.schema.field(name).type == counted.load([name]).schema.field(name).type


def test_the_connection_of_a_relation_is_left_as_it_was() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT i % 2 AS a FROM range(6) t(i)")
    with open_tally(located(connection.table("t")), MEMORY) as counted:
        assert counted.different("a") == 2
        connection.execute("INSERT INTO t VALUES (7)")
        assert counted.different("a") == 3
    assert connection.execute("SELECT COUNT(*) FROM t").fetchall() == [(7,)]


def test_what_was_put_on_disk_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [1]}), path)
    with open_tally(located(path), MEMORY):
        assert len(list(tmp_path.glob("tenue-scratch-*"))) == 1
    assert list(tmp_path.glob("tenue-scratch-*")) == []


def test_counts_that_do_not_fit_are_refused_as_such(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [f"{i:0200d}" for i in range(200_000)]}), path)
    with open_tally(located(path), 4 << 20) as counted, pytest.raises(InvalidTable, match="1 GiB"):
        list(counted.tally(["a"]))


# -- Every row as whole numbers, and what in them is not as declared -------------------------------

ROWS_SCHEMA = Schema.from_dict(
    {
        "table": {"name": "people", "unit": "record", "neighbours": "replace"},
        "columns": {
            "Age": {"type": "number", "bounds": [0, 100], "grid": 0.5, "missing": 7},
            "kind": {"type": "category", "categories": ["a", "b"], "missing": "b"},
            "id": {"type": "identifier"},
            "day": {"type": "date", "bounds": ["2020-01-01", "2021-01-01"]},
            "ok": {"type": "boolean"},
            "twice": {"type": "number", "bounds": [0, 200], "expression": "Age * 2"},
        },
    }
)
FRAME = pd.DataFrame(
    {
        "age": [1.26, np.nan, np.inf, -3.0],
        "kind": ["a", "z", None, "b"],
        "id": ["x", "y", "x", "w"],
        "day": pd.to_datetime(["2020-01-05", None, "2020-03-01", "2030-01-01"]),
        "ok": [True, False, True, False],
        "secret": [1, 2, 3, 4],
    }
)
CSV = """\
age,kind,id,day,ok
1.26,a,x,2020-01-05,yes
x,z,y,,no
inf,,x,2020-03-01,1
-3,b,w,2030-01-01,0
"""


def read_rows(source: object, schema: Schema) -> Rows:
    engine = open_engine(source, schema)
    try:
        return engine.read_all()
    finally:
        engine.close()


def expect(logical: dict[str, Any]) -> None:
    assert logical == {
        "Age": [3, None, 200, 0],  # rounded to the grid, clamped, and nothing filled in
        "kind": [0, None, None, 1],
        "day": [4, None, 60, 366],
        "ok": [1, 0, 1, 0],
    }


def test_a_frame_becomes_whole_numbers() -> None:
    rows = read_rows(FRAME, ROWS_SCHEMA)
    expect(rows.logical.to_pydict())
    assert rows.identifiers.to_pydict() == {"id": ["x", "y", "x", "w"]}
    assert rows.unreadable == {"Age": 0, "kind": 1, "day": 0, "ok": 0}
    assert rows.infinite == {"Age": 1, "kind": 0, "day": 0, "ok": 0}
    assert rows.types["Age"] == pa.float64()
    assert rows.types["ok"] == pa.bool_()


def test_a_csv_file_becomes_the_same_numbers(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(CSV)
    rows = read_rows(path, ROWS_SCHEMA)
    expect(rows.logical.to_pydict())
    assert rows.unreadable == {"Age": 1, "kind": 1, "day": 0, "ok": 0}
    assert rows.infinite["Age"] == 1
    assert set(rows.types.values()) == {None}


def test_json_and_a_database_become_the_same_numbers(tmp_path: Path) -> None:
    path = tmp_path / "people.jsonl"
    path.write_text(
        '{"Age": 1.26, "kind": "a", "id": "x", "day": "2020-01-05", "ok": true}\n'
        '{"kind": "z", "id": "y", "ok": false}\n'
        '{"Age": 1e999, "kind": null, "id": "x", "day": "2020-03-01", "ok": true}\n'
        '{"Age": -3, "kind": "b", "id": "w", "day": "2030-01-01", "ok": false}\n'
    )
    rows = read_rows(path, ROWS_SCHEMA)
    expect(rows.logical.to_pydict())
    assert rows.unreadable["kind"] == 1
    assert rows.infinite["Age"] == 1
    with duckdb.connect(str(tmp_path / "people.db")) as connection:
        connection.register("given", FRAME)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    expect(read_rows(f"duckdb://{tmp_path / 'people.db'}", ROWS_SCHEMA).logical.to_pydict())


def test_a_relation_of_the_holders_own_is_read() -> None:
    with duckdb.connect() as connection:
        connection.register("people", FRAME)
        expect(read_rows(connection, ROWS_SCHEMA).logical.to_pydict())
        expect(read_rows(connection.table("people"), ROWS_SCHEMA).logical.to_pydict())


@pytest.mark.parametrize("line", ["1,a\n", "1,a,x,2020-01-05,yes,more\n"])
def test_a_line_that_is_no_row_is_refused_not_skipped(tmp_path: Path, line: str) -> None:
    path = tmp_path / "people.csv"
    path.write_text(CSV + line)
    with pytest.raises(InvalidTable) as refused:
        read_rows(path, ROWS_SCHEMA)
    assert "2020-01-05" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__context__ is None


@pytest.mark.parametrize("name", ["people.parquet", "people.csv", "people.json"])
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    with pytest.raises(InvalidTable):
        read_rows(path, ROWS_SCHEMA)


def test_values_beyond_the_bounds_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(CSV)
    for source in (FRAME, path):
        beyond = read_rows(source, ROWS_SCHEMA).beyond
        assert beyond == {"Age": 2, "kind": 0, "day": 1, "ok": 0}
    edges = pd.DataFrame({"age": [0.0, 100.0, np.nan, 100.1], "kind": "a", "id": 1, "ok": True})
    edges["day"] = pd.to_datetime(
        format="mixed",
        arg=["2020-01-01", "2021-01-01 23:59:59", "2021-01-02", "2019-12-31 23:59:59"],
    )
    assert read_rows(edges, ROWS_SCHEMA).beyond == {"Age": 1, "kind": 0, "day": 2, "ok": 0}


def test_names_that_sql_would_not_take_are_columns_too(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(',"a ""b""",c;d\n1,2,3\n4,,6\n')
    names, load = open_whole(Files("csv", (path,)))
    assert names == ("", 'a "b"', "c;d")
    assert [column.to_pylist() for column in load(['a "b"', ""]).columns] == [
        ["2", None],
        ["1", "4"],
    ]


def test_every_kind_of_table_is_read(tmp_path: Path) -> None:
    table = pa.table({"X": [1, 2], "y": ["a", None]})
    pq.write_table(table, tmp_path / "t.parquet")
    with duckdb.connect(str(tmp_path / "t.db")) as connection:
        connection.register("given", table)
        connection.execute('CREATE TABLE "a table" AS SELECT * FROM given')
    for source in (
        Files("parquet", (tmp_path / "t.parquet",)),
        Database(tmp_path / "t.db", ("a table",)),
        Relation(duckdb.connect().from_arrow(table)),
    ):
        names, load = open_whole(source)
        assert names == ("X", "y")
        assert [column.to_pylist() for column in load(["y", "X"]).columns] == [["a", None], [1, 2]]


def test_a_file_is_whole_whichever_columns_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,\xff\xfe\n2,x\n")
    _, load = open_whole(Files("csv", (path,)))
    for column in ("a", "b"):
        with pytest.raises(InvalidTable, match=r"Line 2 of t\.csv has bytes that are not UTF-8"):
            load([column])


def test_a_file_that_changes_between_two_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    _, load = open_whole(Files("csv", (path,)))
    assert load(["a"]).num_rows == 1
    path.write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(InvalidTable, match=r"t\.csv changed while it was read"):
        load(["b"])


def test_what_cannot_be_read_is_refused_without_a_value(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\ncanary\n")
    _, load = open_whole(Files("csv", (path,)))
    with pytest.raises(InvalidTable, match=r"Line 3 of t\.csv has too many or too few") as refused:
        load(["a"])
    assert "canary" not in str(refused.value)
    assert refused.value.__context__ is None
    (tmp_path / "t.parquet").write_bytes(b"canary")
    with pytest.raises(InvalidTable, match="could not be opened") as refused:
        open_whole(Files("parquet", (tmp_path / "t.parquet",)))
    assert refused.value.__context__ is None


def test_files_of_one_table_have_one_first_line(tmp_path: Path) -> None:
    paths = (tmp_path / "1.csv", tmp_path / "2.csv")
    for path, names in zip(paths, ("a,b", "b,a"), strict=True):
        path.write_text(f"{names}\n1,2\n")
    with pytest.raises(InvalidTable, match="different first lines"):
        open_whole(Files("csv", paths))


# -- The engine refuses by schema alone, fails with fixed words, and says nothing of rows ----------

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
