# ruff: noqa: S608 - tests write their own SQL
"""Days and moments become the right steps, also where their storage is at its end."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import duckdb
import pytest

from tenue.engine.duckdb.dialect import DUCKDB, storage
from tenue.engine.sql.moment import counts, time_stages
from tenue.engine.storage import Written
from tenue.schema import Date, Datetime, Schema

CONNECTION = duckdb.connect()
CONNECTION.execute("SET TimeZone = 'America/New_York'")
TABLE = {"name": "t", "unit": "record", "neighbours": "replace"}


def column(kind: str, low: str, high: str, grid: object = 1) -> Date | Datetime:
    stated = {"type": kind, "bounds": [low, high], "grid": grid}
    found = Schema.from_dict({"table": TABLE, "columns": {"x": stated}}).column("x")
    assert isinstance(found, Date | Datetime)
    return found


def computed(of: Date | Datetime, kind: str, values: list[str | None]) -> list[Any]:
    stored = Written() if kind == "written" else storage(kind)
    spelled = "VARCHAR" if kind == "written" else kind
    rows = ", ".join(f"(CAST({'NULL' if v is None else repr(v)} AS {spelled}))" for v in values)
    sql, name = f"SELECT * FROM (VALUES {rows}) AS t(s0)", "s0"
    for place, stage in enumerate(time_stages(of, stored, DUCKDB)):
        sql = f"SELECT *, {stage(name)} AS s{place + 1} FROM ({sql})"
        name = f"s{place + 1}"
    return [row[0] for row in CONNECTION.execute(f"SELECT {name} FROM ({sql})").fetchall()]


YEAR = column("date", "2000-01-01", "2000-12-31")
WEEKS = column("date", "2000-01-01", "2000-01-29", 7)
HOUR = column("datetime", "2000-01-01T00:00:00", "2000-01-01T01:00:00", 60)
EVER = column("datetime", "0001-01-01T00:00:00", "9999-12-31T23:59:59.999999", Decimal("0.000001"))
STORED = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMPTZ_NS")


def test_days_are_clamped_and_counted_from_the_low_bound() -> None:
    days = [None, "1999-12-31", "2000-01-01", "2000-02-29", "2001-01-01", "infinity", "-infinity"]
    days += ["5000000-01-01", "5000-01-01 (BC)"]
    assert computed(YEAR, "DATE", days) == [None, 0, 0, 59, 365, 365, 0, 365, 0]


def test_a_grid_of_days_rounds_half_up() -> None:
    days: list[str | None] = ["2000-01-04", "2000-01-05", "2000-01-11", "2000-01-12", "2000-02-09"]
    assert computed(WEEKS, "DATE", days) == [0, 1, 1, 2, 4]
    even = column("date", "2000-01-01", "2000-01-09", 4)
    assert computed(even, "DATE", ["2000-01-02", "2000-01-03", "2000-01-04"]) == [0, 1, 1]


@pytest.mark.parametrize("kind", STORED)
def test_the_day_of_a_moment_is_the_one_it_lies_in(kind: str) -> None:
    zone = "+00" if kind == "TIMESTAMPTZ_NS" else ""
    texts = ["1999-12-31 23:59:59", "2000-01-02 23:59:59", "2000-12-31 12:00:00"]
    texts += ["1969-12-31 23:59:59"]
    values: list[str | None] = [None, *(text + zone for text in texts), "infinity", "-infinity"]
    assert computed(YEAR, kind, values) == [None, 0, 1, 365, 0, 365, 0]
    early = column("date", "1969-12-30", "1970-01-02")
    assert computed(early, kind, ["1969-12-31 23:59:59" + zone]) == [1]


@pytest.mark.parametrize("kind", STORED)
def test_moments_round_to_the_grid(kind: str) -> None:
    zone = "+00" if kind == "TIMESTAMPTZ_NS" else ""
    texts = [
        "2000-01-01 00:00:29",
        "2000-01-01 00:00:30",
        "2000-01-01 00:59:31",
        "2020-01-01 00:00:00",
    ]
    values: list[str | None] = [None, *(text + zone for text in texts), "infinity", "-infinity"]
    assert computed(HOUR, kind, values) == [None, 0, 1, 60, 60, 60, 0]


def test_every_moment_of_every_year_is_held_exactly() -> None:
    low, high, grid = counts(EVER)
    moments: list[str | None] = ["0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"]
    assert computed(EVER, "TIMESTAMP", moments) == [0, high - low]
    assert grid == 1
    assert computed(EVER, "TIMESTAMP_S", ["20000-01-01 00:00:00"]) == [high - low]
    assert computed(EVER, "DATE", ["20000-01-01", "0001-01-02"]) == [high - low, 86400 * 10**6]


def test_nanoseconds_are_dropped_downwards() -> None:
    # DuckDB's own cast would round to the nearest microsecond
    micros = column("datetime", "1969-12-31T23:59:59", "1970-01-01T00:00:01", Decimal("0.000001"))
    texts: list[str | None] = ["1970-01-01 00:00:00.000000999", "1969-12-31 23:59:59.999999001"]
    assert computed(micros, "TIMESTAMP_NS", texts) == [10**6, 10**6 - 1]


def test_an_instant_is_read_in_utc_whatever_the_session_says() -> None:
    values: list[str | None] = ["2000-01-01 00:10:00+00", "2000-01-01 02:10:00+02"]
    assert computed(HOUR, "TIMESTAMP WITH TIME ZONE", values) == [10, 10]
    assert computed(YEAR, "TIMESTAMP WITH TIME ZONE", ["2000-01-02 23:00:00-05"]) == [2]
    ends: list[str | None] = ["infinity", "-infinity", None]
    assert computed(HOUR, "TIMESTAMP WITH TIME ZONE", ends) == [60, 0, None]


def test_a_day_is_its_midnight() -> None:
    noon = column("datetime", "2000-01-01T12:00:00", "2000-01-03T12:00:00", 3600)
    days: list[str | None] = ["2000-01-01", "2000-01-02", "2000-01-04", None, "infinity"]
    assert computed(noon, "DATE", days) == [0, 12, 48, None, 48]


def test_written_days_and_moments_that_cannot_be_read_are_missing() -> None:
    days: list[str | None] = ["2000-01-03", "03.01.2000", "2000-13-01", "soon", "", None]
    assert computed(YEAR, "written", days) == [2, None, None, None, None, None]
    moments: list[str | None] = ["2000-01-01T00:05:00", "2000-01-01", "25:00", None]
    assert computed(HOUR, "written", moments) == [5, 0, None, None]
