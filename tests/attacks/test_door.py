"""Ways around the door that were found by trying: each gave a wrong answer, or none, once."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tenue as tn
from parquet_lies import spliced
from tenue.engine.duckdb import validate
from tenue.engine.duckdb.dialect import DUCKDB
from tenue.engine.duckdb.sandbox import SETTINGS

NUMBER = {"type": "number", "bounds": [0, 100]}
FIXED = "The table is not as its holder opened it last."


def schema(column: str = "x", neighbours: str = "replace", **table: Any) -> tn.Schema:
    return tn.Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": neighbours, **table},
            "columns": {column: NUMBER},
            "budget": {"total": 50_000},
        }
    )


def asked(
    source: Any, described: tn.Schema, ledger: Path, sql: str, analyst: str | None = None
) -> Any:
    try:
        with tn.protect(source, schema=described, ledger=ledger, analyst=analyst) as session:
            return session.ask(sql, epsilon=1000).value
    except tn.Refused as refused:
        return refused.what


def in_parquet(folder: Path, values: Any) -> Any:
    pq.write_table(pa.table({"x": values}), folder / "t.parquet")
    return folder / "t.parquet"


def of_people() -> tn.Schema:
    table = {"name": "t", "unit": "p", "neighbours": "add-or-remove", "rows_per_unit": 2}
    columns = {
        "p": {"type": "identifier"},
        "x": NUMBER,
        "w": {"type": "category", "categories": ["a", "b"]},
    }
    return tn.Schema.from_dict({"table": table, "columns": columns, "budget": {"total": 50_000}})


def in_relation(folder: Path, values: Any) -> Any:
    path = in_parquet(folder, values)
    return duckdb.connect().sql(f"SELECT * FROM read_parquet('{path}')")  # noqa: S608


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
@pytest.mark.parametrize("given", [in_parquet, in_relation])
def test_nan_that_no_statistic_knows_of_is_missing(
    tmp_path: Path, given: Callable[[Path, Any], Any], kind: Any
) -> None:
    """Parquet's statistics leave NaN out. DuckDB believed them and left out the tests that stop NaN
    from being cast to a whole number: one such row, and every paid question faulted."""
    source = given(tmp_path, pa.array([math.nan, 40, 60], kind))
    answers = {"SELECT SUM(x) FROM t": 100, "SELECT COUNT(x) FROM t": 2, "SELECT MAX(x) FROM t": 60}
    found = {sql: asked(source, schema(), tmp_path / "t.ledger", sql) for sql in answers}
    assert found == answers


def test_a_reader_that_believes_statistics_faults(tmp_path: Path) -> None:
    """The mutant of the test above: without it, the test would pass for the wrong reason."""
    path = in_parquet(tmp_path, pa.array([math.nan, 40, 60]))
    cut = "CASE WHEN x <= 100 THEN x WHEN NOT isnan(x) THEN 100 END"
    for stored, faults in (("x", True), ("TRY(x)", False)):
        table = f"(SELECT {stored} AS x FROM read_parquet('{path}'))"  # noqa: S608
        sql = f"SELECT SUM(CAST({cut} AS BIGINT)) FROM {table}"  # noqa: S608
        try:
            assert duckdb.connect().execute(sql).fetchall() == [(100,)]
            assert not faults
        except duckdb.ConversionException:
            assert faults


@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("source", ["*.parquet", ""])
def test_a_file_with_two_names_is_read_once(tmp_path: Path, link: Any, source: str) -> None:
    """A link such as `latest.parquet` beside the file doubled every row, and what one may move."""
    folder = tmp_path / "data"
    folder.mkdir()
    path = in_parquet(folder, pa.array([40] * 10))
    link(path, folder / "latest.parquet")
    sql = "SELECT COUNT(*) FROM t WHERE x > 20"
    assert asked(str(folder / source), schema(), tmp_path / "t.ledger", sql) == 10


def test_stated_rows_are_counted_once_they_matter(tmp_path: Path) -> None:
    """59 rows were opened as 60 where that number is not used, and then used where it is."""
    path, ledger = in_parquet(tmp_path, pa.array([50] * 59)), tmp_path / "t.ledger"
    sql = "SELECT COUNT(*) FROM t WHERE x > 20"
    assert asked(path, schema(neighbours="add-or-remove", rows=60), ledger, sql) == 59
    stated = schema(rows=60)
    assert asked(path, stated, ledger, sql, "ann") == FIXED
    assert "states rows = 60" in asked(path, stated, ledger, sql)


def test_another_spelling_of_a_key_is_another_column(tmp_path: Path) -> None:
    """Keys of JSON are found as they are spelled: what was validated as `x` says nothing of `X`."""
    path, ledger = tmp_path / "t.jsonl", tmp_path / "t.ledger"
    path.write_text('{"x": 50}\n{"x": 50, "X": 1, "X": 2}\n')
    sql = "SELECT COUNT(*) FROM t WHERE x > 20"
    assert asked(path, schema("x"), ledger, sql) == 2
    assert asked(path, schema("X"), ledger, sql, "ann") == FIXED
    assert (
        asked(path, schema("X"), ledger, sql)
        == "Line 2 of t.jsonl is not a well-formed JSON object."
    )


@pytest.mark.parametrize(
    ("kind", "value"), [(pa.int64(), 100_000), (pa.int64(), -100_000), (pa.int32(), -100_000)]
)
def test_a_value_that_statistics_hide_is_not_beyond_its_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Any, value: int
) -> None:
    """One value was overwritten and its statistics were not. DuckDB believed them and left out the
    tests that clip it, so that one person moved a sum by a thousand times its sensitivity."""
    path, sql = tmp_path / "t.parquet", "SELECT SUM(x) FROM t"
    hidden, stated = (pa.table({"x": pa.array([30, one, 70], kind)}) for one in (value, 50))
    spliced(path, data=hidden, footer=stated)
    refused = "The column `x` of t.parquet holds values that the file's own statistics rule out."
    assert asked(path, schema(), tmp_path / "new.ledger", sql) == refused
    cut = 100 + min(max(value, 0), 100)
    relation = duckdb.connect().sql(f"SELECT * FROM read_parquet('{path}')")  # noqa: S608
    assert asked(relation, schema(), tmp_path / "relation.ledger", sql) == cut
    # the mutant does not compare them, lets DuckDB plan by them, and clips by tests
    monkeypatch.delitem(SETTINGS, "disabled_optimizers")
    monkeypatch.setattr(validate, "check_statistics", lambda *_: None)
    before = DUCKDB.arithmetic
    object.__setattr__(DUCKDB, "arithmetic", False)
    try:
        assert abs(asked(path, schema(), tmp_path / "old.ledger", sql) - cut) > 10_000
    finally:
        object.__setattr__(DUCKDB, "arithmetic", before)


def named(people: Sequence[Any]) -> pa.Table:
    return pa.table({"p": people, "x": [1] * len(people), "w": ["a"] * len(people)})


@pytest.mark.parametrize("value", [10**12, -5, 2999 + 2**33])
@pytest.mark.parametrize("believed", [False, True])
def test_statistics_of_the_unit_are_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: int, believed: bool
) -> None:
    """`COUNT(DISTINCT p)` and `suggest_limits` faulted after they were paid, or two people were one
    (2,999 of 3,000): DuckDB packed the groups by what the footer says of them. So does the mutant.
    """
    people = list(range(3000))
    held = named([value if p == 1234 else p for p in people])
    spliced(tmp_path / "t.parquet", data=held, footer=named(people))
    if believed:
        monkeypatch.delitem(SETTINGS, "disabled_optimizers")
        monkeypatch.setattr(type(DUCKDB), "hidden", lambda _, name: name)
    ledger, path = tn.ledger.Memory(), tmp_path / "t.parquet"
    with tn.protect(path, schema=of_people(), ledger=ledger) as data:
        try:
            found = [
                data.ask("SELECT COUNT(DISTINCT p) FROM t", epsilon=1000).value,
                data.ask("SELECT COUNT(*) FROM t", epsilon=1000).value,
                data.suggest_limits(epsilon=1000).rows_per_unit,
            ]
        except tn.Fault:
            found = []
    assert (found == [3000, 3000, 1]) is not believed


@pytest.mark.parametrize("believed", [False, True])
def test_a_person_is_found_whatever_statistics_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, believed: bool
) -> None:
    """A row group of other names, by its footer, was skipped: who is in it was answered as nobody.
    The mutant does so."""
    path = tmp_path / "t.parquet"
    spliced(path, data=named(["aa", "ab", "zz"]), footer=named(["aa", "ab", "ac"]))
    if believed:
        monkeypatch.setattr(type(DUCKDB), "hidden", lambda _, name: name)
    prior = tn.prior.Categorical({"a": 0.001, "b": 0.999})
    with tn.protect(path, schema=of_people(), ledger=tn.ledger.Memory()) as data:
        answer = data.ask("SELECT w FROM t WHERE p = 'zz'", epsilon=50, prior=prior)
    assert (answer.value == "a") is not believed


@pytest.mark.parametrize(
    ("values", "column"),
    [
        (pa.array([True, False] * 500), {"type": "boolean"}),
        (pa.array([1, 1] * 500), {"type": "boolean"}),
        (pa.array([1, 2] * 500), {"type": "category", "categories": ["1", "2"]}),
        (pa.array(["1", "2"] * 500), {"type": "boolean"}),
    ],
    ids=["truth", "always-one", "coded", "text"],
)
def test_a_damaged_page_is_found_when_the_holder_opens_it(
    tmp_path: Path, values: Any, column: dict[str, Any]
) -> None:
    """Where the footer answers the tests of the validation, these do not read the column; then the
    first question about it faulted after it was paid."""
    path = in_parquet(tmp_path, values)
    pq.write_table(pa.table({"x": values}), path, use_dictionary=False)
    start = pq.ParquetFile(path).metadata.row_group(0).column(0).data_page_offset
    written = bytearray(path.read_bytes())
    written[start : start + 20] = b"\xff" * 20
    path.write_bytes(written)
    # the mutant: a count of values that are there and not understood
    test = f"SELECT count_if(x IS NOT NULL AND x IS NULL) FROM read_parquet('{path}')"  # noqa: S608
    assert duckdb.connect().execute(test).fetchall() == [(0,)]
    described = tn.Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
            "columns": {"x": column},
            "budget": {"total": 5},
        }
    )
    found = asked(path, described, tmp_path / "t.ledger", "SELECT x, COUNT(*) FROM t GROUP BY x")
    assert found == "The column `x` of t.parquet could not be read."
