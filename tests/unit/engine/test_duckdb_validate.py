"""A table read from end to end before anybody asks."""

from __future__ import annotations

import gzip
import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from parquet_lies import spliced
from tenue.engine.contract import Validated
from tenue.engine.duckdb import engine, validate
from tenue.engine.duckdb.dialect import DUCKDB
from tenue.engine.duckdb.validate import _row_group as row_group
from tenue.engine.open import open_engine
from tenue.errors import InvalidTable
from tenue.schema import Schema

NUMBER = {"type": "number", "bounds": [0, 10]}
DAY = {"type": "date", "bounds": ["1970-01-01", "1970-01-11"]}
MOMENT = {"type": "datetime", "bounds": ["1970-01-01T00:00:00", "1970-01-11T00:00:00"]}
KINDS = [
    *((kind, NUMBER) for kind in (pa.int32(), pa.int64(), pa.uint32(), pa.uint64())),
    *((pa.decimal128(width, 2), NUMBER) for width in (9, 18, 30)),
    (pa.date32(), DAY),
    *((pa.timestamp(unit), MOMENT) for unit in ("ms", "us", "ns")),
    (pa.timestamp("us", "UTC"), MOMENT),
]
CODED = {"type": "category", "categories": ["1", "2"]}
TRUTH = {"type": "boolean"}


def statistics_validated(source: Any, **columns: dict[str, Any]) -> Any:
    head = {"name": "t", "unit": "record", "neighbours": "add-or-remove"}
    engine = open_engine(source, Schema.from_dict({"table": head, "columns": columns}))
    try:
        return engine.validate()
    finally:
        engine.close()


def made(kind: Any, steps: list[int | None]) -> pa.Table:
    """A column of this type, whose values are small whole numbers, days or ticks."""
    if pa.types.is_date32(kind):
        array = pa.array(steps, pa.int32()).cast(kind)
    else:
        array = pa.array(steps, pa.int64())
        array = array.cast(pa.decimal128(28, 0)) if pa.types.is_decimal(kind) else array
        array = array.cast(kind)
    return pa.table({"x": array})


@pytest.mark.parametrize(("kind", "column"), KINDS, ids=lambda one: str(one)[:20])
@pytest.mark.parametrize("value", [1000, 0])
def test_a_value_that_its_statistics_rule_out_is_refused(
    tmp_path: Path, kind: Any, column: dict[str, Any], value: int
) -> None:
    true = made(kind, [1, 7, 10, 3, 5])
    honest, path = tmp_path / "honest.parquet", tmp_path / "t.parquet"
    pq.write_table(true, honest)
    assert statistics_validated(honest, x=column).rows == 5
    spliced(path, data=made(kind, [1, value, 10, 3, 5]), footer=true)
    with pytest.raises(InvalidTable, match=r"The column `x` of t.parquet holds values"):
        statistics_validated(path, x=column)


@pytest.mark.parametrize(
    ("kind", "column", "steps"),
    [
        (pa.int64(), CODED, [1, 2, 9]),
        (pa.int32(), TRUTH, [1, 1, 0]),
        (pa.bool_(), TRUTH, [1, 1, 0]),
        (pa.bool_(), NUMBER, [1, 1, 0]),
    ],
)
def test_categories_and_truth_values_are_compared_too(
    tmp_path: Path, kind: Any, column: dict[str, Any], steps: list[int]
) -> None:
    """Also beside a column of which DuckDB can write no statistics."""
    far = made(pa.timestamp("ms"), [1, 2, 2**62]).column("x")
    for beside in (False, True):
        path, honest = tmp_path / "t.parquet", tmp_path / "honest.parquet"
        true, false = made(kind, [1, 1, 1]), made(kind, steps)
        if beside:
            true, false = (table.append_column("at", far) for table in (true, false))
        pq.write_table(false, honest)
        assert statistics_validated(honest, x=column).rows == 3
        spliced(path, data=false, footer=true)
        with pytest.raises(InvalidTable, match=r"`x` of t.parquet holds values"):
            statistics_validated(path, x=column)


def test_identifiers_are_not_compared_for_no_question_believes_them(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    spliced(path, data=made(pa.int64(), [1, 2, 99]), footer=made(pa.int64(), [1, 2, 3]))
    assert statistics_validated(path, x={"type": "identifier"}).rows == 3


def test_a_gap_that_its_statistics_rule_out_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    full, gap = (made(pa.int64(), [1, two, 3, 4]) for two in (2, None))
    spliced(path, data=gap, footer=full)
    assert pq.read_table(path).column("x").to_pylist() == [1, None, 3, 4]
    with pytest.raises(InvalidTable, match="rule out"):
        statistics_validated(path, x=NUMBER)
    pq.write_table(gap, path)
    assert statistics_validated(path, x=NUMBER).rows == 4


@pytest.mark.parametrize("together", [False, True])
def test_what_is_wider_than_the_values_or_not_stated_rules_nothing_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: bool
) -> None:
    if together:
        monkeypatch.setattr(validate, "_row_group", lambda *_: None)
    path = tmp_path / "t.parquet"
    spliced(path, data=made(pa.int64(), [2, 3, 4]), footer=made(pa.int64(), [1, 3, 10]))
    assert statistics_validated(path, x=NUMBER).rows == 3
    pq.write_table(made(pa.int64(), [1, 7, 99]), path, write_statistics=False)
    assert statistics_validated(path, x=NUMBER).rows == 3
    # a row group of blanks states no ends; others do
    pq.write_table(made(pa.int64(), [None, None, 50, 60, 1, 2]), path, row_group_size=2)
    assert statistics_validated(path, x=NUMBER).rows == 6


