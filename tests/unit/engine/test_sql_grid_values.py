"""Stored values, days and moments become whole grid steps."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pytest

from oracle_engine import OracleEngine
from tenue.engine.duckdb.dialect import DUCKDB, storage
from tenue.engine.sql import grid_values
from tenue.engine.sql.dialect import Dialect
from tenue.engine.sql.grid_values import (
    counts,
    first_step,
    last_step,
    number_stages,
    rounded_where,
    spread_stages,
    time_stages,
    with_missing,
)
from tenue.engine.storage import Storage, Written
from tenue.errors import InvalidTable
from tenue.schema import Column, Date, Datetime, Number, Schema

# ruff: noqa: S608 - tests write their own SQL


MOMENT_CONNECTION = duckdb.connect()
MOMENT_CONNECTION.execute("SET TimeZone = 'America/New_York'")
TABLE = {"name": "t", "unit": "record", "neighbours": "replace"}


def moment_column(kind: str, low: str, high: str, grid: object = 1) -> Date | Datetime:
    stated = {"type": kind, "bounds": [low, high], "grid": grid}
    found = Schema.from_dict({"table": TABLE, "columns": {"x": stated}}).column("x")
    assert isinstance(found, Date | Datetime)
    return found


def moment_computed(of: Date | Datetime, kind: str, values: list[str | None]) -> list[Any]:
    stored = Written() if kind == "written" else storage(kind)
    spelled = "VARCHAR" if kind == "written" else kind
    rows = ", ".join(f"(CAST({'NULL' if v is None else repr(v)} AS {spelled}))" for v in values)
    sql, name = f"SELECT * FROM (VALUES {rows}) AS t(s0)", "s0"
    for place, stage in enumerate(time_stages(of, stored, DUCKDB)):
        sql = f"SELECT *, {stage(name)} AS s{place + 1} FROM ({sql})"
        name = f"s{place + 1}"
    return [row[0] for row in MOMENT_CONNECTION.execute(f"SELECT {name} FROM ({sql})").fetchall()]


YEAR = moment_column("date", "2000-01-01", "2000-12-31")
WEEKS = moment_column("date", "2000-01-01", "2000-01-29", 7)
HOUR = moment_column("datetime", "2000-01-01T00:00:00", "2000-01-01T01:00:00", 60)
EVER = moment_column(
    "datetime", "0001-01-01T00:00:00", "9999-12-31T23:59:59.999999", Decimal("0.000001")
)
STORED = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMPTZ_NS")


def test_days_are_clamped_and_counted_from_the_low_bound() -> None:
    days = [None, "1999-12-31", "2000-01-01", "2000-02-29", "2001-01-01", "infinity", "-infinity"]
    days += ["5000000-01-01", "5000-01-01 (BC)"]
    assert moment_computed(YEAR, "DATE", days) == [None, 0, 0, 59, 365, 365, 0, 365, 0]


def test_a_grid_of_days_rounds_half_up() -> None:
    days: list[str | None] = ["2000-01-04", "2000-01-05", "2000-01-11", "2000-01-12", "2000-02-09"]
    assert moment_computed(WEEKS, "DATE", days) == [0, 1, 1, 2, 4]
    even = moment_column("date", "2000-01-01", "2000-01-09", 4)
    assert moment_computed(even, "DATE", ["2000-01-02", "2000-01-03", "2000-01-04"]) == [0, 1, 1]


@pytest.mark.parametrize("kind", STORED)
def test_the_day_of_a_moment_is_the_one_it_lies_in(kind: str) -> None:
    zone = "+00" if kind == "TIMESTAMPTZ_NS" else ""
    texts = ["1999-12-31 23:59:59", "2000-01-02 23:59:59", "2000-12-31 12:00:00"]
    texts += ["1969-12-31 23:59:59"]
    values: list[str | None] = [None, *(text + zone for text in texts), "infinity", "-infinity"]
    assert moment_computed(YEAR, kind, values) == [None, 0, 1, 365, 0, 365, 0]
    early = moment_column("date", "1969-12-30", "1970-01-02")
    assert moment_computed(early, kind, ["1969-12-31 23:59:59" + zone]) == [1]


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
    assert moment_computed(HOUR, kind, values) == [None, 0, 1, 60, 60, 60, 0]


def test_every_moment_of_every_year_is_held_exactly() -> None:
    low, high, grid = counts(EVER)
    moments: list[str | None] = ["0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"]
    assert moment_computed(EVER, "TIMESTAMP", moments) == [0, high - low]
    assert grid == 1
    assert moment_computed(EVER, "TIMESTAMP_S", ["20000-01-01 00:00:00"]) == [high - low]
    assert moment_computed(EVER, "DATE", ["20000-01-01", "0001-01-02"]) == [
        high - low,
        86400 * 10**6,
    ]


def test_nanoseconds_are_dropped_downwards() -> None:
    # DuckDB's own cast would round to the nearest microsecond
    micros = moment_column(
        "datetime", "1969-12-31T23:59:59", "1970-01-01T00:00:01", Decimal("0.000001")
    )
    texts: list[str | None] = ["1970-01-01 00:00:00.000000999", "1969-12-31 23:59:59.999999001"]
    assert moment_computed(micros, "TIMESTAMP_NS", texts) == [10**6, 10**6 - 1]


def test_an_instant_is_read_in_utc_whatever_the_session_says() -> None:
    values: list[str | None] = ["2000-01-01 00:10:00+00", "2000-01-01 02:10:00+02"]
    assert moment_computed(HOUR, "TIMESTAMP WITH TIME ZONE", values) == [10, 10]
    assert moment_computed(YEAR, "TIMESTAMP WITH TIME ZONE", ["2000-01-02 23:00:00-05"]) == [2]
    ends: list[str | None] = ["infinity", "-infinity", None]
    assert moment_computed(HOUR, "TIMESTAMP WITH TIME ZONE", ends) == [60, 0, None]


def test_a_day_is_its_midnight() -> None:
    noon = moment_column("datetime", "2000-01-01T12:00:00", "2000-01-03T12:00:00", 3600)
    days: list[str | None] = ["2000-01-01", "2000-01-02", "2000-01-04", None, "infinity"]
    assert moment_computed(noon, "DATE", days) == [0, 12, 48, None, 48]


def test_written_days_and_moments_that_cannot_be_read_are_missing() -> None:
    days: list[str | None] = ["2000-01-03", "03.01.2000", "2000-13-01", "soon", "", None]
    assert moment_computed(YEAR, "written", days) == [2, None, None, None, None, None]
    moments: list[str | None] = ["2000-01-01T00:05:00", "2000-01-01", "25:00", None]
    assert moment_computed(HOUR, "written", moments) == [5, 0, None, None]


# Stored numbers become the right steps at every edge, and wrong ways to do it are told apart.

# ruff: noqa: S608 - tests write their own SQL


CONNECTION = duckdb.connect()
INF, NAN = math.inf, math.nan
double = DUCKDB.number


def column(low: object, high: object, grid: object = 1, **more: object) -> Number:
    low, high, grid = (Decimal(n) if isinstance(n, str) else n for n in (low, high, grid))
    stated = {"type": "number", "bounds": [low, high], "grid": grid, **more}
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    found = Schema.from_dict({"table": table, "columns": {"x": stated}}).column("x")
    assert isinstance(found, Number)
    return found


def computed(
    number: Number, stored: Storage, values: list[str], dialect: Dialect = DUCKDB
) -> list[Any]:
    sql = "SELECT * FROM (VALUES " + ", ".join(f"({v})" for v in values) + ") AS t(s0)"
    name = "s0"
    for place, stage in enumerate(with_missing(number, number_stages(number, stored, dialect))):
        sql = f"SELECT *, {stage(name)} AS s{place + 1} FROM ({sql})"
        name = f"s{place + 1}"
    return [row[0] for row in CONNECTION.execute(f"SELECT {name} FROM ({sql})").fetchall()]


def typed(number: Number, kind: str, values: list[object], dialect: Dialect = DUCKDB) -> list[Any]:
    texts = [f"CAST({'NULL' if v is None else repr(str(v))} AS {kind})" for v in values]
    return computed(number, storage(kind), texts, dialect)


def oracle(number: Number, values: list[Any]) -> list[Any]:
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    stated: dict[str, Any] = {
        "type": "number",
        "bounds": [number.low, number.high],
        "grid": number.grid,
        "missing": number.missing,
    }
    schema = Schema.from_dict({"table": table, "columns": {"x": stated}})
    return [OracleEngine(schema, []).value("x", {"x": value}) for value in values]


DOUBLES = [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, INF, -INF, NAN, None, 1e308, -1e308, 5e-324]
DOUBLES += [0.49999999999999994, 1.005, 99.995, 2.0**52 + 1, 2.0**53 + 2, 2.0**62, -(2.0**63)]


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize(
    "number",
    [
        column(0, 100),
        column(-100, 100, "0.01"),
        column(-100, 100, 5),
        column(-5, 5, "2.5"),
        column("0.3", "3", "0.3"),
        column(0, 2**52),
        column(-(2**62), 2**62),
        column(-(2**62) + 1, 2**62 - 1),
        column(0, Fraction(2**62, 10**30), Decimal("1e-30")),
        column(0, 100, 1, missing=7),
        column(
            Decimal("1.00000000000000000001"),
            Decimal("4.00000000000000000004"),
            Decimal("1.00000000000000000001"),
        ),
    ],
)
def test_doubles_follow_the_rule(number: Number, fails: bool) -> None:
    dialect = replace(DUCKDB, fails=fails)
    assert typed(number, "DOUBLE", DOUBLES, dialect) == oracle(number, DOUBLES)


def test_where_doubles_fail_they_are_cut_before_they_are_computed_with() -> None:
    made = number_stages(column(-10, 10, 5), storage("DOUBLE"), replace(DUCKDB, fails=True))
    guard = made[0]("x")
    inside = [-1e308, -30.0, 5e-324, 1e-290, 30.0, INF, NAN, None]
    rows = ", ".join(f"({'NULL' if x is None else double(x)})" for x in inside)
    sql = f"SELECT {guard} FROM (VALUES {rows}) AS t(x)"
    found = [row[0] for row in CONNECTION.execute(sql).fetchall()]
    assert found == [-10.0, -10.0, 0.0, 1e-290, 10.0, 10.0, None, None]
    fine = number_stages(column(-10, 10, "0.5"), storage("DOUBLE"), replace(DUCKDB, fails=True))
    assert "e-290" not in fine[0]("x"), "a fine grid makes no double smaller"


@pytest.mark.parametrize(
    "number",
    [column(-7, 5), column("-0.3", "0.7", "0.1"), column(-9, -3, 3), column(3, 9, 3)],
)
def test_doubles_may_be_clamped_before_they_are_rounded(
    number: Number, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialect = replace(DUCKDB, fails=True)
    low, high, half = map(float, (number.low, number.high, number.grid / 2))
    near = [x + side * half for x in (low, high) for side in (-3, -1, 0, 1, 3)]
    near += [math.nextafter(x, end) for x in near for end in (-INF, INF)]
    right = oracle(number, [*near, *DOUBLES])
    assert typed(number, "DOUBLE", [*near, *DOUBLES], dialect) == right
    # the wrong ends are those of the step before
    monkeypatch.setattr(grid_values, "_ends", lambda _: (low - 2 * half, high - 2 * half))
    assert typed(number, "DOUBLE", [*near, *DOUBLES], dialect) != right


def test_rounding_is_half_up_and_whole_doubles_stay_what_they_are() -> None:
    halves = [0.5, 1.5, 2.5, -0.5, -1.5]
    assert typed(column(-9, 9), "DOUBLE", halves) == [1, 2, 3, 0, -1]
    assert [round(x) for x in halves] != [1, 2, 3, 0, -1], "half to even is another rule"
    # beyond 2^52 adding one half would itself round, and turn an odd number into the next even one
    odd = 2.0**52 + 1
    assert math.floor(odd + 0.5) != odd
    assert typed(column(0, 2**62), "DOUBLE", [odd]) == [int(odd)]


def test_sql_without_care_would_count_null_and_nan() -> None:
    # the mutant that stack.md warns of: LEAST and GREATEST skip NULL, and order NaN above all
    sql = "SELECT LEAST(GREATEST(x, 2), 9) FROM (VALUES (NULL::DOUBLE), ('nan'::DOUBLE)) t(x)"
    assert CONNECTION.execute(sql).fetchall() == [(2.0,), (9.0,)]
    assert typed(column(2, 9), "DOUBLE", [None, NAN]) == [None, None]
    assert typed(column(2, 9), "INTEGER", [None]) == [None]
    assert typed(column(2, 9), "BIGINT", [None]) == [None]


def test_single_precision_is_widened_first() -> None:
    # 0.1f is a little above 0.1
    number = column(0, 1, Decimal("1e-9"))
    assert typed(number, "FLOAT", [0.1]) == [100000001]
    assert typed(number, "DOUBLE", [0.1]) == [100000000]


INTEGERS = {
    kind: storage(kind)
    for kind in [
        "TINYINT",
        "UTINYINT",
        "SMALLINT",
        "USMALLINT",
        "INTEGER",
        "UINTEGER",
        "BIGINT",
        "UBIGINT",
        "HUGEINT",
        "UHUGEINT",
    ]
}


@pytest.mark.parametrize("arithmetic", [False, True])
@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize(
    "number",
    [
        column(-3, 300),
        column(5, 7),
        column(-(2**62), 2**62),
        column(0, 100, missing=3),
        column("-0.5", "2.5", "0.5"),
        column("0.2", "0.8", "0.2"),
        column(-294, 315, 21),
        column(0, 10**30 * 5, 10**30),
        column(-5, 5, "2.5"),
        column(10**9, 10**9 + 1),
        column(-(10**9) - 1, -(10**9)),
        column(2**125, 2**125 + 2**100, 2**100),
    ],
)
def test_integers_are_exact_at_the_ends_of_their_type(
    kind: str, number: Number, arithmetic: bool
) -> None:
    values = of_type(kind)
    dialect = replace(DUCKDB, arithmetic=arithmetic)
    assert typed(number, kind, values, dialect) == oracle(number, values)


def of_type(kind: str) -> list[int | None]:
    stored: Any = INTEGERS[kind]
    middle = [stored.low + 1, 0, 1, 2, 6, 10, 11, 127, 2**62, stored.high - 1]
    middle += [sign * 2**bits + by for sign in (-1, 1) for bits in (49, 51, 53) for by in (-1, 1)]
    return [None, stored.low, *(v for v in middle if stored.low <= v <= stored.high), stored.high]


def spread(number: Number, kind: str, values: list[Any]) -> list[tuple[Any, Any]]:
    """Whether each value is there, and its doubled distance from the middle of the bounds."""
    texts = [f"CAST({'NULL' if v is None else repr(str(v))} AS {kind})" for v in values]
    sql, place = "SELECT * FROM (VALUES " + ", ".join(f"({v})" for v in texts) + ") AS t(s0)", 0
    staged = spread_stages(number, storage(kind), replace(DUCKDB, arithmetic=True))
    assert staged is not None
    for place, stage in enumerate(stage for part in staged for stage in part):
        sql = f"SELECT *, {stage(f's{place}')} AS s{place + 1} FROM ({sql})"
    there = f"s{len(staged[0])}"
    return CONNECTION.execute(f"SELECT {there} IS NOT NULL, s{place + 1} FROM ({sql})").fetchall()


SPREAD = [
    column(0, 100),
    column(-7, 5),
    column(3, 2**49 - 1),
    column(-(2**49) + 1, 2**49 - 1),
    column(10**9, 10**9 + 1),
    column(-(10**9) - 1, -(10**9)),
]
FRACTIONS = [column(-100, 100, "0.01"), column(-5, 5, "2.5"), column("0.3", "3", "0.3")]


@pytest.mark.parametrize("number", [*SPREAD, *FRACTIONS])
@pytest.mark.parametrize(
    "kind", ["DOUBLE", "FLOAT", *(kind for kind in INTEGERS if "H" not in kind)]
)
def test_doubled_distances_to_the_middle_are_exact(kind: str, number: Number) -> None:
    floating = kind in ("DOUBLE", "FLOAT")
    if not floating and number in FRACTIONS:
        assert spread_stages(number, storage(kind), replace(DUCKDB, arithmetic=True)) is None
        return
    far = [2.0**52, -(2.0**52), 2.0**52 - 1, 2.0**900, -(2.0**1000), 1e300, 3.0, 2.0, -6.5, 99.99]
    near = [float(end) for end in (number.low, number.high)]
    values: list[Any] = [*DOUBLES, *far, *near] if floating else of_type(kind)
    if kind == "FLOAT":
        values = [v for v in values if v is None or not math.isfinite(v) or abs(v) < 1e38]
        values = [v if v is None else float(np.float32(v)) for v in values]
    steps = oracle(number, values)
    both = first_step(number) + last_step(number)
    assert spread(number, kind, values) == [
        (step is not None, None if step is None else 2 * step - both) for step in steps
    ]


def test_distances_of_far_doubles_would_be_wrong_without_care(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(grid_values, "_near", lambda name, *_: name)
    found = spread(column(0, 100), "DOUBLE", [2.0**900, INF, NAN, 7.0])
    assert found[0][1] != 100
    assert found[3][1] == -86
    assert math.isnan(found[1][1])


def test_distances_are_left_out_where_they_are_not_exact_or_not_quicker() -> None:
    quick = replace(DUCKDB, arithmetic=True)
    left_out = [
        (column(0, 2**49), "DOUBLE", quick),
        (column(0, 9), "UHUGEINT", quick),
        (column(0, 9), "DECIMAL(9,2)", quick),
        (column(0, 9, missing=3), "DOUBLE", quick),
        (column(0, 9), "DOUBLE", replace(DUCKDB, arithmetic=False)),
    ]
    for number, kind, dialect in left_out:
        assert spread_stages(number, storage(kind), dialect) is None


def test_integers_beyond_2_to_53_would_be_wrong_as_doubles() -> None:
    number = column(0, 2**62)
    odd = 2**53 + 1
    assert int(float(odd)) != odd
    assert typed(number, "BIGINT", [odd]) == [odd]
    assert typed(number, "UHUGEINT", [odd]) == [odd]


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        ("DECIMAL(4,2)", column(-5, 5, "0.5")),
        ("DECIMAL(4,2)", column(0, 1)),
        ("DECIMAL(4,4)", column(0, "0.9999", "0.0003")),
        ("DECIMAL(18,2)", column(-(10**6), 10**6, "0.01")),
        ("DECIMAL(38,10)", column(-(3 * 10**6), 3 * 10**6, "0.3")),
        ("DECIMAL(38,0)", column(-(2**62), 2**62)),
        ("DECIMAL(9,4)", column(10**6, 10**7)),
        ("DECIMAL(9,4)", column(-(10**7), -(10**6), missing=-(10**6))),
        ("DECIMAL(5,0)", column("0.5", "2.5", "0.5")),
        ("DECIMAL(16,0)", column("1885930159999825.408", "1885930159999825.409", "0.001")),
        ("DECIMAL(18,9)", column(-(10**9), 10**9, "0.000001")),
        ("DECIMAL(10,0)", column(0, 10**10, "0.00000001")),
    ],
)
def test_decimals_are_exact(kind: str, number: Number) -> None:
    stored: Any = storage(kind)
    unit, most = 10**stored.scale, 10**stored.width - 1
    units = [0, 1, -1, unit // 2, unit, 3 * unit // 2, -unit // 4, most, -most, most // 2]
    values = [None, *(Decimal(n).scaleb(-stored.scale) for n in units if abs(n) <= most)]
    assert typed(number, kind, values) == oracle(number, values)


def test_decimals_would_be_wrong_as_doubles() -> None:
    number = column(0, 3, "0.01")
    value = Decimal("1.005")
    assert oracle(number, [float(value)]) == [100]
    assert typed(number, "DECIMAL(9,3)", [value]) == [101]


def test_what_no_integer_holds_is_refused_and_not_wrapped() -> None:
    with pytest.raises(InvalidTable, match="too many digits"):
        typed(column(0, 100, "0.01"), "DECIMAL(38,37)", [1])
    with pytest.raises(InvalidTable, match="too many digits"):
        typed(column(0, 10**40, 10**40), "UHUGEINT", [1])


def test_booleans_count_as_0_and_1() -> None:
    assert typed(column(0, 1), "BOOLEAN", [True, False, None]) == [1, 0, None]


def test_literals_of_doubles_come_back_bit_by_bit() -> None:
    numbers = [0.1, -0.1, 1e22, 5e-324, 1.7976931348623157e308, 2.0**53, 123456.789, INF, -INF]
    for number in numbers:
        (row,) = CONNECTION.execute(f"SELECT {double(number)}, typeof({double(number)})").fetchall()
        assert row == (number, "DOUBLE")


def test_written_numbers_that_doubles_cannot_tell_apart_are_exact() -> None:
    wide = column(0, 2**62)
    whole = [2**53 + 1, 2**60 + 1, 2**62 - 1]
    assert computed(wide, Written(), [f"'{n}'" for n in whole]) == whole
    assert [int(float(n)) for n in whole] != whole  # the wrong way: as doubles
    beyond = ["'1e400'", "'-inf'", "'nan'", "'x'", "' 12 '", "'1e3'", "NULL", "''", "'0x10'"]
    assert computed(wide, Written(), beyond) == [2**62, 0, None, None, 12, 1000, None, None, None]
    fine = column("-4611686018427387.904", "4611686018427387.904", "0.001")
    texts = ["'4611686018427387.903'", "'-4611686018427387.9035'", "'9e99'", "'1e-30'"]
    assert computed(fine, Written(), texts) == [2**62 - 1, -(2**62) + 1, 2**62, 0]
    coarse = column(0, 10**30, 10**15)
    assert computed(coarse, Written(), [f"'{10**29 + 10**14}'"]) == [10**14]


def whole_column(**stated: Any) -> Column:
    stated = {"type": "number", "bounds": [0, 10], **stated}
    return Schema.from_dict({"table": TABLE, "columns": {"x": stated}}).column("x")


def counted(stored: Storage, kind: str, values: list[str]) -> int:
    condition = rounded_where(whole_column(), stored, "x", DUCKDB)
    rows = ", ".join(f"(CAST({value} AS {kind}))" for value in values)
    sql = f"SELECT count_if({condition}), count_if(({condition}) IS NULL) FROM (VALUES {rows}) t(x)"
    with duckdb.connect() as connection:
        ((many, unknown),) = connection.execute(sql).fetchall()
    assert unknown == 0
    return int(many)


def test_values_with_a_fraction_are_counted() -> None:
    values = ["1", "1.5", "-0.25", "NULL", "'nan'", "'inf'", "1e300"]
    assert counted(storage("DOUBLE"), "DOUBLE", values) == 2
    assert counted(storage("FLOAT"), "FLOAT", values[:-1]) == 2
    assert counted(storage("DECIMAL(9,2)"), "DECIMAL(9,2)", ["1.00", "1.01", "NULL"]) == 1
    assert counted(Written(), "VARCHAR", ["'1.0'", "'1.5'", "'x'", "' 2.5 '", "NULL"]) == 2


@pytest.mark.parametrize("kind", ["BIGINT", "BOOLEAN", "DECIMAL(9,0)", "DATE"])
def test_whole_numbers_have_none(kind: str) -> None:
    assert rounded_where(whole_column(), storage(kind), "x", DUCKDB) is None


def test_a_stated_grid_is_no_surprise() -> None:
    assert rounded_where(whole_column(grid=1), storage("DOUBLE"), "x", DUCKDB) is None
