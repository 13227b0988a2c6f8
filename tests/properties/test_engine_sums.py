"""On any table, DuckDB gives exactly the oracle's integers, in any order of rows, and one row moves
them no further than the schema says."""

from __future__ import annotations

import random
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from engine_tables import Example, arrow_of, examples, numbers, requests
from oracle_engine import OracleEngine
from tenue.engine.contract import Cells
from tenue.engine.duckdb.engine import DuckDB
from tenue.engine.request import Factor, Measure, Request
from tenue.engine.source.location import Frame, Relation
from tenue.errors import InvalidTable
from tenue.schema import Bounded, Number, Schema

CALM = settings(deadline=None, suppress_health_check=list(HealthCheck))
CONNECTION = duckdb.connect()


def measured(example: Example, rows: list[dict[str, Any]], asked: list[Request]) -> list[Cells]:
    # one connection for all examples: to open a sandbox for each would take most of the time
    relation = CONNECTION.from_arrow(arrow_of(example, rows))
    try:
        engine = DuckDB(Relation(relation), example.schema)
    except InvalidTable as refused:
        assume("cannot be computed exactly" not in refused.what)
        raise
    return [engine.measure(request) for request in asked]


@given(st.data())
@settings(CALM, max_examples=40)
def test_duckdb_equals_the_oracle_in_any_order_of_rows(data: st.DataObject) -> None:
    example = data.draw(examples())
    asked = data.draw(st.lists(requests(example.schema), min_size=3, max_size=3))
    oracle = OracleEngine(example.schema, example.rows)
    shuffled = random.Random(7).sample(example.rows, len(example.rows))
    found = measured(example, shuffled, asked)
    assert found == [oracle.measure(request) for request in asked]


@given(st.data())
@settings(CALM, max_examples=150)
def test_one_column_however_it_is_stored(data: st.DataObject) -> None:
    stated, kind, values = data.draw(numbers())
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    schema = Schema.from_dict({"table": table, "columns": {"n": stated}})
    rows = data.draw(st.lists(st.fixed_dictionaries({"n": st.none() | values}), max_size=20))
    asked = Request((Measure("present", "n"), Measure("total", "n")))
    found = measured(Example(schema, {"n": kind}, rows), rows, [asked])
    assert found == [OracleEngine(schema, rows).measure(asked)]


@pytest.mark.slow
@given(st.data())
@settings(CALM, max_examples=400)
def test_duckdb_equals_the_oracle_at_length(data: st.DataObject) -> None:
    example = data.draw(examples(most_rows=30))
    asked = data.draw(st.lists(requests(example.schema), min_size=2, max_size=2))
    oracle = OracleEngine(example.schema, example.rows)
    found = measured(example, example.rows, asked)
    assert found == [oracle.measure(request) for request in asked]


def most_moved(column: Bounded, shift: int = 0) -> int:
    low = int(column.low / column.grid) if isinstance(column, Number) else 0
    return max(abs(low - shift), abs(low + column.steps - shift))


def most_of(factors: tuple[Factor, ...], schema: Schema) -> int:
    moved = 1
    for factor in factors:
        column = schema.column(factor.column)
        if factor.power:
            assert isinstance(column, Bounded)
            moved *= most_moved(column, factor.shift) ** factor.power
    return moved


@given(st.data())
@settings(CALM, max_examples=40)
def test_one_row_moves_one_cell_by_at_most_one_value(data: st.DataObject) -> None:
    example = data.draw(examples().filter(lambda example: example.rows))
    asked = data.draw(requests(example.schema))
    gone = data.draw(st.integers(0, len(example.rows) - 1))
    neighbour = example.rows[:gone] + example.rows[gone + 1 :]
    (whole,), (less,) = (measured(example, rows, [asked]) for rows in (example.rows, neighbour))
    nothing = (0,) * len(asked.measures)
    moved = [key for key in whole if whole[key] != less.get(key, nothing)]
    assert set(less) <= set(whole)
    assert len(moved) <= 1
    for key in moved:
        for measure, one, other in zip(
            asked.measures, whole[key], less.get(key, nothing), strict=True
        ):
            if measure.kind == "total":
                column = example.schema.column(str(measure.column))
                assert isinstance(column, Bounded)
                assert abs(one - other) <= most_moved(column)
            elif measure.kind == "moment":
                assert abs(one - other) <= most_of(measure.factors, example.schema)
            else:
                assert one - other in (0, 1)


L = 2**50 + 8191
ATTACK = [float(L + 2)] + [float(L)] * 2**17


def schema_of(low: int, high: int) -> Schema:
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    columns = {"x": {"type": "number", "bounds": [low, high]}}
    return Schema.from_dict({"table": table, "columns": columns})


def total(values: pa.Array, schema: Schema) -> int:
    engine = DuckDB(Frame(pa.table({"x": values})), schema)
    (sums,) = engine.measure(Request((Measure("total", "x"),))).values()
    engine.close()
    return sums[0]


def test_large_floats_do_not_amplify_one_row() -> None:
    # Casacuberta et al.: a sum of doubles moves 8192 times further than the row that changed
    schema = schema_of(L, L + 2)
    other = [float(L), *ATTACK[1:]]
    assert total(pa.array(ATTACK), schema) - total(pa.array(other), schema) == 2
    naive = []
    for rows in (ATTACK, other):
        with duckdb.connect() as connection:
            connection.execute("SET threads = 1")
            connection.register("t", pa.table({"x": pa.array(rows)}))
            (found,) = connection.execute("SELECT SUM(x) FROM t").fetchall()
            naive.append(found[0])
    assert abs(naive[0] - naive[1]) != 2, "the attack has no force here, so this test has none"


def test_sums_do_not_wrap_where_64_bits_would() -> None:
    schema = schema_of(-(2**62), 2**62)
    values = [2**62] * 3 + [2**63 - 1]
    assert total(pa.array(values, pa.int64()), schema) == 2**64
    assert total(pa.array([-(2**63)] * 5, pa.int64()), schema) == -5 * 2**62
    assert total(pa.array([1e308, float("inf"), float("nan"), None]), schema) == 2**63
