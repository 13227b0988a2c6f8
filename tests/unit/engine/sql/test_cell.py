"""Every row is in the cell that the request defines, or in none."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any, Literal

import duckdb
import pytest

from tenue.engine.duckdb.dialect import DUCKDB, storage
from tenue.engine.request import Bin, Calendar, Group, Key
from tenue.engine.sql.cell import cell, stored_cell
from tenue.engine.sql.logical import Held, Logical, Stored
from tenue.errors import InvalidArgument
from tenue.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "n": {"type": "number", "bounds": [-7, 7]},
            "c": {"type": "category", "categories": ["a", "b"]},
            "d": {"type": "date", "bounds": ["1969-11-01", "1970-02-28"]},
        },
    }
)
KINDS = {"n": "INTEGER", "c": "VARCHAR", "d": "DATE"}
CONNECTION = duckdb.connect()


def table(rows: str) -> Logical:
    held = {
        name: Held(SCHEMA.column(name), name, storage(kind), "ENUM('a', 'b')")
        for name, kind in KINDS.items()
    }
    return Logical(Stored(f"({rows})", held, SCHEMA.columns, DUCKDB))


def cells(key: Key, rows: str) -> list[Any]:
    logical = table(rows)
    sql = logical.select([cell(key, logical)])
    return [row[0] for row in CONNECTION.execute(sql).fetchall()]


NUMBERS = "SELECT unnest([-9, -4, -1, 0, 3, 9, NULL]) AS n"


def test_bins_are_rounded_down_and_counted_from_the_first() -> None:
    assert cells(Bin("n", 4, -2, 4), NUMBERS) == [0, 1, 1, 2, 2, 3, None]
    assert cells(Bin("n", 4, -1, 2), NUMBERS) == [None, 0, 0, 1, 1, None, None], "some are in none"
    assert cells(Bin("n", 4, 9, 2), NUMBERS) == [None] * 7, "no value reaches these cells"
    assert cells(Bin("n", 10**40, -1, 2), NUMBERS) == [0, 0, 0, 1, 1, 1, None]


def test_groups_are_numbered_or_left_as_they_are_stored() -> None:
    rows = "SELECT unnest(['b', 'a', 'x', NULL]) AS c"
    assert cells(Group("c", 2), rows) == [1, 0, None, None]
    logical = table(rows)
    sql = logical.select([stored_cell(Group("c", 2), logical)])
    assert [row[0] for row in CONNECTION.execute(sql).fetchall()] == ["b", "a", "x", None]


@pytest.mark.parametrize("part", ["year", "quarter", "month", "week", "day", "hour"])
def test_calendars_are_those_of_python(
    part: Literal["year", "quarter", "month", "week", "day", "hour"],
) -> None:
    days = [date(1969, 11, 1) + timedelta(days=i) for i in range(0, 119, 7)]
    rows = "SELECT unnest([" + ", ".join(f"DATE '{day}'" for day in days) + "]) AS d"
    since = [(day - date(1970, 1, 1)).days for day in days]
    index = {
        "year": [day.year for day in days],
        "quarter": [day.year * 4 + (day.month - 1) // 3 for day in days],
        "month": [day.year * 12 + day.month - 1 for day in days],
        "week": [(number + 3) // 7 for number in since],
        "day": since,
        "hour": [24 * number for number in since],
    }[part]
    key = Calendar("d", part, index[0] - 1, 10**4)
    assert cells(key, rows) == [number - index[0] + 1 for number in index]


def test_a_key_that_does_not_fit_its_column_is_refused() -> None:
    for key in (Group("n", 2), Bin("c", 1, 0, 2), Calendar("n", "year", 0, 2)):
        with pytest.raises(InvalidArgument):
            cells(key, NUMBERS)