@pytest.mark.parametrize("size", [2, 3])
def test_each_row_group_is_compared_with_its_own_statistics(tmp_path: Path, size: int) -> None:
    """9 is nothing new in the file; where it stands, nothing above 2 was said to be."""
    path = tmp_path / "t.parquet"
    footer = made(pa.int64(), [1, 2, 2, 9, 8, 7, 1])
    data = made(pa.int64(), [1, 9, 2, 9, 8, 7, 1])
    spliced(path, data=data, footer=footer, row_group_size=size)
    with pytest.raises(InvalidTable, match="rule out"):
        statistics_validated(path, x=NUMBER)


def test_together_they_are_compared_where_row_groups_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validate, "_row_group", lambda *_: None)
    path, footer = tmp_path / "t.parquet", made(pa.int64(), [1, 2, 8, 9])
    spliced(path, data=made(pa.int64(), [1, 9, 8, 9]), footer=footer, row_group_size=2)
    assert (
        statistics_validated(path, x=NUMBER).rows == 4
    )  # the clamp holds: all values are as the file says
    spliced(path, data=made(pa.int64(), [1, 2, 8, 99]), footer=footer, row_group_size=2)
    with pytest.raises(InvalidTable, match="rule out"):
        statistics_validated(path, x=NUMBER)


def test_a_column_called_like_the_number_of_a_row_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    both = [
        made(pa.int64(), steps).append_column("file_row_number", pa.array([3, 2, 1]))
        for steps in ([1, 2, 3], [1, 2, 99])
    ]
    pq.write_table(both[0], path)
    assert statistics_validated(path, x=NUMBER, file_row_number=NUMBER).rows == 3
    spliced(path, data=both[1], footer=both[0])
    with pytest.raises(InvalidTable, match="rule out"):
        statistics_validated(path, x=NUMBER)


def test_any_of_several_files_and_no_undeclared_column(tmp_path: Path) -> None:
    true, false = made(pa.int64(), [1, 2, 3]), made(pa.int64(), [1, 2, 99])
    for name in ("a", "b"):
        pq.write_table(true.append_column("y", true.column("x")), tmp_path / f"{name}.parquet")
    assert statistics_validated(str(tmp_path / "*.parquet"), x=NUMBER).rows == 6
    other = true.append_column("y", false.column("x"))
    honest = true.append_column("y", true.column("x"))
    spliced(tmp_path / "b.parquet", data=other, footer=honest)
    assert statistics_validated(str(tmp_path / "*.parquet"), x=NUMBER).rows == 6
    with pytest.raises(InvalidTable, match=r"`y` of b.parquet"):
        statistics_validated(str(tmp_path / "*.parquet"), x=NUMBER, y=NUMBER)


@pytest.mark.parametrize("sizes", [[4], [3, 3, 2], [5, 2, 3, 1], [2, 7, 2, 2, 9, 4, 1]])
def test_the_row_group_of_each_row_is_known(sizes: list[int]) -> None:
    """However uneven they are: compared with counting."""
    groups = [(7 + place, size) for place, size in enumerate(sizes)]
    sql = row_group(Path("t.parquet"), lambda _: groups)
    rows = f"SELECT {sql} FROM (SELECT range AS file_row_number FROM range({sum(sizes)})) "  # noqa: S608
    found = [
        number
        for (number,) in duckdb.connect().execute(rows + "ORDER BY file_row_number").fetchall()
    ]
    assert found == list(itertools.chain(*([number] * size for number, size in groups)))


@pytest.mark.parametrize(("kind", "column"), KINDS, ids=lambda one: str(one)[:20])
def test_what_cannot_be_read_of_one_column_hides_nothing_of_another(
    tmp_path: Path, kind: Any, column: dict[str, Any]
) -> None:
    """DuckDB cannot write down the statistics of `at`, which nobody declared, nor any others."""
    path = tmp_path / "t.parquet"
    far = made(pa.timestamp("ms"), [1, 2, 2**62]).column("x")
    true, large, gap = (
        made(kind, steps).append_column("at", far)
        for steps in ([1, 2, 3], [1, 2, 99], [1, 2, None])
    )
    pq.write_table(true, path)
    assert statistics_validated(path, x=column).rows == 3
    for false in (large, gap):
        spliced(path, data=false, footer=true)
        with pytest.raises(InvalidTable, match=r"`x` of t.parquet holds values"):
            statistics_validated(path, x=column)
    pq.write_table(large, path, write_statistics=False)
    assert statistics_validated(path, x=column).rows == 3


def test_row_groups_are_put_together_where_blocks_would_be_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    uneven = [(0, 2), (1, 7), (2, 3)]
    assert row_group(Path("t.parquet"), lambda _: uneven) is not None
    monkeypatch.setattr(validate, "MOST_BLOCKS", 5)
    assert row_group(Path("t.parquet"), lambda _: uneven) is None
    assert row_group(Path("t.parquet"), lambda _: []) is None


# -- Every row is read once before anybody asks, and whatever could fail later fails here ----------

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


def test_a_table_with_more_rows_than_sums_are_exact_for_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": range(4)}), path)
    monkeypatch.setattr(engine, "DUCKDB", replace(DUCKDB, most_rows=4))
    assert statistics_validated(path, x=NUMBER).rows == 4
    monkeypatch.setattr(engine, "DUCKDB", replace(DUCKDB, most_rows=3))
    with pytest.raises(InvalidTable) as refused:
        statistics_validated(path, x=NUMBER)
    assert refused.value.code == "too-many-rows"
