"""Counts that are made where the rows are give the facts of the rows, to the last digit."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from tenue.engine.source import tally as statements
from tenue.engine.source.tally import Cell, Tally
from tenue.errors import InvalidTable
from tenue.evaluate import counts, rows
from tenue.evaluate.check import check
from unit.evaluate.stated import AGE, ILL, schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAN, NONE = math.nan, None
POOLS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "age": (pa.int64(), [30, 40, NONE]),
    "height": (pa.float64(), [0.0, -0.0, NAN, NONE, 1.5]),
    "town": (pa.string(), ["Ulm", "ulm", "Ulm ", "7", "07", NONE, ""]),
    "born": (pa.date32(), [date(1990, 1, 2), date(1990, 1, 3), NONE]),
    "ill": (pa.string(), ["flu", "Flu", " flu", "cold", "7", "7.0", NONE]),
    "income": (pa.float64(), [0.0, -0.0, NAN, NONE, 2.5, 1e300, -3.0]),
    "seen": (
        pa.timestamp("us", "UTC"),
        [datetime(2020, 1, 2, tzinfo=UTC), datetime(2020, 1, 2, 3, tzinfo=UTC), NONE],
    ),
    "who": (pa.string(), ["a", "b", "B", "c", "d", "17", "017", NONE]),
    "rest": (pa.int64(), list(range(1000))),
}
KNOWN = ["age", "height", "town", "born"]
WANTED = ["ill", "income", "seen", "rest"]


def made(draw: random.Random) -> pa.Table:
    """A table with ties, blanks, NaN, two zeros and texts that look alike."""
    size = draw.choice([1, 7, 40, 300])
    columns = {
        name: pa.array([draw.choice(pool[: draw.randint(1, len(pool))]) for _ in range(size)], kind)
        for name, (kind, pool) in POOLS.items()
    }
    columns["id"] = pa.array(range(10_000, 10_000 + size), pa.int64())
    return pa.table(columns)


def asked(draw: random.Random) -> dict[str, Any]:
    return {
        "quasi_identifiers": draw.sample(KNOWN, draw.randint(1, 3)),
        "confidential": draw.sample(WANTED, draw.randint(0, 2)),
        "unit": draw.choice([None, "record", "who"]),
    }


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file counts as large, and a few combinations are looked at together."""
    monkeypatch.setattr(rows, "LARGE", 0)
    monkeypatch.setattr(statements, "BATCH", 2048)
    monkeypatch.setattr(counts, "_MANY", 3)


def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """No column is read into this process any more."""

    def read(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(rows.Rows, "read", read)


@pytest.mark.parametrize("number", range(40))
def test_a_large_file_is_measured_like_its_rows(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: None
) -> None:
    draw = random.Random(number)
    table, how = made(draw), asked(draw)
    expected = check(table, **how)
    path = tmp_path / "table.parquet"
    pq.write_table(table, path)
    unread(monkeypatch)
    assert check(path, **how) == expected


@pytest.mark.parametrize("number", range(20))
def test_a_large_text_is_measured_like_a_small_one(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(number)
    table, how = made(draw), asked(draw)
    path = tmp_path / "table.csv"
    pyarrow.csv.write_csv(table, path)
    expected = check(path, **how)
    monkeypatch.setattr(rows, "LARGE", 0)
    monkeypatch.setattr(counts, "_MANY", 3)
    unread(monkeypatch)
    assert check(path, **how) == expected


@pytest.mark.needs("spark")
@pytest.mark.slow
@pytest.mark.parametrize("number", range(6))
def test_a_table_in_spark_is_measured_like_its_rows(
    number: int, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(number)
    table, how = made(draw), asked(draw)
    expected = check(table, **how)
    monkeypatch.setattr(counts, "_MANY", 3)
    unread(monkeypatch)
    given = spark.createDataFrame(table).repartition(3)
    assert check(given, **how) == expected


def test_zeros_that_count_as_one_would_overstate_k(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: None
) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"x": [0.0, -0.0, 1.5, 1.5]}), path)
    assert check(path, quasi_identifiers=["x"]).k == 1
    monkeypatch.setattr(Cell, "floating", False)
    assert check(path, quasi_identifiers=["x"]).k == 2


def test_a_group_that_is_cut_would_be_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: None
) -> None:
    path = tmp_path / "table.parquet"
    table = pa.table({"age": [30] * 6 + [40] * 6, "ill": [*range(6)] * 2})
    pq.write_table(table, path)
    how = {"quasi_identifiers": ["age"], "confidential": ["ill"]}
    assert check(path, **how).l == 6

    def cut(self: counts.Counted, others: list[str], most: int) -> Iterator[Any]:
        for whole in self._there.tally([*self._asked.known, *others]):
            for begin in range(0, len(whole), 3):
                piece = whole.slice(begin, 3)
                yield counts._part(self._groups(piece), piece)

    monkeypatch.setattr(counts.Counted, "_parts", cut)
    with pytest.raises(InvalidTable, match="changed while it was read"):
        check(path, **how)


def test_what_reaches_this_process_does_not_grow_with_the_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: None
) -> None:
    handed_over = []
    tally = Tally.tally

    def counting(self: Tally, names: list[str]) -> Iterator[pa.Table]:
        for part in tally(self, names):
            handed_over.append(len(part))
            yield part

    monkeypatch.setattr(Tally, "tally", counting)
    found = []
    for copies in (1, 50):
        path = tmp_path / f"{copies}.parquet"
        pq.write_table(pa.table({"age": [30, 40, 40] * copies, "ill": [1, 1, 2] * copies}), path)
        handed_over.clear()
        check(path, quasi_identifiers=["age"], confidential=["ill"])
        found.append(sum(handed_over))
    assert found[0] == found[1]


def test_a_schema_says_the_same_of_a_large_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = schema({"age": AGE, "ill": ILL})
    table = pa.table(
        {"age": [30, 30, 40, 40], "ill": ["flu", "Flu", None, "cold"], "more": [[1], [2], [3], []]}
    )
    path = tmp_path / "table.parquet"
    pq.write_table(table, path)
    expected = check(path, declared)
    monkeypatch.setattr(rows, "LARGE", 0)
    assert check(path, declared) == expected


def test_an_empty_large_file_is_refused(tmp_path: Path, large: None) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"age": pa.array([], pa.int64())}), path)
    with pytest.raises(InvalidTable, match="no rows"):
        check(path, quasi_identifiers=["age"])
