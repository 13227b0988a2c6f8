"""Products are exact, and refused from the bounds alone if their sums might not be."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from engine_tables import arrow_of, examples, moments, requests
from oracle_engine import OracleEngine
from tenue.engine.duckdb.engine import DuckDB
from tenue.engine.request import Factor, Measure, Request
from tenue.engine.source.location import Frame, Relation
from tenue.engine.sql.product import check_product
from tenue.errors import InvalidArgument, InvalidTable
from tenue.schema import Schema

SCHEMA = Schema.from_dict(
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
    engine = DuckDB(Frame(table), SCHEMA)
    try:
        return engine.measure(Request((Measure("moment", factors=factors),)))[()][0]
    finally:
        engine.close()


def test_the_largest_product_is_reached_exactly() -> None:
    assert check_product((Factor("x", 0, 2),), SCHEMA.columns) == 2**86
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
        check_product(factors, SCHEMA.columns)
    assert "126 bits" in refused.value.what
    with pytest.raises(InvalidTable):
        total(*factors, rows=[])


def test_what_is_no_product_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        check_product((Factor("c", 0, 1),), SCHEMA.columns)
    with pytest.raises(InvalidArgument):
        check_product((Factor("x", 0, -1),), SCHEMA.columns)
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
