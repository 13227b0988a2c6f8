# ruff: noqa: S608 - tests write their own SQL
"""What DuckDB's dialect writes means in DuckDB what the dialect says."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from tenue.engine.duckdb.dialect import DUCKDB, storage
from tenue.engine.storage import Fixed, Floating, Integer, Moment, Opaque, Text

CONNECTION = duckdb.connect()


def computed(sql: str, rows: str = "SELECT 1") -> list[Any]:
    return [row[0] for row in CONNECTION.execute(f"SELECT {sql} FROM ({rows})").fetchall()]


def test_names_become_types() -> None:
    assert storage("DECIMAL(38,0)") == Fixed(38, 0)
    assert storage("INTEGER") == Integer("INTEGER", -(2**31), 2**31 - 1)
    assert storage("FLOAT") == Floating(single=True)
    assert storage("ENUM('a')") == Text("ENUM")
    assert storage("TIMESTAMP WITH TIME ZONE") == Moment("TIMESTAMP WITH TIME ZONE")
    assert storage("MAP(VARCHAR, INTEGER)") == Opaque()


def test_nan_is_told_from_every_number_and_from_null() -> None:
    rows = "SELECT unnest(['nan'::DOUBLE, 'inf'::DOUBLE, 0e0, NULL]) AS x"
    assert computed(DUCKDB.is_nan("x"), rows) == [True, False, False, None]


def test_what_cannot_be_read_is_null() -> None:
    rows = "SELECT unnest(['1.5', 'x', '', NULL]) AS x"
    assert computed(DUCKDB.read("x", DUCKDB.double), rows) == [1.5, None, None, None]


def test_words_have_their_places() -> None:
    rows = "SELECT unnest(['b', 'a', 'c', NULL]) AS x"
    words = f"ENUM({DUCKDB.literal('a')}, {DUCKDB.literal('b')})"
    assert computed(DUCKDB.category("x", words), rows) == [1, 0, None, None]


def test_quantiles_are_values_that_are_there() -> None:
    rows = "SELECT range AS x FROM range(10)"
    assert computed(DUCKDB.quantiles("x", ["0.05", "0.5", "0.51", "0.95"]), rows) == [[0, 4, 5, 9]]


def test_days_and_their_parts() -> None:
    day = DUCKDB.date("x")
    for number, expected in ((0, (1970, 1, 1)), (-1, (1969, 4, 12)), (11016, (2000, 1, 2))):
        rows = f"SELECT {number} AS x"
        parts = ("year", "quarter", "month")
        assert tuple(computed(DUCKDB.part(part, day), rows)[0] for part in parts) == expected


def test_equal_values_share_a_hash() -> None:
    one, other, third = computed(DUCKDB.hash("x"), "SELECT unnest(['a', 'a', 'b']) AS x")
    assert one == other != third
    assert min(one, third) >= 0


@pytest.mark.parametrize(
    ("kind", "cut"),
    [("TIMESTAMP", 10**6 + 1), ("TIMESTAMP_S", 2 * 10**6), ("TIMESTAMP_MS", 1001000)],
)
def test_the_range_of_a_coarse_moment_covers_the_bounds(kind: str, cut: int) -> None:
    stages, first, last = DUCKDB.micros(Moment(kind), 1, 10**6 + 1)
    assert (first <= 1, last) == (True, cut)
    sql = f"SELECT CAST(make_timestamp(9000000) AS {kind}) AS s0"
    for place, stage in enumerate(stages):
        sql = f"SELECT *, {stage(f's{place}')} AS s{place + 1} FROM ({sql})"
    assert computed(f"s{len(stages)}", sql) == [cut]
