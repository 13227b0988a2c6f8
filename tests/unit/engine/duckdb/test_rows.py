"""Every row as whole numbers, and what in them is not as declared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tenue.engine.contract import Rows
from tenue.engine.duckdb.rows import open_whole
from tenue.engine.open import open_engine
from tenue.engine.source.location import Database, Files, Relation
from tenue.errors import InvalidTable
from tenue.schema import Schema

SCHEMA = Schema.from_dict(
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
    rows = read_rows(FRAME, SCHEMA)
    expect(rows.logical.to_pydict())
    assert rows.identifiers.to_pydict() == {"id": ["x", "y", "x", "w"]}
    assert rows.unreadable == {"Age": 0, "kind": 1, "day": 0, "ok": 0}
    assert rows.infinite == {"Age": 1, "kind": 0, "day": 0, "ok": 0}
    assert rows.types["Age"] == pa.float64()
    assert rows.types["ok"] == pa.bool_()


def test_a_csv_file_becomes_the_same_numbers(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(CSV)
    rows = read_rows(path, SCHEMA)
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
    rows = read_rows(path, SCHEMA)
    expect(rows.logical.to_pydict())
    assert rows.unreadable["kind"] == 1
    assert rows.infinite["Age"] == 1
    with duckdb.connect(str(tmp_path / "people.db")) as connection:
        connection.register("given", FRAME)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    expect(read_rows(f"duckdb://{tmp_path / 'people.db'}", SCHEMA).logical.to_pydict())


def test_a_relation_of_the_holders_own_is_read() -> None:
    with duckdb.connect() as connection:
        connection.register("people", FRAME)
        expect(read_rows(connection, SCHEMA).logical.to_pydict())
        expect(read_rows(connection.table("people"), SCHEMA).logical.to_pydict())


@pytest.mark.parametrize("line", ["1,a\n", "1,a,x,2020-01-05,yes,more\n"])
def test_a_line_that_is_no_row_is_refused_not_skipped(tmp_path: Path, line: str) -> None:
    path = tmp_path / "people.csv"
    path.write_text(CSV + line)
    with pytest.raises(InvalidTable) as refused:
        read_rows(path, SCHEMA)
    assert "2020-01-05" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__context__ is None


@pytest.mark.parametrize("name", ["people.parquet", "people.csv", "people.json"])
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    with pytest.raises(InvalidTable):
        read_rows(path, SCHEMA)


def test_values_beyond_the_bounds_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(CSV)
    for source in (FRAME, path):
        beyond = read_rows(source, SCHEMA).beyond
        assert beyond == {"Age": 2, "kind": 0, "day": 1, "ok": 0}
    edges = pd.DataFrame({"age": [0.0, 100.0, np.nan, 100.1], "kind": "a", "id": 1, "ok": True})
    edges["day"] = pd.to_datetime(
        format="mixed",
        arg=["2020-01-01", "2021-01-01 23:59:59", "2021-01-02", "2019-12-31 23:59:59"],
    )
    assert read_rows(edges, SCHEMA).beyond == {"Age": 1, "kind": 0, "day": 2, "ok": 0}


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
