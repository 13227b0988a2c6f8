"""Every kind of table is read whole or refused, and a refusal quotes no row."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tenue as tn
from tenue.errors import InvalidArgument, InvalidTable, Refused
from tenue.evaluate.rows import open_rows
from unit.evaluate.stated import AGE, ILL, schema

QUOTED = "a very private illness"
PLAIN = {"Age": [30, 40, 40], "ill": ["flu", None, QUOTED]}


class Stream:
    """Something with the Arrow PyCapsule interface that can be read once."""

    def __init__(self, table: pa.Table) -> None:
        self._reader: Any = table.to_reader()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader, self._reader = self._reader, None
        return reader.__arrow_c_stream__(requested_schema)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Any]:
    pq.write_table(pa.table(PLAIN), tmp_path / "t.parquet")
    text = f"Age,ill\n30,flu\n40,\n40,{QUOTED}\n"
    (tmp_path / "t.csv").write_text(text)
    (tmp_path / "semicolon.csv").write_text("\ufeff" + text.replace(",", ";"))
    (tmp_path / "t.tsv").write_text(text.replace(",", "\t"))
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.encode()))
    with duckdb.connect(str(tmp_path / "t.db")) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT * FROM read_parquet(?)", [str(tmp_path / "t.parquet")]
        )
    return {path.name: path for path in tmp_path.iterdir()}


def sources(files: dict[str, Any]) -> list[Any]:
    table = pa.table(PLAIN)
    return [
        table,
        Stream(table),
        pd.DataFrame(PLAIN),
        pl.DataFrame(PLAIN),
        pl.DataFrame(PLAIN).lazy(),
        files["t.parquet"],
        str(files["t.csv"]),
        files["semicolon.csv"],
        files["t.tsv"],
        files["t.csv.gz"],
        f"duckdb://{files['t.db']}#people",
        duckdb.connect().from_arrow(table),
    ]


def test_every_source_gives_the_same_columns(files: dict[str, Any]) -> None:
    for source in sources(files):
        rows = open_rows(source)
        assert rows.names == ("Age", "ill")
        assert rows.find("AGE") == rows.spelled("age") == "Age"
        read = rows.read(["ill", "Age"])
        assert list(read) == ["ill", "Age"]
        ages = read["Age"].to_pylist()
        assert [int(age) for age in ages] == PLAIN["Age"]
        assert rows.written == isinstance(ages[0], str)
        assert read["ill"].to_pylist() == PLAIN["ill"]


def test_a_matrix_has_numbered_columns() -> None:
    rows = open_rows(np.array([[1, 2], [3, 4]]))
    assert rows.names == ("0", "1")
    assert rows.read([rows.spelled(1)])["1"].to_pylist() == [2, 4]
    for wrong in ([[1, 2], [3]], [1, 2], np.array([["a"]]), []):
        with pytest.raises(InvalidTable):
            open_rows(wrong)


@pytest.mark.parametrize(
    "text",
    [
        f"a,b\n1,2\n{QUOTED}\n",
        f"a,b\n1,2\n1,2,{QUOTED}\n",
        f'a,b\n1,"{QUOTED}\n',
    ],
)
def test_a_line_that_is_no_row_is_never_skipped(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.csv"
    path.write_text(text)
    with pytest.raises(InvalidTable) as refused:
        open_rows(path).read(["a"])
    assert QUOTED not in str(refused.value)
    assert refused.value.__context__ is None


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "broken.csv"
    path.write_bytes(b"a,b\n1,\xff\xfe\n")
    with pytest.raises(InvalidTable):
        open_rows(path).read(["b"])


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text("[]")
    (tmp_path / "bad.parquet").write_text(QUOTED)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "two.csv").write_text("a,A\n1,2\n")
    (tmp_path / "one_a.csv").write_text("a\n1\n")
    (tmp_path / "one_b.csv").write_text("b\n1\n")
    for name in ("t.json", "bad.parquet", "empty.csv", "two.csv", "none.csv", "one_*.csv"):
        with pytest.raises(InvalidTable) as refused:
            open_rows(tmp_path / name)
        assert QUOTED not in str(refused.value)
    for wrong in (
        object(),
        7,
        pd.DataFrame([[1, 2]], columns=["a", "A"]),
    ):
        with pytest.raises(InvalidTable):
            open_rows(wrong).read(["a"])
    with pytest.raises(Refused):
        open_rows(None)
    with pytest.raises(InvalidTable):
        open_rows(pd.DataFrame([[1, 2]]))  # columns that have numbers for names


def test_no_rows_and_unknown_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidTable, match="no rows"):
        open_rows(pa.table({"a": pa.array([], pa.int64())})).read(["a"])
    (tmp_path / "t.csv").write_text("a,b\n")
    with pytest.raises(InvalidTable, match="no rows"):
        open_rows(tmp_path / "t.csv").read(["a"])
    with pytest.raises(InvalidArgument, match="Did you mean `income`"):
        open_rows(pa.table({"income": [1]})).spelled("incom")
    for wrong in (None, True, 3.5, 7):
        with pytest.raises(InvalidArgument):
            open_rows(pa.table({"income": [1]})).spelled(wrong)


def test_a_stream_is_read_once_and_used_twice() -> None:
    stated = schema({"age": AGE, "ill": ILL})
    rows = pa.table({"age": [1, 2], "ill": ["flu", "none"]})
    found = tn.evaluate.risk(rows, Stream(rows), stated)
    assert found == tn.evaluate.risk(rows, rows, stated)
    assert tn.evaluate.score(Stream(rows), rows, rows).value == 1


@pytest.mark.any_draw("modules are loaded whatever is drawn")
def test_the_room_is_light_until_it_is_used() -> None:
    heavy = "scipy pandas polars pyarrow numba duckdb narwhals sqlglot typer"
    code = (
        "import sys, tenue; tenue.evaluate.check;"
        f"print([m for m in {heavy.split()!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
