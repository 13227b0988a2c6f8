"""Keys and their cells come from the schema."""

from __future__ import annotations

import itertools
from datetime import date, timedelta

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.engine.request import Bin, Calendar
from tenue.query.read.group.key import PARTS, refuse_cells
from tenue.query.read.parse import parse
from tenue.schema import Schema
from unit.query.asked import ask, refused


def key(text: str) -> object:
    (found,) = ask(f"SELECT {text}, COUNT(*) FROM census GROUP BY 1").keys  # noqa: S608
    return found


@given(st.integers(-50, 50), st.integers(1, 99), st.integers(1, 40))
def test_bins_begin_at_multiples_of_their_width(low: int, steps: int, width: int) -> None:
    schema = Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            "columns": {"x": {"type": "number", "bounds": [low * 5, (low + steps) * 5], "grid": 5}},
        }
    )
    (found,) = parse(f"SELECT BIN(x, {5 * width}), COUNT(*) FROM t GROUP BY 1", schema).keys  # noqa: S608
    cells = [step // width for step in range(low, low + steps + 1)]
    assert found == Bin("x", width, cells[0], len(set(cells)))


@pytest.mark.parametrize("part", PARTS)
def test_calendar_cells_are_those_of_the_database(part: str) -> None:
    found = key(f"DATE_TRUNC('{part}', seen)")
    assert isinstance(found, Calendar)
    (count,) = duckdb.connect().execute(
        "SELECT COUNT(DISTINCT DATE_TRUNC(?, moment)) FROM range(TIMESTAMP '2020-01-01 00:00:30', "
        "TIMESTAMP '2021-01-01', INTERVAL 1 MINUTE) AS r(moment)",
        [part],
    ).fetchone() or (None,)
    assert found.cells == count


def test_weeks_begin_on_monday_before_1970_too() -> None:
    days = [date(1969, 12, 20) + timedelta(days=n) for n in range(40)]
    for low, high in itertools.pairwise(days):
        schema = Schema.from_dict(
            {
                "table": {"name": "t", "unit": "record", "neighbours": "replace"},
                "columns": {"d": {"type": "date", "bounds": [str(low), str(high)]}},
            }
        )
        (found,) = parse("SELECT DATE_TRUNC('week', d), COUNT(*) FROM t GROUP BY 1", schema).keys
        assert isinstance(found, Calendar)
        monday = low - timedelta(days=low.weekday())
        assert date(1970, 1, 1) + timedelta(days=7 * found.first - 3) == monday
        assert found.cells == (2 if high.weekday() == 0 else 1)


def test_months_and_quarters_are_counted_from_year_zero() -> None:
    assert key("DATE_TRUNC('month', date)") == Calendar("date", "month", 2020 * 12, 60)
    assert key("DATE_TRUNC('quarter', date)") == Calendar("date", "quarter", 2020 * 4, 20)
    assert key("DATE_TRUNC('hour', seen)") == Calendar("seen", "hour", 18262 * 24, 366 * 24)


def test_there_are_100_000_cells_at_most() -> None:
    assert (
        ask(
            "SELECT BIN(income, 2) AS b, COUNT(*) FROM census WHERE age = 1 GROUP BY b "
            "HAVING b < 7".replace("2)", "20)")
        ).cells
        == 10_001
    )
    refusal = refused("SELECT BIN(income, 1), COUNT(*) FROM census GROUP BY 1", "cells")
    assert refusal.what == "The question has 200,001 cells."
    assert "100,000" in refusal.allowed
    refuse_cells([Bin("x", 1, 0, 100_000), Bin("y", 1, 0, 1)])


def test_a_column_without_declared_cells_gets_a_hint() -> None:
    hints = {"age": "BIN(age, 1)", "date": "DATE_TRUNC('month', date)", "rate": "BIN(rate, 0.1)"}
    for name, hint in hints.items():
        assert hint in refused(f"SELECT {name}, COUNT(*) FROM census GROUP BY 1", "key").fix  # noqa: S608
    assert refused("SELECT BIN(rate, 0.25), COUNT(*) FROM census GROUP BY 1", "width").fix == (
        "Write BIN(rate, 0.3)."
    )
    fix = refused("SELECT DATE_TRUNC('yaer', date), COUNT(*) FROM census GROUP BY 1", "part").fix
    assert fix == "Did you mean `year`?"
