"""Stored columns become steps, category numbers and booleans."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings

import tenue as tn
from oracle_engine import OracleEngine
from tenue.engine.computed_column import (
    All,
    Among,
    Any_,
    Computed,
    Formula,
    Missing,
    Not,
    Predicate,
    Product,
    Quotient,
    Steps,
    Sum,
    Within,
)
from tenue.engine.duckdb.dialect import DUCKDB, storage
from tenue.engine.duckdb.engine import DuckDB
from tenue.engine.open import open_engine
from tenue.engine.request import Bin, Group, Measure, People, RankRequest, Request
from tenue.engine.source.location import Frame, Relation
from tenue.engine.sql.logical_table import Held, Logical, Stored, truth, unmarked, with_computed
from tenue.engine.storage import Integer, Text
from tenue.errors import InvalidArgument, InvalidTable
from tenue.schema import Category, Number, Schema
from unit.engine.test_request import FORMULAS
from unit.engine.test_request import ROWS as FORMULA_ROWS
from unit.engine.test_request import TABLE as FORMULA_TABLE

TABLE = {"name": "t", "unit": "record", "neighbours": "replace"}
NUMBER = {"type": "number", "bounds": [-10, 1000]}


def schema(stated: dict[str, Any], **table: Any) -> Schema:
    return Schema.from_dict({"table": {**TABLE, **table}, "columns": {"x": stated}})


def read(values: Any, stated: dict[str, Any], **table: Any) -> list[Any]:
    """What a release would read, and the same number of values for a question."""
    engine = open_engine(pa.table({"x": values}), schema(stated, **table))
    try:
        rows = engine.read_all()
        assert rows.unreadable == {"x": 0}
        ((present,),) = engine.measure(Request((Measure("present", "x"),))).values()
        found: list[Any] = rows.logical.column("x").to_pylist()
        filled = "missing" in stated and not isinstance(stated["missing"], list)
        assert present == (len(found) if filled else len(found) - found.count(None))
        return found
    finally:
        engine.close()


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (pa.array([-9, 5, 999], pa.int16()), [None, 5, None]),
        (pa.array([5, 9], pa.uint8()), [5, 9]),
        (pa.array([-9.0, 5, 999.0]), [None, 5, None]),
        (pa.array([-9, 5], pa.float32()), [None, 5]),
        (pa.array([Decimal("-9.00"), Decimal("5.00")], pa.decimal128(9, 2)), [None, 5]),
        (pa.array(["-9", " -9.0 ", "5", "999"]), [None, None, 5, None]),
    ],
)
def test_numbers_that_mark_are_missing_in_every_storage(values: Any, found: list[Any]) -> None:
    assert read(values, {**NUMBER, "missing": [-9, 999]}) == found


def test_a_mark_is_stored_as_its_source_stores_numbers() -> None:
    stated = {"type": "number", "bounds": [0, 1], "grid": Decimal("0.1"), "missing": [0.1]}
    assert read(pa.array([0.1, 0.2], pa.float32()), stated) == [None, 2]


def test_texts_are_compared_without_the_spaces_around_them_and_exactly() -> None:
    stated = {"type": "category", "categories": ["a", "na"], "missing": ["?", "NA"]}
    values = pa.array(["a", " ? ", "NA", "na"])
    assert read(values, stated) == [0, None, None, 1]
    assert read(values.dictionary_encode(), stated) == [0, None, None, 1]
    codes = {"type": "category", "categories": ["1", "2"], "missing": ["9"]}
    assert read(pa.array([1, 9, 2]), codes) == [0, None, 1]


def test_marks_of_the_table_hold_for_each_column_that_has_no_list() -> None:
    assert read(pa.array(["?", "5"]), NUMBER, missing=["?"]) == [None, 5]
    day = {"type": "date", "bounds": ["2020-01-01", "2020-12-31"]}
    assert read(pa.array(["?", "2020-01-03"]), day, missing=["?"]) == [None, 2]
    assert read(pa.array(["?", "yes"]), {"type": "boolean"}, missing=["?", -9]) == [None, 1]


def test_a_column_has_marks_and_a_value_for_what_is_missing() -> None:
    engine = open_engine(
        pa.table({"x": ["?", "5", None]}), schema({**NUMBER, "missing": 7}, missing=["?"])
    )
    ((total, present),) = engine.measure(
        Request((Measure("total", "x"), Measure("present", "x")))
    ).values()
    assert (total, present) == (19, 3)
    engine.close()


def test_enumerations_and_collated_texts_of_a_database_are_read_alike() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TYPE e AS ENUM ('5', 'x', '7')")
        connection.execute("CREATE TABLE t (x e, c VARCHAR COLLATE NOCASE)")
        connection.execute("INSERT INTO t VALUES ('5', 'a'), ('x', 'A'), ('7', 'na'), (NULL, 'NA')")
        words = {"type": "category", "categories": ["a", "na"], "missing": ["NA"]}
        columns = {"x": {**NUMBER, "missing": [7]}, "c": words}
        engine = open_engine(connection, Schema.from_dict({"table": TABLE, "columns": columns}))
        rows = engine.read_all()
        assert rows.logical.column("x").to_pylist() == [5, None, None, None]
        assert rows.logical.column("c").to_pylist() == [0, None, 1, None]
        assert rows.unreadable == {"x": 1, "c": 1}


def test_an_identifier_that_is_a_mark_names_nobody() -> None:
    described = Schema.from_dict(
        {
            "table": {**TABLE, "unit": "id", "rows_per_unit": 1, "missing": ["NA"]},
            "columns": {"id": {"type": "identifier"}, "x": NUMBER},
        }
    )
    engine = open_engine(pa.table({"id": ["NA", "NA", "b"], "x": [1, 2, 3]}), described)
    people = tn.engine.request.People("id", 1, None)
    ((units,),) = engine.measure(Request((Measure("units"),), people=people)).values()
    assert units == 1
    engine.close()


def test_a_column_without_marks_is_read_as_it_is() -> None:
    assert unmarked(schema(NUMBER).column("x"), Text(), "x", DUCKDB) == "x"
    other = schema({**NUMBER, "missing": ["?", Fraction(1, 2)]}).column("x")
    assert unmarked(other, Integer("INTEGER", -(2**31), 2**31 - 1), "x", DUCKDB) == "x"


# -- Categories, booleans, derived columns and units, as the engine writes them --------------------

# ruff: noqa: S608 - tests write their own SQL


LOGICAL_CONNECTION = duckdb.connect()
literal, quoted = DUCKDB.literal, DUCKDB.quoted


def schema_of(**columns: dict[str, Any]) -> Schema:
    return Schema.from_dict({"table": TABLE, "columns": columns})


def logical(schema: Schema, source: str, kinds: dict[str, str]) -> Logical:
    held = {}
    for name, kind in kinds.items():
        column = schema.column(name)
        enum = ""
        if isinstance(column, Category):
            enum = f"ENUM({', '.join(map(literal, column.categories))})"
        held[name] = Held(column, name, storage(kind), enum)
    return Logical(Stored(source, held, schema.columns, DUCKDB))


def values(schema: Schema, name: str, source: str, **kinds: str) -> list[Any]:
    table = logical(schema, source, kinds)
    wanted = table.value(name)
    sql = f"SELECT {wanted} FROM ({table.write()})"
    return [row[0] for row in LOGICAL_CONNECTION.execute(sql).fetchall()]


def test_categories_are_compared_byte_by_byte_even_in_a_collated_table() -> None:
    schema = schema_of(c={"type": "category", "categories": ["a", "A", "é"]})
    LOGICAL_CONNECTION.execute("CREATE OR REPLACE TABLE folded (c VARCHAR COLLATE NOCASE.NOACCENT)")
    LOGICAL_CONNECTION.execute(
        "INSERT INTO folded VALUES ('A'), ('a'), ('e'), ('é'), ('a '), (NULL)"
    )
    assert values(schema, "c", "folded", c="VARCHAR") == [1, 0, None, 2, None, None]
    (same,) = LOGICAL_CONNECTION.execute("SELECT COUNT(*) FROM folded WHERE c = 'a'").fetchall()
    assert same[0] == 2, "without care both would be one category"


def test_groups_of_a_collated_table_are_told_apart_before_they_are_added() -> None:
    schema = schema_of(c={"type": "category", "categories": ["a", "A"]})
    LOGICAL_CONNECTION.execute("CREATE OR REPLACE TABLE folded (c VARCHAR COLLATE NOCASE)")
    LOGICAL_CONNECTION.execute("INSERT INTO folded VALUES ('A'), ('a'), ('A')")
    engine = DuckDB(Relation(LOGICAL_CONNECTION.table("folded")), schema)
    found = engine.measure(Request((Measure("rows"),), keys=(Group("c", 2),)))
    assert found == {(0,): (1,), (1,): (2,)}


def test_whole_numbers_and_booleans_are_categories_by_their_text() -> None:
    schema = schema_of(c={"type": "category", "categories": ["7", "-7", "07", "true"]})
    rows = "(VALUES (7), (-7), (70), (NULL)) AS t(c)"
    assert values(schema, "c", rows, c="INTEGER") == [0, 1, None, None]
    assert values(schema, "c", "(VALUES (true), (false)) AS t(c)", c="BOOLEAN") == [3, None]


def test_a_declared_missing_category_or_boolean_fills_the_gaps() -> None:
    schema = schema_of(
        c={"type": "category", "categories": ["a", "b"], "missing": "b"},
        f={"type": "boolean", "missing": False},
    )
    rows = "(VALUES ('a', 'yes'), ('x', 'perhaps'), (NULL, NULL)) AS t(c, f)"
    assert values(schema, "c", rows, c="VARCHAR", f="VARCHAR") == [0, 1, 1]
    assert values(schema, "f", rows, c="VARCHAR", f="VARCHAR") == [True, False, False]


def test_booleans_are_read_from_numbers_and_words() -> None:
    schema = schema_of(f={"type": "boolean"})
    words = "(VALUES (' TRUE '), ('T'), ('yes'), ('Y'), ('1'), ('false'), ('N'), ('0'), "
    words += "('2'), (''), (NULL)) t(f)"
    expected = [True] * 5 + [False] * 3 + [None] * 3
    assert values(schema, "f", words, f="VARCHAR") == expected
    numbers = "(VALUES (1), (0), (2), (-1), (NULL)) t(f)"
    assert values(schema, "f", numbers, f="INTEGER") == [True, False, None, None, None]
    floats = "(VALUES (1e0), (-0e0), ('nan'::DOUBLE), ('inf'::DOUBLE)) t(f)"
    assert values(schema, "f", floats, f="DOUBLE") == [True, False, None, None]


def test_derived_columns_use_clamped_values_and_never_fail() -> None:
    schema = schema_of(
        x={"type": "number", "bounds": [0, 10]},
        y={"type": "number", "bounds": [0, 10], "grid": 0.5, "missing": 0},
        ratio={"type": "number", "expression": "x / y", "bounds": [0, 4], "grid": 0.5},
        huge={"type": "number", "expression": "x * 1e308 * 1e308 - y * 1e400", "bounds": [0, 1]},
        sign={"type": "number", "expression": "-(-X + 3) - 2*Y", "bounds": [-30, 30]},
    )
    cells = [(4, 2.0), (999, 4.1), (3, 0.0), (3, None), (None, 1.0), (1, 0.25), (5, 1e308)]
    written = ", ".join(
        f"({'NULL' if x is None else x}, {'NULL' if y is None else repr(y)}::DOUBLE)"
        for x, y in cells
    )
    rows = f"(VALUES {written}) t(x, y)"
    oracle = OracleEngine(schema, [{"x": x, "y": y} for x, y in cells])
    for name in ("ratio", "huge", "sign"):
        expected = [oracle.value(name, row) for row in oracle.rows]
        assert values(schema, name, rows, x="INTEGER", y="DOUBLE") == expected
    assert values(schema, "ratio", rows, x="INTEGER", y="DOUBLE")[:4] == [4, 5, None, None]


def test_sql_holds_no_name_but_the_sources_and_ours() -> None:
    schema = schema_of(**{"Hours per week": {"type": "number", "bounds": [0, 1]}})
    held = {"hours per week": Held(schema.column("hours per week"), 'h"; DROP', storage("DOUBLE"))}
    table = Logical(Stored("source", held, schema.columns, DUCKDB))
    table.value("HOURS PER WEEK")
    sql = table.write()
    assert 'TRY("h""; DROP") AS r0' in sql
    assert "Hours" not in sql


def test_what_no_request_may_read_is_refused() -> None:
    schema = Schema.from_dict(
        {
            "table": TABLE | {"unit": "id", "rows_per_unit": 1},
            "columns": {"id": {"type": "identifier"}},
        }
    )
    table = logical(schema, "t", {"id": "VARCHAR"})
    with pytest.raises(InvalidArgument, match="identifier"):
        table.value("id")
    with pytest.raises(InvalidArgument, match="not declared"):
        table.value("other")
    with pytest.raises(InvalidArgument, match="not declared"):
        table.column(None)


def test_literals_and_names_are_quoted() -> None:
    assert LOGICAL_CONNECTION.execute(
        f"SELECT {literal(chr(39) + 'a--' + chr(92))}"
    ).fetchall() == [("'a--\\",)]
    name = 'a" b'
    assert LOGICAL_CONNECTION.sql(f"SELECT 1 AS {quoted(name)}").columns == [name]


OF_UNITS = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "Who", "neighbours": "replace", "rows_per_unit": 1},
        "columns": {"Who": {"type": "identifier"}, "n": {"type": "number", "bounds": [0, 1]}},
    }
)


def opened(values: list[Any], kind: pa.DataType) -> DuckDB:
    table = pa.table({"who": pa.array(values, kind, from_pandas=False), "n": [1] * len(values)})
    return DuckDB(Frame(table), OF_UNITS)


@pytest.mark.parametrize(
    ("values", "kind", "units"),
    [
        (["a", "A", "a ", "", "a", None], pa.string(), 4),
        (["é", "e\u0301", "e", "a\0", "a"], pa.string(), 5),
        (["17", "017", "17.0"], pa.string(), 3),
        ([0.0, -0.0, float("nan"), float("inf"), 1.5], pa.float64(), 3),
        ([0.0, -0.0, float("nan")], pa.float32(), 1),
        ([2**63 - 1, -(2**63), 2**63 - 2], pa.int64(), 3),
        ([True, False, None], pa.bool_(), 2),
        ([date(2000, 1, 1), date(2000, 1, 1)], pa.date32(), 1),
        ([None, None], pa.null(), 0),
    ],
)
def test_units_are_equal_as_stored(values: list[Any], kind: pa.DataType, units: int) -> None:
    asked = (Measure("units"), Measure("rows"))
    engine = opened(values, kind)
    found = engine.measure(Request(asked, people=People("WHO", 1, None)))
    assert found == ({(): (units, units)} if units else {})
    engine.close()


def test_a_unit_without_exact_equality_is_refused_when_the_table_is_opened() -> None:
    with pytest.raises(InvalidTable) as refused:
        opened([["a"]], pa.list_(pa.string()))
    assert "`Who` is the unit" in refused.value.what


def test_an_identifier_stays_invisible_otherwise() -> None:
    engine = opened(["a"], pa.string())
    rows = (Measure("rows"),)
    for request in (
        Request((Measure("present", "who"),)),
        Request(rows, Missing("who")),
        Request((Measure("units"),)),
        Request(rows, people=People("n", 1, None)),
        Request(rows, people=People("nobody", 1, None)),
    ):
        with pytest.raises(InvalidArgument):
            engine.measure(request)
    with pytest.raises(InvalidArgument):
        engine.ranks(RankRequest("who", ()))
    engine.close()


# -- Predicates fold what no column can hold, and know three truths --------------------------------

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "n": {"type": "number", "bounds": [-2, 5]},
            "c": {"type": "category", "categories": ["a", "b"]},
            "f": {"type": "boolean"},
        },
    }
)
ROWS = "(VALUES (-9, 'a', true), (0, 'b', false), (5, 'x', NULL), (NULL, NULL, true)) AS t(n, c, f)"
HELD = {
    "n": Held(SCHEMA.column("n"), "n", storage("INTEGER")),
    "c": Held(SCHEMA.column("c"), "c", storage("VARCHAR"), "ENUM('a', 'b')"),
    "f": Held(SCHEMA.column("f"), "f", storage("BOOLEAN")),
}
CONNECTION = duckdb.connect()


def truths(predicate: Predicate) -> list[Any]:
    logical = Logical(Stored(ROWS, HELD, SCHEMA.columns, DUCKDB))
    sql = logical.select([truth(predicate, logical)])
    return [row[0] for row in CONNECTION.execute(sql).fetchall()]


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (Within("n", -2, 0), [True, True, False, None]),
        (Within("n", None, 10**40), [True, True, True, None]),
        (Within("n", 6, 9), [False, False, False, None]),
        (Not(Within("n", 6, 9)), [True, True, True, None]),
        (Among("c", ("b", "undeclared")), [False, True, None, None]),
        (Among("c", ()), [False, False, None, None]),
        (Among("f", (False,)), [False, True, None, False]),
        (Missing("c"), [False, False, True, True]),
        (All((Among("f", (True,)), Within("n", 0, 5))), [False, False, None, None]),
        (Any_((Among("f", (True,)), Within("n", 0, 5))), [True, True, True, True]),
        (All(()), [True] * 4),
        (Any_(()), [False] * 4),
    ],
)
def test_each_predicate_is_true_false_or_unknown(
    predicate: Predicate, expected: list[bool | None]
) -> None:
    assert truths(predicate) == expected


def test_what_a_column_has_not_is_refused() -> None:
    for predicate in (Within("c", 0, 1), Among("n", ("a",)), Missing("nobody")):
        with pytest.raises(InvalidArgument):
            truths(predicate)


# The SQL of formulas, on DuckDB and against the oracle; the contract of engines has more.

FRAME = pd.DataFrame(
    [
        {n: float(v) if n == "y" and v is not None else v for n, v in row.items()}
        for row in FORMULA_ROWS
    ]
)


@settings(max_examples=60, deadline=None)
@given(FORMULAS)
def test_duckdb_computes_what_the_oracle_does(formula: Formula) -> None:
    asked = Request(
        (Measure("rows"), Measure("present", "(f)"), Measure("total", "(f)")),
        computed=(Computed("(f)", formula),),
    )
    engine = open_engine(FRAME, FORMULA_TABLE)
    assert engine.measure(asked) == OracleEngine(FORMULA_TABLE, FORMULA_ROWS).measure(asked)
    engine.close()


def test_one_computed_column_may_be_made_of_another() -> None:
    computed = (
        Computed("(twice)", Sum(0, ((2, Steps("x")),))),
        Computed("(down)", Quotient(Steps("(twice)"), 3)),
    )
    asked = Request((Measure("rows"),), keys=(Bin("(down)", 1, -2, 5),), computed=computed)
    engine = open_engine(FRAME, FORMULA_TABLE)
    assert engine.measure(asked) == OracleEngine(FORMULA_TABLE, FORMULA_ROWS).measure(asked)
    engine.close()


def test_what_needs_more_than_64_bits_is_computed_in_more() -> None:
    wide = Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            "columns": {"x": {"type": "number", "bounds": [-(2**31), 2**31]}},
        }
    )
    formula = Quotient(Product((Steps("x"), Steps("x"), Steps("x"))), 2**40)
    asked = Request((Measure("total", "(f)"),), computed=(Computed("(f)", formula),))
    engine = open_engine(pd.DataFrame({"x": [2**31, -(2**31), 3]}), wide)
    assert engine.measure(asked) == {(): (2**53 - 2**53,)}
    engine.close()


def test_a_computed_column_is_a_number_with_the_ends_of_its_range() -> None:
    from tenue.engine.duckdb.dialect import DUCKDB

    table = with_computed(
        Stored("t", {}, FORMULA_TABLE.columns, DUCKDB),
        [Computed("(f)", Sum(1, ((2, Steps("x")),)))],
    )
    column = Logical(table).column("(f)")
    assert isinstance(column, Number)
    assert (column.low, column.high, column.grid) == (-3, 7, 1)
    assert Logical(table).is_computed("(f)")
    assert not Logical(table).is_computed("(F)"), "in what is computed, case counts: 'A' and 'a'"
