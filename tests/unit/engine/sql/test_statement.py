"""Requests that do not fit are refused, and the SQL is closed: ours alone, whatever is asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from engine_tables import moments, people, requests
from tenue.engine.duckdb.dialect import DUCKDB, storage
from tenue.engine.open import open_engine
from tenue.engine.request import (
    Among,
    Bin,
    Calendar,
    Factor,
    Group,
    Measure,
    Missing,
    Request,
    Within,
)
from tenue.engine.sql.logical import Held, Stored
from tenue.engine.sql.statement import Statement, write
from tenue.engine.storage import Storage
from tenue.errors import InvalidArgument
from tenue.schema import Category, Schema

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "n": {"type": "number", "bounds": [-10, 10]},
            "c": {"type": "category", "categories": ["canary'; DROP TABLE x; --", "b"]},
            "f": {"type": "boolean"},
            "who": {"type": "identifier"},
            "day": {"type": "date", "bounds": ["2000-01-01", "2001-01-01"]},
            "seen": {
                "type": "datetime",
                "bounds": ["2000-01-01T00:00:00", "2000-01-02T00:00:00"],
            },
        },
    }
)
KINDS = {
    "n": "BIGINT",
    "c": "VARCHAR",
    "f": "BOOLEAN",
    "who": "VARCHAR",
    "day": "DATE",
    "seen": "TIMESTAMP",
}


def held(name: str, kind: str) -> Held:
    column, stored = SCHEMA.column(name), storage(kind)
    return Held(column, name, stored, "words" if isinstance(column, Category) else "")


HELD = {name: held(name, kind) for name, kind in KINDS.items()}


def written(request: Request) -> Statement:
    return write(request, Stored("source", HELD, SCHEMA.columns, DUCKDB))


ROWS = (Measure("rows"),)


@pytest.mark.parametrize(
    "request_",
    [
        Request((Measure("total", "c"),)),
        Request((Measure("total", "f"),)),
        Request((Measure("total"),)),
        Request((Measure("present", "nobody"),)),
        Request((Measure("moment", factors=(Factor("c", 0, 1),)),)),
        Request((Measure("units"),)),
        Request(ROWS, Within("c", 0, 1)),
        Request(ROWS, Among("n", ("a",))),
        Request(ROWS, Missing("nobody")),
        Request(ROWS, keys=(Group("n", 2),)),
        Request(ROWS, keys=(Bin("c", 1, 0, 2),)),
        Request(ROWS, keys=(Calendar("n", "year", 0, 2),)),
    ],
)
def test_a_request_that_does_not_fit_is_refused(request_: Request) -> None:
    with pytest.raises(InvalidArgument):
        written(request_)


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_every_statement_is_one_select_from_the_source_alone(data: st.DataObject) -> None:
    request = data.draw(requests(SCHEMA))
    limits = data.draw(st.none() | people())
    measures = (*request.measures, data.draw(moments(SCHEMA)))
    statement = written(replace(request, measures=measures, people=limits))
    (tree,) = sqlglot.parse(statement.sql, dialect="duckdb")
    assert isinstance(tree, exp.Select)
    tables = {table.name for table in tree.find_all(exp.Table)}
    assert tables == {"source"}
    assert "canary" not in statement.sql, "categories are numbers by now"


def test_a_filter_on_what_no_column_can_hold_needs_no_literal_of_that_size() -> None:
    far = Request(ROWS, Within("n", -(10**50), 10**50))
    assert str(10**50) not in written(far).sql


def test_grouping_by_stored_values_comes_first_and_numbering_after() -> None:
    sql = written(Request(ROWS, keys=(Group("c", 2),))).sql
    outer, inner = sql.split(" FROM (", 1)
    assert "TRY_CAST(k0 AS words)" in outer
    assert "TRY_CAST" not in inner


def test_only_columns_asked_for_are_read() -> None:
    sql = written(Request((Measure("total", "n"),), Missing("day"))).sql
    read: set[Any] = {name for name in KINDS if f'"{name}"' in sql}
    assert read == {"n", "day"}
    assert isinstance(HELD["n"].stored, Storage)


# the rows of one person, found by an exact name, whatever the source stores
NAMED = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "id", "neighbours": "replace", "rows_per_unit": 2},
        "columns": {
            "id": {"type": "identifier"},
            "age": {"type": "number", "bounds": [0, 100]},
            "kind": {"type": "category", "categories": ["a", "b"]},
        },
    }
)
AGES = {"age": [10, 20, 30, 31, 32, None], "kind": ["a", "b", "a", "a", "b", "zzz"]}


def found(ids: list[Any], name: str, column: str = "age") -> list[int | None]:
    engine = open_engine(pd.DataFrame({"id": ids, **AGES}), NAMED)
    try:
        return engine.look_up("id", name, column)
    finally:
        engine.close()


NUMBERS = [1, 2, 3, 3, 3, 4]
TEXTS = ["1", "Ann", "017", "017", "017", "it's"]


@pytest.mark.parametrize(
    ("name", "ages"),
    [("1", [10]), ("2", [20]), ("4", [None]), ("01", []), ("1.0", []), ("x", []), ("", [])],
)
def test_numbers_are_found_by_their_shortest_decimal(name: str, ages: list[int | None]) -> None:
    assert found(NUMBERS, name) == ages
    assert found([float(n) for n in NUMBERS], name) == ages


def test_two_rows_are_as_good_as_many() -> None:
    assert len(found(NUMBERS, "3")) == 2


@pytest.mark.parametrize(
    ("name", "ages"),
    [("1", [10]), ("Ann", [20]), ("ann", []), ("Ann ", []), ("17", []), ("it's", [None])],
)
def test_texts_are_found_byte_by_byte(name: str, ages: list[int | None]) -> None:
    assert found(TEXTS, name) == ages


def test_categories_are_numbers_and_undeclared_ones_are_missing() -> None:
    assert found(NUMBERS, "1", "kind") == [0]
    assert found(NUMBERS, "4", "kind") == [None]


def test_files_of_text_are_searched_as_text(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,age,kind\n1,10,a\n01,20,b\n")
    engine = open_engine(path, NAMED)
    assert engine.look_up("id", "1", "age") == [10]
    assert engine.look_up("id", "01", "age") == [20]
    engine.close()
