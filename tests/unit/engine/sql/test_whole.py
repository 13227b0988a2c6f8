# ruff: noqa: S608 - tests write their own SQL
"""Integer SQL is exact over its whole range, and never leaves the type it has."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.engine.duckdb.dialect import DUCKDB
from tenue.engine.sql.whole import Whole, integer
from tenue.errors import InvalidTable

CONNECTION = duckdb.connect()
holding = DUCKDB.holding


def computed(value: Whole, x: int, kind: str) -> int:
    sql = f"SELECT {value.sql} FROM (SELECT CAST({x} AS {kind}) AS x)"
    (row,) = CONNECTION.execute(sql).fetchall()
    return row[0]


SIZES = st.sampled_from([3, 1000, 2**31, 2**62, 2**63 - 1, 2**100])


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_every_operation_equals_python_at_the_ends_of_the_range(data: st.DataObject) -> None:
    size = data.draw(SIZES)
    low = data.draw(st.integers(-size, size - 1))
    high = data.draw(st.integers(low + 1, size))
    number = data.draw(st.integers(1, 2**20))
    kind = holding(low, high)
    start = Whole("x", low, high, DUCKDB, kind)
    cut = sorted(data.draw(st.tuples(st.integers(-size, size), st.integers(-size, size))))
    for x in {low, high, (low + high) // 2, min(max(0, low), high)}:
        assert computed(start.plus(number), x, kind) == x + number
        assert computed(start.plus(-number), x, kind) == x - number
        assert computed(start.times(number), x, kind) == x * number
        assert computed(start.floor_divide(number), x, kind) == x // number
        assert computed(start.floor_divide(2**90), x, kind) == x // 2**90
        assert (
            computed(start.times(number).plus(3).floor_divide(7), x, kind) == (x * number + 3) // 7
        )
        if cut[0] < cut[1]:
            clamped = min(max(x, cut[0]), cut[1])
            assert computed(start.clamp(*cut), x, kind) == clamped
    for made in (start.plus(number), start.times(number), start.floor_divide(number)):
        assert made.low <= made.high
        holding(made.low, made.high)


@pytest.mark.parametrize(
    "value",
    [
        Whole("x", -9, 9, DUCKDB).plus(1),
        Whole("x", -9, 9, DUCKDB).times(3),
        Whole("x", -9, 9, DUCKDB).floor_divide(4),
        Whole("x", -9, 9, DUCKDB).floor_divide(10),
        Whole("x", 1, 9, DUCKDB).floor_divide(10),
        Whole("x", -9, 9, DUCKDB).clamp(0, 4),
        Whole("x", -9, 9, DUCKDB).clamp(10, 40),
        Whole("x", -9, 9, DUCKDB).narrow(),
    ],
)
def test_a_missing_value_stays_missing(value: Whole) -> None:
    sql = f"SELECT {value.sql} FROM (SELECT CAST(NULL AS BIGINT) AS x)"
    assert CONNECTION.execute(sql).fetchall() == [(None,)]


def test_sql_division_would_round_towards_zero() -> None:
    # the mutant: what floor_divide would be without its shift
    (row,) = CONNECTION.execute("SELECT -7 // 2").fetchall()
    assert row[0] == -3
    assert computed(Whole("x", -10, 10, DUCKDB).floor_divide(2), -7, "BIGINT") == -4


def test_constants_in_a_row_are_added_here_and_not_by_duckdb() -> None:
    whole = Whole("x", -(2**63), 0, DUCKDB)
    in_a_row = f"SELECT ((x + 10) + {2**63 - 1}) FROM (SELECT CAST(-11 AS BIGINT) AS x)"
    with pytest.raises(duckdb.Error, match="Overflow in addition"):
        CONNECTION.execute(in_a_row)
    assert computed(whole.plus(10).plus(2**63 - 1), -11, "BIGINT") == 2**63 - 2
    assert computed(whole.plus(10).floor_divide(20), -(2**63), "BIGINT") == (10 - 2**63) // 20
    assert whole.plus(7).plus(-7) == whole


def test_a_range_that_no_type_holds_is_refused() -> None:
    with pytest.raises(InvalidTable, match="too many digits"):
        Whole("x", 0, 2**62, DUCKDB).times(2**64)
    with pytest.raises(InvalidTable):
        holding(0, 2**126)
    assert holding(-(2**63), 2**63 - 1) == "BIGINT"
    assert holding(-(2**63) - 1, 0) == "HUGEINT"


def test_a_negative_literal_is_one_token() -> None:
    assert integer(-3) == "(-3)"
    assert integer(3) == "3"
