"""Every row is read once before anybody asks, and whatever could fail later fails here."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tenue.engine.contract import Validated
from tenue.engine.open import open_engine
from tenue.errors import InvalidTable
from tenue.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "n": {"type": "number", "bounds": [0, 1000], "missing": 7},
            "c": {"type": "category", "categories": ["a", "b"]},
            "at": {"type": "datetime", "bounds": ["2020-01-01T00:00:00", "2021-01-01T00:00:00"]},
            "ok": {"type": "boolean"},
            "id": {"type": "identifier"},
        },
    }
)
HEAD = b"n,c,at,ok,id,other\n"
ROW = b"1,a,2020-05-01 12:00:00,yes,p1,x\n"


def validated(source: Any, schema: Schema = SCHEMA) -> Validated:
    engine = open_engine(source, schema)
    try:
        return engine.validate()
    finally:
        engine.close()


def refusal(source: Any) -> str:
    with pytest.raises(InvalidTable) as refused:
        validated(source)
    assert "canary" not in str(refused.value)
    assert refused.value.__context__ is None
    return refused.value.what


def file(folder: Path, name: str, data: bytes) -> Path:
    (folder / name).write_bytes(data)
    return folder / name


def table(**columns: Any) -> pa.Table:
    plain = {
        "n": pa.array([1, 2]),
        "c": pa.array(["a", "b"]),
        "at": pa.array([0, 1], pa.timestamp("us")),
        "ok": pa.array([True, False]),
        "id": pa.array(["p", "q"]),
    }
    return pa.table({**plain, **columns})


def test_what_cannot_be_read_as_declared_is_counted(tmp_path: Path) -> None:
    odd = b"five,c,noon,maybe,p2,x\nnan,b,,,p3,x\n,,infinity,no,p4,\n5 kg,a,2020-13-01,t,,x\n"
    found = validated(file(tmp_path, "t.csv", HEAD + ROW * 100 + odd))
    assert found.rows == 104
    assert found.unreadable["n"] == 2, "NaN is missing, and what is missing is not unreadable"
    assert (found.unreadable["c"], found.unreadable["ok"]) == (1, 1)
    assert validated(file(tmp_path, "t.csv", HEAD + ROW)).unreadable == {}
    path = tmp_path / "t.parquet"
    pq.write_table(table(c=pa.array(["a", "x"]), n=pa.array([1.5, float("nan")])), path)
    assert validated(path).unreadable == {"c": 1}


def test_fractions_that_no_grid_keeps_are_counted(tmp_path: Path) -> None:
    odd = b"1.5,a,2020-01-01,t,p2,x\n2.0,a,2020-01-01,t,p3,x\nnan,a,2020-01-01,t,p4,x\n"
    assert validated(file(tmp_path, "t.csv", HEAD + ROW + odd)).rounded == {"n": 1}
    assert validated(file(tmp_path, "t.csv", HEAD + ROW)).rounded == {}
    path = tmp_path / "t.parquet"
    pq.write_table(table(n=pa.array([1.5, float("nan")])), path)
    assert validated(path).rounded == {"n": 1}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'1,a,,,p,"canary" Smith\n', "Line 52 of t.csv has something behind a closing quote."),
        (b'1,a,,,p,"canary\n', "Line 52 of t.csv opens a quote that is never closed."),
        (b"1,a,,,p\n", "Line 52 of t.csv has too many or too few values."),
        (
            b"1,a,,,p,canary\r2,b,,,q,\n",
            "Line 52 of t.csv has a carriage return that ends no line.",
        ),
        (b"1,a,,,p,canary\xff\n", "Line 52 of t.csv has bytes that are not UTF-8."),
    ],
)
def test_a_line_that_is_no_row_is_refused_though_nobody_declared_it(
    tmp_path: Path, line: bytes, said: str
) -> None:
    assert refusal(file(tmp_path, "t.csv", HEAD + ROW * 50 + line + ROW * 50)) == said
    zipped = gzip.compress(HEAD + ROW * 50 + line + ROW * 50)
    assert refusal(file(tmp_path, "t.csv.gz", zipped)) == said.replace("t.csv", "t.csv.gz")


@pytest.mark.parametrize(
    "broken",
    [
        b'{"n": canary}',
        b'{"n": "\\ud800", "other": "canary"}',
        b'{"other": "\\udc00"}',
        b'{"other": "canary\xff"}',
        b'{"n": 1, "n": 2}',
        b'["canary"]',
        b"5",
        b'{"n": 1',
    ],
)
def test_json_that_is_not_well_formed_is_refused_by_place(tmp_path: Path, broken: bytes) -> None:
    good = b'{"n": 1, "c": "a"}'
    lines = file(tmp_path, "t.jsonl", b"\n".join([good, b"", good, broken, good]) + b"\n")
    assert refusal(lines) == "Line 4 of t.jsonl is not a well-formed JSON object."
    zipped = gzip.compress(lines.read_bytes())
    assert refusal(file(tmp_path, "t.jsonl.gz", zipped)).startswith("Line 4 of t.jsonl.gz")
    if broken != b'{"n": 1':
        listed = b"[" + b",\n".join([good, good, broken, good]) + b"]"
        place = "Object 3 of t.json is not a well-formed JSON object."
        assert refusal(file(tmp_path, "t.json", listed)) == place


@pytest.mark.parametrize("unit", ["s", "ms"])
@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("statistics", [True, False])
def test_an_instant_beyond_time_is_refused_by_column(
    tmp_path: Path, unit: str, zone: str | None, statistics: bool
) -> None:
    far = pa.array([0, 10**13 if unit == "s" else 10**16], pa.timestamp(unit, zone))
    pq.write_table(table(at=far), tmp_path / "t.parquet", write_statistics=statistics)
    assert refusal(tmp_path / "t.parquet") == "The column `at` of t.parquet could not be read."


@pytest.mark.parametrize("column", ["c", "id"])
@pytest.mark.parametrize("statistics", [True, False])
def test_text_that_is_not_utf_8_in_parquet_is_refused_by_file_and_column(
    tmp_path: Path, column: str, statistics: bool
) -> None:
    ends = b"".join(n.to_bytes(4, "little") for n in (0, 1, 8))
    bad = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(ends), pa.py_buffer(b"acanary\xff")]
    )
    pq.write_table(table(), tmp_path / "p1.parquet")
    pq.write_table(table(**{column: bad}), tmp_path / "p2.parquet", write_statistics=statistics)
    said = f"The column `{column}` of p2.parquet could not be read."
    assert refusal(tmp_path / "p*.parquet") == said
    pq.write_table(table(other=bad), tmp_path / "t.parquet")
    assert validated(tmp_path / "t.parquet").rows == 2, "what is not declared is not looked at"


def test_a_page_that_cannot_be_read_is_refused_by_column(tmp_path: Path) -> None:
    many = table(n=pa.array([1, 2])).take(pa.array([0, 1] * 5000))
    path = tmp_path / "t.parquet"
    pq.write_table(many, path, compression="gzip", use_dictionary=False)
    chunk = pq.read_metadata(path).row_group(0).column(1)
    data = bytearray(path.read_bytes())
    start = chunk.data_page_offset
    data[start + 40 : start + 60] = b"\0" * 20
    path.write_bytes(data)
    assert refusal(path) == "The column `c` of t.parquet could not be read."


def test_a_view_whose_cast_fails_is_refused_by_column(tmp_path: Path) -> None:
    made = (
        "CREATE TABLE base AS SELECT * FROM given; "
        "CREATE VIEW t AS SELECT CAST(word AS INTEGER) AS n, * EXCLUDE (n) FROM base"
    )
    word = pa.array(["1", "canary"])
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.register("given", table(word=word))
        connection.execute(made)
    source = f"duckdb://{tmp_path}/t.duckdb#t"
    assert refusal(source) == "The column `n` of t.duckdb could not be read."
    with duckdb.connect() as connection:
        connection.register("given", table(word=word))
        connection.execute(made)
        assert refusal(connection) == "The column `n` could not be read."
        connection.execute("UPDATE base SET word = '3'")
        assert validated(connection).rows == 2


def test_readers_that_disagree_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tenue.engine.duckdb import validate

    path = file(tmp_path, "t.csv", HEAD + ROW * 3)
    assert validated(path).rows == 3
    monkeypatch.setattr(validate, "read_whole", lambda texts: ("", 4))
    assert refusal(path) == "The rows of t.csv can be counted in two ways."


def test_a_file_that_changes_under_the_reading_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tenue.engine.duckdb import validate

    path = file(tmp_path, "t.csv", HEAD + ROW * 3)
    real = validate.read_whole

    def grows(texts: Any) -> tuple[str, int]:
        found = real(texts)
        path.write_bytes(HEAD + ROW * 4)
        return found

    monkeypatch.setattr(validate, "read_whole", grows)
    assert refusal(path) in (
        "t.csv changed while it was read.",
        "The rows of t.csv can be counted in two ways.",
    )
