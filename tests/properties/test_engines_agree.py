"""PostgreSQL and DuckDB read the same from the same values, one by one, and neither ever fails.

Each value is a row of its own unit, looked up on both engines, so that one that is read otherwise
is named by the test.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from itertools import count
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from postgres_server import Server
from tenue.engine.contract import Engine
from tenue.engine.open import open_engine
from tenue.engine.postgres.dialect import POSTGRES
from tenue.engine.postgres.session import ServerSession, Snapshot
from tenue.engine.request import Group, Measure, RankRequest, Request, Window
from tenue.engine.sql.order_statistics import profiles
from tenue.schema import Schema

pytestmark = pytest.mark.needs("postgres")
_numbers = count(1)
Column = dict[str, Any]


def schema(column: Column) -> Schema:
    table = {"name": "t", "unit": "record", "neighbours": "add-or-remove"}
    columns = {"who": {"type": "identifier"}, "x": column}
    return Schema.from_dict({"table": table, "columns": columns})


def in_postgres(server: Server, kind: str, values: Sequence[Any], described: Schema) -> Engine:
    name = f"agree_{next(_numbers)}"
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute("CREATE SCHEMA IF NOT EXISTS agree")
        connection.execute(f"CREATE TABLE agree.{name} (who text, x {kind})".encode())
        with connection.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO agree.{name} VALUES (%s, %s)".encode(),  # noqa: S608
                [(str(i), value) for i, value in enumerate(values)],
            )
    return open_engine(f"{server.address()}#agree.{name}", described)


def in_duckdb(kind: pa.DataType, values: Sequence[Any], described: Schema) -> Engine:
    who = pa.array([str(i) for i in range(len(values))])
    return open_engine(pa.table({"who": who, "x": pa.array(values, kind)}), described)


def read(engine: Engine, many: int) -> list[int | None]:
    rows = engine.read_all()
    names = [int(name) for name in rows.identifiers["who"].to_pylist()]
    found = dict(zip(names, rows.logical["x"].to_pylist(), strict=True))
    assert engine.look_up("who", "0", "x") == [found[0]], "a question reads what a release does"
    return [found[i] for i in range(many)]


def agree(
    server: Server, column: Column, kind: str, arrow: pa.DataType, values: Sequence[Any]
) -> None:
    described = schema(column)
    one, other = in_postgres(server, kind, values, described), in_duckdb(arrow, values, described)
    found = zip(values, read(one, len(values)), read(other, len(values)), strict=True)
    assert [row for row in found if row[1] != row[2]] == []
    asked = Request((Measure("rows"), Measure("present", "x"), Measure("total", "x")))
    if column["type"] in ("number", "date", "datetime"):
        assert one.measure(asked) == other.measure(asked)
    one.validate()
    one.close()
    other.close()


COLUMNS: tuple[Column, ...] = (
    {"type": "number", "bounds": [-5, 5], "grid": 0.5},
    {"type": "number", "bounds": [-999, 999], "grid": 3},
    {"type": "number", "bounds": [0, 10**12], "grid": 0.01},
    {"type": "number", "bounds": [-(2**60), 2**60]},
)
WORDS = [
    *(
        "0",
        "-0",
        "+0",
        "1",
        " 7 ",
        "+3.5",
        "-2.25",
        ".5",
        "5.",
        "-.5",
        ".",
        "",
        " ",
        "+",
        "-",
        "e5",
    ),
    *("1e2", "1E-2", "1e+2", "1e400", "-1e400", "1e-400", "0e999999", "1e99999", "-1e99999"),
    *(
        "1e-99999",
        "1" + "0" * 400,
        "-" + "9" * 309,
        "0." + "0" * 400 + "1",
        "123456789012345678901",
    ),
    *("nan", "NaN", "-nan", "inf", "-inf", "Infinity", "-INFINITY", "+inf", "infinit"),
    *("1__0", "_1", "1_", "1_.5", "1._5", "1.5_0", "1e1_0", "-+5", "++5", "+ 5", "1.e5", ".e5"),
    *("+-inf", "+nan", "1e0005", "1e-0005", "-1e5.", "1f", "\v5", "\u00a05", "0e99999999999999"),
    *("1,5", "1_000", "0x10", "1e", "1e+", "1 2", "1.2.3", "twelve", "\t5", "5\n", "٣", "１", "½"),
    *(
        "999999999999.994999",
        "999999999999.995",
        "4.7499999999999999999999",
        "4.75",
        "2.5",
        "1.4999",
    ),
    *("NULL", "true", "$5", "5%", "--5", "+-5", "1e5e5", "1152921504606846976", "1e18", "0.1e1"),
]


@pytest.mark.parametrize("column", COLUMNS, ids=str)
def test_written_numbers(postgres_server: Server, column: Column) -> None:
    agree(postgres_server, column, "text", pa.string(), WORDS)


def doubles() -> list[float | None]:
    drawn = random.Random(7)
    found: list[float | None] = [0.0, -0.0, math.inf, -math.inf, math.nan, None, 5e-324, -5e-324]
    found += [1e308, -1e308, 2.0**52, 2.0**53 + 2, 2.0**63, -(2.0**63), 0.25, -0.25, 4.75, 1e-300]
    found += [drawn.choice((-1, 1)) * 10 ** drawn.uniform(-320, 308) for _ in range(200)]
    return found + [drawn.uniform(-6, 6) for _ in range(200)]


@pytest.mark.parametrize("column", COLUMNS, ids=str)
def test_doubles(postgres_server: Server, column: Column) -> None:
    agree(postgres_server, column, "double precision", pa.float64(), doubles())
    single = [None if x is None or abs(x) > 3e38 or 0 < abs(x) < 1e-37 else x for x in doubles()]
    agree(postgres_server, column, "real", pa.float32(), single)


@pytest.mark.parametrize("column", COLUMNS, ids=str)
def test_whole_numbers_and_truths(postgres_server: Server, column: Column) -> None:
    for kind, arrow, bits in (
        ("smallint", pa.int16(), 16),
        ("integer", pa.int32(), 32),
        ("bigint", pa.int64(), 64),
    ):
        ends = [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1]
        agree(postgres_server, column, kind, arrow, [*ends, 0, 1, -1, 4, 5, 6, 1000, None])
    agree(postgres_server, column, "boolean", pa.bool_(), [True, False, None])


@pytest.mark.parametrize("column", COLUMNS, ids=str)
def test_decimals(postgres_server: Server, column: Column) -> None:
    values = [Decimal(n).scaleb(-2) for n in (-500, 475, 474, 25, -25, 0, 10**11, -(10**15), 99)]
    agree(postgres_server, column, "numeric(18,2)", pa.decimal128(18, 2), [*values, None])


def test_decimals_that_are_no_numbers_are_missing(postgres_server: Server) -> None:
    for kind in ("numeric(10,2)", "numeric"):
        engine = in_postgres(postgres_server, kind, ["NaN", "4.5", None], schema(COLUMNS[0]))
        assert read(engine, 3) == [None, 9, None]
        engine.close()
    far = ["Infinity", "-Infinity", "1e400", "-1e400", "1e-400", "2.26"]
    engine = in_postgres(postgres_server, "numeric", far, schema(COLUMNS[0]))
    assert read(engine, 6) == [10, -10, 10, -10, 0, 5]
    engine.close()


DAYS: Column = {"type": "date", "bounds": ["2000-01-01", "2002-12-28"], "grid": 7}
MOMENTS: Column = {
    "type": "datetime",
    "bounds": ["2000-01-01T00:00:00", "2000-01-03T00:00:00"],
    "grid": 60,
}
WRITTEN_DAYS = [
    *("2000-01-01", "2000-02-29", "2001-02-29", "1900-02-29", "2002-02-30", "2002-04-31"),
    *(" 2001-07-01 ", "2001-13-01", "2001-00-10", "0000-01-01", "0001-01-01", "9999-12-31"),
    *("2001-7-1", "2001-07-1", "infinity", "-infinity", "", "soon", "20010101"),
]


def test_days(postgres_server: Server) -> None:
    values = [date(2000, 1, 1), date(1999, 1, 1), date(2050, 1, 1), date(2000, 1, 5), None]
    agree(postgres_server, DAYS, "date", pa.date32(), values)
    agree(postgres_server, DAYS, "text", pa.string(), WRITTEN_DAYS)
    engine = in_postgres(postgres_server, "date", ["infinity", "-infinity"], schema(DAYS))
    assert read(engine, 2) == [156, 0]
    engine.close()


def test_moments(postgres_server: Server) -> None:
    values = [
        datetime(2000, 1, 1, 0, 0, 29, 999999),
        datetime(2000, 1, 1, 0, 0, 30),
        datetime(1969, 12, 31, 23, 59, 59, 999999),
        datetime(2031, 1, 1),
        datetime(2000, 1, 2, 13, 14, 15, 16),
        None,
    ]
    for kind, arrow in (
        ("timestamp", pa.timestamp("us")),
        ("timestamp with time zone", pa.timestamp("us", "UTC")),
    ):
        for column in (MOMENTS, DAYS):
            given = [None if v is None else v for v in values]
            zoned = [None if v is None else f"{v}+00" for v in values]
            described = schema(column)
            one = in_postgres(postgres_server, kind, zoned if "zone" in kind else given, described)
            other = in_duckdb(arrow, given, described)
            assert read(one, len(values)) == read(other, len(values)), (kind, column)
            one.close()
            other.close()
    words = ["2000-01-02 13:14:15", "2000-01-02T13:14", "2000-01-02 13:14:15.1234567", "2000-01-02"]
    words += [
        "2000-01-02 1:2:3",
        "2000-01-02 13:14:15.",
        "2000-01-02 13:60:00",
        "2000-02-30 00:00:00",
        "noon",
        "",
    ]
    agree(postgres_server, MOMENTS, "text", pa.string(), words)


def test_categories_are_told_apart_byte_by_byte(postgres_server: Server) -> None:
    names = ["a", "A", "å", "ａ", "а", "o'x", 'q"q', "b\\n", "%s", "?", " a", "ß", "ss"]
    column = {"type": "category", "categories": names}
    values = [*names, "ÅÅ", None, "", "b", "SS"]
    agree(postgres_server, column, "text", pa.string(), values)
    agree(postgres_server, column, "varchar(9)", pa.string(), values)
    for kind in ("CREATE TYPE agree.word AS ENUM ('a', 'A', 'å')", "CREATE DOMAIN agree.d AS text"):
        with psycopg.connect(postgres_server.address(), autocommit=True) as connection:
            connection.execute("CREATE SCHEMA IF NOT EXISTS agree")
            connection.execute(kind.encode())
    agree(postgres_server, column, "agree.word", pa.string(), ["a", "A", "å", None])
    agree(postgres_server, column, "agree.d", pa.string(), values)


@pytest.mark.parametrize("many", [1, 32, 33, 10_000])
def test_many_categories(postgres_server: Server, many: int) -> None:
    names = [f"name {i}" for i in range(many)]
    described = schema({"type": "category", "categories": names})
    values = [*names[:: max(1, many // 50)], "name", "name -1", None]
    one = in_postgres(postgres_server, "text", values * 2, described)
    other = in_duckdb(pa.string(), values * 2, described)
    asked = Request((Measure("rows"),), keys=(Group("x", many),))
    assert one.measure(asked) == other.measure(asked)
    one.close()
    other.close()


WINDOWS = st.builds(
    Window,
    st.sampled_from([1, 2, 7, 10**30]),
    st.just(0) | st.just(1),
    st.integers(-12, 12),
    st.integers(-12, 12),
    st.integers(0, 9) | st.just(10**31),
)


@given(
    st.lists(st.none() | st.integers(-3, 3) | st.sampled_from([2**62, -(2**62)]), max_size=25),
    st.lists(WINDOWS, max_size=3),
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_values_near_a_rank(
    postgres_server: Server, values: list[int | None], windows: list[Window]
) -> None:
    described = schema({"type": "number", "bounds": [-(2**62), 2**62]})
    engine = in_postgres(postgres_server, "bigint", values, described)
    other = in_duckdb(pa.int64(), values, described)
    request = RankRequest("x", tuple(windows))
    assert engine.ranks(request) == other.ranks(request)
    engine.close()
    other.close()


def test_statements_about_ranks_have_no_value_in_them(postgres_server: Server) -> None:
    """Others may write them down. The mutant is what DuckDB, whose statements nobody sees, does."""
    described = schema({"type": "number", "bounds": [0, 100_000]})
    opened = in_postgres(postgres_server, "bigint", [77_000 + i for i in range(1000)], described)
    session = ServerSession(postgres_server.address(), 60)
    request = RankRequest("x", (Window(100, 50, 0, 0, 1000), Window(100, 10, 0, 0, 1000)))
    table = opened._table  # type: ignore[attr-defined]
    for logged in (True, False):
        asked: list[str] = []
        with session.snapshot() as state:

            def written_down(
                sql: str, asked: list[str] = asked, state: Snapshot = state
            ) -> list[tuple[Any, ...]]:
                asked.append(sql)
                return state.run(sql)

            dialect = replace(POSTGRES, logged=logged)
            found = profiles(request, replace(table, dialect=dialect), written_down)
        assert found == opened.ranks(request)
        assert ("77" in "".join(asked)) != logged
        assert len(asked) == (2 if logged else 3), "nothing was counted in full"
    session.close()
    opened.close()
