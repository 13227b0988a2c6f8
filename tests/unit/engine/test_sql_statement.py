"""A request as one SELECT; all rows, checked.

Engines run it: `tests/unit/engine/test_duckdb_engine.py`,
`tests/unit/engine/test_postgres_engine.py`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from itertools import product
from pathlib import Path
from typing import Any, Literal

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
import sqlglot
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from engine_tables import arrow_of, examples, moments, people, requests
from oracle_engine import OracleEngine
from tenue.engine.computed_column import Among, Missing, Within
from tenue.engine.duckdb.dialect import DUCKDB, storage
from tenue.engine.duckdb.engine import DuckDB
from tenue.engine.open import open_engine
from tenue.engine.request import Bin, Calendar, Factor, Group, Key, Measure, Pieces, Request
from tenue.engine.source.location import Frame, Relation
from tenue.engine.sql.dialect import Dialect
from tenue.engine.sql.logical_table import Held, Logical, Stored
from tenue.engine.sql.row_checks import checks_of, hand_over, read_rows, unfilled
from tenue.engine.sql.statement import Statement, cell, check_product, piece, stored_cell, write
from tenue.engine.storage import Storage, read_as
from tenue.errors import InvalidArgument, InvalidTable, Refused
from tenue.schema import Category, Schema

CELL_SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "n": {"type": "number", "bounds": [-7, 7]},
            "c": {"type": "category", "categories": ["a", "b"]},
            "d": {"type": "date", "bounds": ["1969-11-01", "1970-02-28"]},
        },
    }
)
CELL_KINDS = {"n": "INTEGER", "c": "VARCHAR", "d": "DATE"}
CELL_CONNECTION = duckdb.connect()


def cell_table(rows: str) -> Logical:
    held = {
        name: Held(CELL_SCHEMA.column(name), name, storage(kind), "ENUM('a', 'b')")
        for name, kind in CELL_KINDS.items()
    }
    return Logical(Stored(f"({rows})", held, CELL_SCHEMA.columns, DUCKDB))


def cells(key: Key, rows: str) -> list[Any]:
    logical = cell_table(rows)
    sql = logical.select([cell(key, logical)])
    return [row[0] for row in CELL_CONNECTION.execute(sql).fetchall()]


CELL_NUMBERS = "SELECT unnest([-9, -4, -1, 0, 3, 9, NULL]) AS n"


def test_bins_are_rounded_down_and_counted_from_the_first() -> None:
    assert cells(Bin("n", 4, -2, 4), CELL_NUMBERS) == [0, 1, 1, 2, 2, 3, None]
    assert cells(Bin("n", 4, -1, 2), CELL_NUMBERS) == [None, 0, 0, 1, 1, None, None], (
        "some are in none"
    )
    assert cells(Bin("n", 4, 9, 2), CELL_NUMBERS) == [None] * 7, "no value reaches these cells"
    assert cells(Bin("n", 10**40, -1, 2), CELL_NUMBERS) == [0, 0, 0, 1, 1, 1, None]


def test_groups_are_numbered_or_left_as_they_are_stored() -> None:
    rows = "SELECT unnest(['b', 'a', 'x', NULL]) AS c"
    assert cells(Group("c", 2), rows) == [1, 0, None, None]
    logical = cell_table(rows)
    sql = logical.select([stored_cell(Group("c", 2), logical)])
    assert [row[0] for row in CELL_CONNECTION.execute(sql).fetchall()] == ["b", "a", "x", None]


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
            cells(key, CELL_NUMBERS)


# -- Every row is in exactly one piece, and a piece costs few comparisons --------------------------

PIECE_NUMBERS = "SELECT unnest([-99, -7, -3, 0, 1, 6, 7, 99, NULL]) AS n"
STEPS = [-7, -7, -3, 0, 1, 6, 7, 7, None]
STARTS = [(), (0,), (-7, 8), (-3, 1), (-4, -1, 2, 5), (-99, -3, 0, 3, 6), (-5, -4, 0, 6)]


def piece_found(key: Pieces, rows: str) -> list[int]:
    logical = cell_table(rows)
    sql = logical.select([piece(key, logical)])
    return [row[0] for row in CELL_CONNECTION.execute(sql).fetchall()]


@pytest.mark.parametrize("starts", STARTS)
def test_a_piece_counts_the_starts_that_are_not_above(starts: tuple[int, ...]) -> None:
    missing = len(starts) + 1
    wanted = [missing if n is None else sum(start <= n for start in starts) for n in STEPS]
    assert piece_found(Pieces("n", missing + 1, starts=starts), PIECE_NUMBERS) == wanted


@pytest.mark.parametrize("classes", [*product(range(2), repeat=2)])
def test_categories_have_the_piece_of_their_class(classes: tuple[int, int]) -> None:
    rows = "SELECT unnest(['a', 'b', 'x', NULL]) AS c"
    assert piece_found(Pieces("c", 3, classes=classes), rows) == [*classes, 2, 2]


def test_the_depth_is_the_logarithm_of_the_number_of_pieces() -> None:
    logical = cell_table(PIECE_NUMBERS)
    uneven = tuple(start for start in range(-6, 8) if start != 2)
    sql = piece(Pieces("n", 15, starts=uneven), logical)
    depth = deepest = 0
    for word in sql.replace("(", " ").replace(")", " ").split():
        depth += (word == "CASE") - (word == "END")
        deepest = max(deepest, depth)
    assert deepest <= 2 + 4
    even = piece(Pieces("n", 16, starts=tuple(range(-6, 8))), logical)
    assert len(even) < len(sql) / 2, "equally wide pieces are a quotient"


def test_an_identifier_has_no_pieces() -> None:
    with pytest.raises(Refused) as refused:
        piece_found(Pieces("who", 2), PIECE_NUMBERS)
    assert isinstance(refused.value, InvalidArgument)


# -- Products are exact, and refused from the bounds alone if their sums might not be --------------

PRODUCT_SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "x": {"type": "number", "bounds": [-(2**43), 2**43]},
            "y": {"type": "number", "bounds": [0, 2**62]},
            "c": {"type": "category", "categories": ["a"]},
        },
    }
)
X, Y = 2**43, 2**62
CONNECTION = duckdb.connect()


def total(*factors: Factor, rows: list[tuple[int | None, int | None]]) -> int:
    table = pa.table(
        {"x": [row[0] for row in rows], "y": [row[1] for row in rows], "c": ["a"] * len(rows)}
    )
    engine = DuckDB(Frame(table), PRODUCT_SCHEMA)
    try:
        return engine.measure(Request((Measure("moment", factors=factors),)))[()][0]
    finally:
        engine.close()


def test_the_largest_product_is_reached_exactly() -> None:
    assert check_product((Factor("x", 0, 2),), PRODUCT_SCHEMA.columns) == 2**86
    rows = [(X, 1), (-X, 1), (X - 1, 1), (None, 1)]
    assert total(Factor("x", 0, 2), rows=rows) == 2 * X**2 + (X - 1) ** 2
    far = Factor("y", -(2**62), 1)
    assert total(far, Factor("y", Y // 2, 0), rows=[(0, Y), (0, 0)]) == 3 * 2**62


@pytest.mark.parametrize(
    "factors",
    [
        (Factor("x", 1, 2),),
        (Factor("x", 0, 3),),
        (Factor("y", 0, 2),),
        (Factor("x", 0, 1), Factor("y", 0, 1)),
        (Factor("x", 2**87, 1),),
        (Factor("x", 0, 10**9),),
    ],
)
def test_what_might_exceed_126_bits_is_refused_before_any_row(factors: tuple[Factor, ...]) -> None:
    with pytest.raises(InvalidTable) as refused:
        check_product(factors, PRODUCT_SCHEMA.columns)
    assert "126 bits" in refused.value.what
    with pytest.raises(InvalidTable):
        total(*factors, rows=[])


def test_what_is_no_product_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        check_product((Factor("c", 0, 1),), PRODUCT_SCHEMA.columns)
    with pytest.raises(InvalidArgument):
        check_product((Factor("x", 0, -1),), PRODUCT_SCHEMA.columns)
    with pytest.raises(InvalidArgument):
        total(Factor("nobody", 0, 1), rows=[])


def test_power_zero_asks_only_that_the_column_is_there() -> None:
    rows = [(1, 1), (None, 1), (1, None), (5, 7)]
    assert total(Factor("x", 0, 0), Factor("y", 0, 0), rows=rows) == 2
    assert total(Factor("x", 0, 1), Factor("y", 0, 0), rows=rows) == 6


@given(st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_moment_of_any_table_is_the_oracles(data: st.DataObject) -> None:
    example = data.draw(examples())
    asked = data.draw(requests(example.schema))
    measures = tuple(data.draw(st.lists(moments(example.schema), min_size=1, max_size=4)))
    request = Request(measures, asked.where, asked.keys)
    try:
        engine = DuckDB(Relation(CONNECTION.from_arrow(arrow_of(example))), example.schema)
    except InvalidTable as refused:
        assume("cannot be computed exactly" not in refused.what)
        raise
    assert engine.measure(request) == OracleEngine(example.schema, example.rows).measure(request)


# Requests that do not fit are refused, and the SQL is closed: ours alone, whatever is asked.

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


# All rows in SQL: what is not as declared is counted, in every storage, and nothing is filled in.

DAY = {"type": "date", "bounds": ["2000-01-01", "2000-12-31"]}
MOMENT = {"type": "datetime", "bounds": ["2000-01-01T00:00:00", "2000-12-31T00:00:00"], "grid": 1}
NUMBER = {"type": "number", "bounds": [0, 10], "missing": 3}


class Statements:
    """A table of one column, in a database of its own."""

    def __init__(self, kind: str, values: list[str]) -> None:
        self.connection = duckdb.connect()
        self.connection.execute(f"CREATE TABLE t (x {kind})")
        for value in values:
            self.connection.execute(f"INSERT INTO t VALUES ({value})")  # noqa: S608

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql).fetchall()

    def arrow(self, sql: str) -> pa.Table:
        return self.connection.sql(sql).to_arrow_table()

    def batches(self, sql: str, size: int) -> list[pa.RecordBatch]:
        return self.arrow(sql).to_batches(size)


def table(column: dict[str, Any], kind: str) -> Stored:
    stated = {"name": "t", "unit": "record", "neighbours": "replace"}
    schema = Schema.from_dict({"table": stated, "columns": {"x": column}})
    held = Held(schema.columns["x"], "x", read_as(schema.columns["x"], storage(kind)))
    return Stored("t", {"x": held}, schema.columns, DUCKDB)


@pytest.mark.parametrize(
    ("column", "kind", "values", "expected"),
    [
        (NUMBER, "DOUBLE", ["-1", "0", "10", "10.1", "'nan'", "'inf'", "NULL"], (0, 1, 3, 6)),
        (NUMBER, "VARCHAR", ["'-1'", "'x'", "'inf'", "'nan'", "NULL", "'7'"], (1, 1, 2, 2)),
        (NUMBER, "BOOLEAN", ["TRUE", "NULL"], (0, 0, 0, None)),
        (DAY, "DATE", ["'1999-12-31'", "'2000-12-31'", "'infinity'", "NULL"], (0, 1, 2, 3)),
        (
            DAY,
            "TIMESTAMP",
            ["'2000-12-31 23:59:59.9'", "'2001-01-01'", "'1999-12-31 23:59:59'"],
            (0, 0, 2, None),
        ),
        (DAY, "VARCHAR", ["'1999-12-31'", "'x'", "'2000-05-05'"], (1, 0, 1, 2)),
        (DAY, "TIMESTAMP_NS", ["'2000-12-31 23:59:59.9'", "'2001-01-01'"], (0, 0, 1, None)),
        (
            MOMENT,
            "TIMESTAMP",
            ["'2000-12-31'", "'2000-12-31 00:00:00.000001'", "'1999-12-31 23:59:59.999999'"],
            (0, 0, 2, None),
        ),
        (MOMENT, "DATE", ["'2000-12-31'", "'2001-01-01'", "'-infinity'"], (0, 1, 2, 3)),
    ],
)
def test_what_is_not_as_declared_is_counted(
    column: dict[str, Any], kind: str, values: list[str], expected: tuple[int, int, int, int | None]
) -> None:
    stored, place = table(column, kind), Statements(kind, values)
    rows = read_rows(stored, place, lambda _: None)
    unreadable, infinite, beyond, first = expected
    found = (rows.unreadable["x"], rows.infinite["x"], rows.beyond["x"], rows.first.get("x"))
    assert found == (unreadable, infinite, beyond, first)
    logical = unfilled(stored)
    checks = checks_of(logical)
    (row,) = place.run(logical.select([*checks.chosen(), "17"]))  # an engine may select more
    validated = checks.validated(row, "digest")
    assert (validated.rows, validated.digest) == (len(values), "digest")
    assert validated.unreadable == ({"x": unreadable} if unreadable else {})
    batches: list[pa.RecordBatch] = []
    handed = hand_over(stored, place, lambda _: None, batches.append, 2)
    assert (handed.rows, handed.beyond) == (len(values), {"x": beyond})
    assert max(batch.num_rows for batch in batches) <= 2
    assert pa.Table.from_batches(batches).column(0).to_pylist() == rows.logical["x"].to_pylist()


def test_nothing_is_filled_in() -> None:
    """The mutant keeps the declared `missing`: the table would be published with 3 for NULL."""
    rows = read_rows(table(NUMBER, "DOUBLE"), Statements("DOUBLE", ["NULL", "4"]), lambda _: None)
    assert rows.logical["x"].to_pylist() == [None, 4]


# -- Totals from doubles are exact ----------------------------------------------------------------


def summed(column: dict[str, Any], kind: str, rows: str, dialect: Dialect) -> int:
    head = {"name": "t", "unit": "record", "neighbours": "replace"}
    schema = Schema.from_dict({"table": head, "columns": {"x": {"type": "number"} | column}})
    held = {"x": Held(schema.column("x"), "x", storage(kind))}
    table = Stored(f"({rows})", held, schema.columns, dialect)
    statement = write(Request((Measure("total", "x"),)), table)
    (found,) = statement.cells(CELL_CONNECTION.execute(statement.sql).fetchall()).values()
    return found[0]


@pytest.mark.parametrize("kind", ["DOUBLE", "INTEGER", "BIGINT"])
def test_a_total_of_any_size_is_exact(kind: str) -> None:
    dialect = replace(DUCKDB, arithmetic=True)
    many, high = 20_001, 2**31 - 1 if kind == "INTEGER" else 2**48 + 1
    rows = f"SELECT CAST({high} - 2 * (i % 2) AS {kind}) AS x FROM range({many}) t(i)"  # noqa: S608
    bounds = {"bounds": [0, high], "grid": 1}
    right = high * many - 2 * (many // 2)
    assert summed(bounds, kind, rows, dialect) == right
    assert summed(bounds, kind, rows, replace(dialect, most_rows=None)) == right
    if kind != "INTEGER":  # the mutant adds doubles whatever the bounds
        assert summed(bounds, kind, rows, replace(dialect, most_rows=1)) != right


def test_doubles_are_added_only_where_no_sum_of_theirs_can_be_rounded() -> None:
    dialect = replace(DUCKDB, arithmetic=True, most_rows=2**35)
    for high, whole in ((2**18, False), (2**18 + 1, True)):
        sqls = []
        for limit in (2**35, None):
            head = {"name": "t", "unit": "record", "neighbours": "replace"}
            stated = {"type": "number", "bounds": [0, high], "grid": 1}
            schema = Schema.from_dict({"table": head, "columns": {"x": stated}})
            held = {"x": Held(schema.column("x"), "x", storage("INTEGER"))}
            table = Stored("t", held, schema.columns, replace(dialect, most_rows=limit))
            sqls.append(write(Request((Measure("total", "x"),)), table).sql)
        assert ["AS BIGINT))" in sql for sql in sqls] == [whole, True]


def test_a_total_of_no_value_and_of_values_at_both_ends() -> None:
    dialect = replace(DUCKDB, arithmetic=True)
    bounds = {"bounds": [-3, 10], "grid": 1}
    assert summed(bounds, "DOUBLE", "SELECT CAST(NULL AS DOUBLE) AS x", dialect) == 0
    ends = "SELECT unnest([9e307, -9e307, 'inf'::DOUBLE, 'nan'::DOUBLE, NULL, 2.5]) AS x"
    assert summed(bounds, "DOUBLE", ends, dialect) == 10 - 3 + 10 + 3
