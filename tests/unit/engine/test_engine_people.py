"""The SQL that keeps few rows of each unit is closed, and fails rather than keep a wrong row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import duckdb
import pytest

from tenue.engine import people
from tenue.engine.duckdb import DuckDB
from tenue.engine.request import Group, Measure, People, Request, Within
from tenue.engine.source import Relation
from tenue.errors import EngineFault, InvalidArgument
from tenue.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "who", "neighbours": "replace", "rows_per_unit": 1},
        "columns": {
            "who": {"type": "identifier"},
            "c": {"type": "category", "categories": ["0", "1", "2"]},
            "n": {"type": "number", "bounds": [0, 10**6]},
        },
    }
)
TABLE = "SELECT i % 97 AS who, CAST(i % 3 AS VARCHAR) AS c, i AS n FROM range(5000) AS r(i)"
ASKED = (Measure("rows"), Measure("total", "n"), Measure("units"))


def opened(connection: duckdb.DuckDBPyConnection) -> DuckDB:
    return DuckDB(Relation(connection.sql(TABLE)), SCHEMA)


def asked(limits: People) -> Request:
    return Request(ASKED, None, (Group("c", 3),), limits)


@pytest.mark.parametrize(
    "limits",
    [
        People("who", 0, None, 0),
        People("who", 1, 0, 0),
        People("who", 1, None, -1),
        People("who", 1, None, 2**64),
        People("who", 1.5, None, 0),  # type: ignore[arg-type]
    ],
)
def test_limits_that_are_none_are_refused(limits: People) -> None:
    with duckdb.connect() as connection:
        for request in (asked(limits), Request((Measure("units"),), people=limits)):
            with pytest.raises(InvalidArgument):
                opened(connection).measure(request)


@pytest.mark.parametrize("groups", [None, 2])
def test_rows_in_another_order_than_sorted_are_a_fault(
    groups: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = people._sorted

    def unsorted(*given: Any) -> str:
        before, _, after = real(*given).rpartition(" ORDER BY ")
        return before + after[after.index(")") :]

    with duckdb.connect() as connection:
        assert opened(connection).measure(asked(People("who", 3, groups, 1)))
        monkeypatch.setattr(people, "_sorted", unsorted)
        with pytest.raises(EngineFault):
            opened(connection).measure(asked(People("who", 3, groups, 1)))


def test_a_connection_that_does_not_keep_the_order_of_rows_keeps_the_same_rows() -> None:
    with duckdb.connect() as connection:
        limits = [People("who", 3, groups, 2) for groups in (None, 1, 2)]
        expected = [opened(connection).measure(asked(limit)) for limit in limits]
        for setting in (
            "preserve_insertion_order = false",
            "default_order = 'DESC'",
            "default_null_order = 'NULLS FIRST'",
            "threads = 1",
        ):
            connection.execute(f"SET {setting}")
            assert [opened(connection).measure(asked(limit)) for limit in limits] == expected


def test_the_engine_chooses_as_a_window_for_each_unit_would() -> None:
    """The same choice, written as SQL has it in textbooks."""
    with duckdb.connect() as connection:
        found = opened(connection).measure(asked(People("who", 3, None, 77)))
        copy = "row_number() OVER (PARTITION BY who, c, n) - 1"
        key = "hash(xor(hash(who, CAST(c AS INTEGER), n, copy), CAST(77 AS UBIGINT)))"
        plain = connection.execute(
            f"""SELECT CAST(c AS INTEGER), COUNT(*), SUM(n), COUNT(DISTINCT who)
            FROM (SELECT * FROM (SELECT *, {copy} AS copy FROM ({TABLE}))
            QUALIFY row_number() OVER (PARTITION BY who ORDER BY {key}) <= 3) GROUP BY 1"""  # noqa: S608
        ).fetchall()
        assert found == {(cell,): tuple(map(int, rest)) for cell, *rest in plain}


def test_each_row_is_as_likely_as_any_other_though_some_are_equal() -> None:
    """99 equal rows and one other: a hash of contents alone would keep it half the time."""
    rows = "SELECT 1 AS who, '0' AS c, 100 * CAST(i = 0 AS INT) AS n FROM range(100) AS r(i)"
    with duckdb.connect() as connection:
        engine = DuckDB(Relation(connection.sql(rows)), SCHEMA)
        found = [
            engine.measure(
                Request((Measure("total", "n"),), people=People("who", limit, None, seed))
            )
            for limit in (1, 10)
            for seed in range(150)
        ]
    kept = [cells[()][0] == 100 for cells in found]
    assert sum(kept[:150]) < 15  # 1.5 expected
    assert 1 <= sum(kept[150:]) < 45  # 15 expected


def test_counting_units_alone_needs_no_choice() -> None:
    with duckdb.connect() as connection:
        alone = Request((Measure("units"),), Within("n", 50, 500), people=People("who", 1, 1, 0))
        both = replace(alone, measures=(Measure("units"), Measure("rows")))
        engine = opened(connection)
        assert engine.measure(alone) == {(): (97,)}
        assert engine.measure(both) == {(): (97, 97)}
        by_cell = replace(alone, keys=(Group("c", 3),))
        assert sum(count for (count,) in engine.measure(by_cell).values()) == 97
