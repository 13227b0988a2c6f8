"""Columns of any table are read by place, and a line that is no row is never skipped."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tenue.engine.duckdb.whole_table import open_whole
from tenue.engine.source.location import Database, Files, Relation
from tenue.errors import InvalidTable


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


def test_only_the_columns_asked_for_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,\xff\xfe\n2,x\n")
    _, load = open_whole(Files("csv", (path,)))
    assert load(["a"]).column(0).to_pylist() == ["1", "2"], "b is nobody's business here"
    with pytest.raises(InvalidTable, match="Line 2 has bytes that are not UTF-8"):
        load(["b"])


def test_what_cannot_be_read_is_refused_without_a_value(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\ncanary\n")
    _, load = open_whole(Files("csv", (path,)))
    with pytest.raises(InvalidTable, match="Line 3 has too many or too few values") as refused:
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
