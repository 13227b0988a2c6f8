"""SELECT and GROUP BY."""

from __future__ import annotations

import itertools
from datetime import date, timedelta

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.ask.question import GroupingSets, Question
from tenue.ask.sql.output import MOST_SETS, PARTS, refuse_cells
from tenue.ask.sql.parse import parse, parse_select
from tenue.ask.sql.write import render
from tenue.engine.request import Bin, Calendar, Group
from tenue.errors import InvalidQuestion
from tenue.schema import Schema
from unit.ask.asked import ask, refused

NAMES = "abcdefg"
SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
        "columns": {name: {"type": "boolean"} for name in NAMES},
    }
)


def sets(group: str, keys: str = "a, b, c") -> list[str]:
    found = parse_select(f"SELECT {keys}, COUNT(*) FROM t GROUP BY {group}", SCHEMA)  # noqa: S608
    assert isinstance(found, GroupingSets)
    names = [key.column for key in found.keys]
    return ["".join(names[place] for place in one) for one in found.sets]


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ("ROLLUP (a, b, c)", "abc ab a -"),
        ("CUBE (a, b, c)", "abc ab ac bc a b c -"),
        ("a, ROLLUP (b, c)", "abc ab a"),
        ("ROLLUP (a), ROLLUP (b), c", "abc ac bc c"),
        ("ROLLUP ((a, b), c)", "abc ab -"),
        ("GROUPING SETS ((a, b), c)", "ab c"),
        ("GROUPING SETS (ROLLUP (a, b), c)", "ab a - c"),
        ("GROUPING SETS (GROUPING SETS ((a), (b)), CUBE (c), (a, b))", "a b c - ab"),
        ("c, GROUPING SETS ((a, b), (a))", "abc ac"),
    ],
)
def test_sets_are_those_of_sql(group: str, expected: str) -> None:
    assert [one or "-" for one in sets(group)] == expected.split()


@pytest.mark.parametrize(
    "group",
    ["ROLLUP (a, b, c), a", "GROUPING SETS ((a, b, c), (c, b, a))", "CUBE (a, b, c), ROLLUP (a)"],
)
def test_a_set_that_is_listed_twice_is_refused(group: str) -> None:
    with pytest.raises(InvalidQuestion, match="same keys"):
        sets(group)


def test_too_many_sets_are_refused_before_they_are_made() -> None:
    keys = ", ".join(NAMES)
    with pytest.raises(InvalidQuestion, match=f"at most {MOST_SETS}"):
        sets(f"CUBE ({keys})", keys)
    crossed = ", ".join(f"CUBE ({name})" for name in NAMES)
    with pytest.raises(InvalidQuestion, match=f"at most {MOST_SETS}"):
        sets(crossed, keys)


def test_one_set_is_an_ordinary_question() -> None:
    found = parse_select("SELECT a, COUNT(*) FROM t GROUP BY GROUPING SETS ((a))", SCHEMA)
    assert isinstance(found, Question)
    assert found == parse("SELECT a, COUNT(*) FROM t GROUP BY a", SCHEMA)


def test_where_one_table_is_asked_for_sets_are_refused() -> None:
    with pytest.raises(InvalidQuestion, match="one question for each set"):
        parse("SELECT a, COUNT(*) FROM t GROUP BY ROLLUP (a)", SCHEMA)


# -- Keys and their cells come from the schema -----------------------------------------------------


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
    hints = {"income": "BIN(income, 5000)", "date": "DATE_TRUNC('month', \"date\")"}
    for name, hint in hints.items():
        assert hint in refused(f"SELECT {name}, COUNT(*) FROM census GROUP BY 1", "key").fix  # noqa: S608
        ask(f"SELECT {hint}, COUNT(*) FROM census GROUP BY 1")  # noqa: S608
    fix = refused("SELECT BIN(rate, 0.25), COUNT(*) FROM census GROUP BY 1", "width").fix
    assert fix.startswith("Write BIN(rate, 0.3).")
    assert fix.endswith("`SELECT BIN(rate, 0.3), COUNT(*) FROM census GROUP BY BIN(rate, 0.3)`.")
    fix = refused("SELECT DATE_TRUNC('yaer', date), COUNT(*) FROM census GROUP BY 1", "part").fix
    assert fix.startswith("Did you mean `year`?")


# -- The columns of an answer have names of their own ----------------------------------------------


def names(sql: str) -> list[str]:
    return [output.alias for output in ask(sql).outputs]


def test_names_are_sensible_and_unique() -> None:
    assert names(
        "SELECT sex, BIN(age, 5), DATE_TRUNC('week', date), COUNT(*), COUNT(sex), SUM(age), "
        "AVG(age), AVG(age) + 1, COUNT(*) FROM census GROUP BY 1, 2, 3 LIMIT 3"
    ) == [
        "sex",
        "bin_age",
        "date_week",
        "count",
        "count_sex",
        "sum_age",
        "avg_age",
        "value",
        "count_2",
    ]


def test_given_names_go_first() -> None:
    assert names(
        "SELECT COUNT(*), COUNT(*), SUM(age) AS Count, AVG(age) AS count_2 FROM census"
    ) == [
        "count_3",
        "count_4",
        "Count",
        "count_2",
    ]
    refused("SELECT COUNT(*) AS n, SUM(age) AS N FROM census", "alias")


def test_a_column_is_called_as_the_question_calls_it() -> None:
    sql = "SELECT S, SUM(Pay) FROM (SELECT sex AS s, income AS pay FROM census) GROUP BY s"
    assert names(sql) == ["s", "sum_pay"]
    assert ask(sql).keys == (Group("sex", 2),)


def test_long_names_are_cut_so_that_they_can_be_given() -> None:
    long = "x" * 128
    schema = Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            "columns": {long: {"type": "number", "bounds": [0, 9]}},
        }
    )
    sql = f"SELECT BIN({long}, 2), SUM({long}), SUM({long}) + 0, SUM({long}) FROM t GROUP BY 1"  # noqa: S608
    question = parse(sql, schema)
    assert all(len(output.alias) <= 128 for output in question.outputs)
    assert parse(render(question, schema), schema) == question


def test_group_by_finds_a_column_before_a_name() -> None:
    assert ask("SELECT sex AS s, COUNT(*) AS sex FROM census GROUP BY sex").keys == (
        Group("sex", 2),
    )
    assert ask("SELECT sex AS job, COUNT(*) FROM census GROUP BY job").keys == (Group("sex", 2),)
    refused("SELECT sex AS employed, COUNT(*) FROM census GROUP BY employed", "not-grouped")
    refused("SELECT sex AS s, COUNT(*) FROM census GROUP BY census.s", "unknown-column")


def test_there_are_100_columns_at_most() -> None:
    assert len(ask("SELECT COUNT(*)" + ", COUNT(*)" * 99 + " FROM census").outputs) == 100
    refused("SELECT COUNT(*)" + ", COUNT(*)" * 100 + " FROM census", "too-many-outputs")


def test_places_are_whole_numbers_from_one() -> None:
    for place in ("0", "3", "1.5", "-1"):
        sql = f"SELECT sex, COUNT(*) FROM census GROUP BY {place}"  # noqa: S608
        refused(sql, "key" if place == "-1" else "position")
    refused("SELECT sex, COUNT(*) FROM census GROUP BY 'sex'", "position")
