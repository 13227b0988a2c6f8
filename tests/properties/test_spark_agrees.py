"""Spark and DuckDB read the same from the same values, one by one, and neither ever fails.

All values of a column are looked at in one data frame, which the logical table is compared with.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from properties.test_engines_agree import (
    COLUMNS,
    DAYS,
    MOMENTS,
    WORDS,
    WRITTEN_DAYS,
    Column,
    doubles,
    in_duckdb,
    schema,
)
from tenue.engine.open import open_engine
from tenue.engine.request import Group, Measure, RankRequest, Request, Window

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.needs("spark"), pytest.mark.slow]


def agree(
    spark: SparkSession, column: Column, kind: str, arrow: pa.DataType, values: Sequence[Any]
) -> None:
    described = schema(column)
    rows = [(str(i), value) for i, value in enumerate(values)]
    one = open_engine(spark.createDataFrame(rows, f"who string, x {kind}"), described)
    other = in_duckdb(arrow, values, described)
    told = []
    for engine in (one, other):
        read = engine.read_all()
        names = read.identifiers.column("who").to_pylist()
        logical = dict(zip(names, read.logical.column("x").to_pylist(), strict=True))
        told.append([logical[str(i)] for i in range(len(values))])
    found = zip(values, *told, strict=True)
    assert [row for row in found if row[1] != row[2]] == []
    if column["type"] in ("number", "date", "datetime"):
        asked = Request((Measure("rows"), Measure("present", "x"), Measure("total", "x")))
        assert one.measure(asked) == other.measure(asked)
        near = RankRequest("x", (Window(2, 1, 0, 0, 9), Window(1, 1, -1, 0, 3)))
        assert one.ranks(near) == other.ranks(near)
    one.close()
    other.close()


@pytest.mark.parametrize("column", COLUMNS, ids=str)
def test_numbers(spark: SparkSession, column: Column) -> None:
    agree(spark, column, "string", pa.string(), WORDS)
    agree(spark, column, "double", pa.float64(), doubles())
    for kind, arrow, bits in (("smallint", pa.int16(), 16), ("bigint", pa.int64(), 64)):
        ends = [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1]
        agree(spark, column, kind, arrow, [*ends, 0, 1, -1, 4, 5, 6, 1000, None])
    values = [Decimal(n).scaleb(-2) for n in (-500, 475, 474, 25, -25, 0, 10**11, -(10**15), 99)]
    agree(spark, column, "decimal(18,2)", pa.decimal128(18, 2), [*values, None])


def test_days_and_moments(spark: SparkSession) -> None:
    days = [date(2000, 1, 1), date(1999, 1, 1), date(2050, 1, 1), date(2000, 1, 5), None]
    agree(spark, DAYS, "date", pa.date32(), days)
    agree(spark, DAYS, "string", pa.string(), WRITTEN_DAYS)
    moments = [
        datetime(2000, 1, 1, 0, 0, 29, 999999),
        datetime(2000, 1, 1, 0, 0, 30),
        datetime(1969, 12, 31, 23, 59, 59, 999999),
        datetime(2031, 1, 1),
        datetime(2000, 1, 2, 13, 14, 15, 16),
        None,
    ]
    agree(spark, MOMENTS, "timestamp_ntz", pa.timestamp("us"), moments)
    agree(spark, DAYS, "timestamp_ntz", pa.timestamp("us"), moments)
    words = ["2000-01-02 13:14:15", "2000-01-02T13:14", "2000-01-02 13:14:15.1234567", "2000-01-02"]
    words += ["2000-01-02 1:2:3", "2000-01-02 13:14:15.", "2000-01-02 13:60:00", "noon", ""]
    agree(spark, MOMENTS, "string", pa.string(), words)


def test_the_zone_of_a_session_changes_nothing(spark: SparkSession) -> None:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        moments = [datetime(2000, 1, 1, 12), datetime(2000, 1, 2, 2, 30), None]
        agree(spark, MOMENTS, "timestamp_ntz", pa.timestamp("us"), moments)
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(before))


def test_categories(spark: SparkSession) -> None:
    names = ["a", "A", "å", "ａ", "а", "o'x", 'q"q', "b\\n", "%s", "?", " a", "ß", "ss", "`"]
    names += ["é", "😀", "\ud7ff", "null", "[", "x  y"]
    for others in ([], [f"name {i}" for i in range(50)]):
        for few in (names[:7], names[7:14], names[14:]):
            column = {"type": "category", "categories": [*few, *others]}
            agree(spark, column, "string", pa.string(), [*names, "ÅÅ", None, "", "b", "SS"])
    many = [f"name {i}" for i in range(10_000)]
    described = schema({"type": "category", "categories": many})
    values = [*many[::200], "name", "name -1", None] * 2
    rows = [(str(i), value) for i, value in enumerate(values)]
    one = open_engine(spark.createDataFrame(rows, "who string, x string"), described)
    other = in_duckdb(pa.string(), values, described)
    asked = Request((Measure("rows"),), keys=(Group("x", 10_000),))
    assert one.measure(asked) == other.measure(asked)
    one.close()
    other.close()
