# ruff: noqa: S608 - tests write their own SQL
"""Categories, booleans, derived columns and units, as the engine writes them."""

from __future__ import annotations

from datetime import date
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from oracle_engine import OracleEngine
from tenue.engine.duckdb.dialect import DUCKDB, storage
from tenue.engine.duckdb.engine import DuckDB
from tenue.engine.request import Group, Measure, Missing, People, RankRequest, Request
from tenue.engine.source.location import Frame, Relation
from tenue.engine.sql.logical import Held, Logical, Stored
from tenue.errors import InvalidArgument, InvalidTable
from tenue.schema import Category, Schema

CONNECTION = duckdb.connect()
literal, quoted = DUCKDB.literal, DUCKDB.quoted
TABLE = {"name": "t", "unit": "record", "neighbours": "replace"}


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
    return [row[0] for row in CONNECTION.execute(sql).fetchall()]


def test_categories_are_compared_byte_by_byte_even_in_a_collated_table() -> None:
    schema = schema_of(c={"type": "category", "categories": ["a", "A", "é"]})
    CONNECTION.execute("CREATE OR REPLACE TABLE folded (c VARCHAR COLLATE NOCASE.NOACCENT)")
    CONNECTION.execute("INSERT INTO folded VALUES ('A'), ('a'), ('e'), ('é'), ('a '), (NULL)")
    assert values(schema, "c", "folded", c="VARCHAR") == [1, 0, None, 2, None, None]
    (same,) = CONNECTION.execute("SELECT COUNT(*) FROM folded WHERE c = 'a'").fetchall()
    assert same[0] == 2, "without care both would be one category"


def test_groups_of_a_collated_table_are_told_apart_before_they_are_added() -> None:
    schema = schema_of(c={"type": "category", "categories": ["a", "A"]})
    CONNECTION.execute("CREATE OR REPLACE TABLE folded (c VARCHAR COLLATE NOCASE)")
    CONNECTION.execute("INSERT INTO folded VALUES ('A'), ('a'), ('A')")
    engine = DuckDB(Relation(CONNECTION.table("folded")), schema)
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
    assert CONNECTION.execute(f"SELECT {literal(chr(39) + 'a--' + chr(92))}").fetchall() == [
        ("'a--\\",)
    ]
    name = 'a" b'
    assert CONNECTION.sql(f"SELECT 1 AS {quoted(name)}").columns == [name]


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
