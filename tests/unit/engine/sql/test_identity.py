"""Units are told apart exactly as they are stored."""

from __future__ import annotations

from datetime import date
from typing import Any

import pyarrow as pa
import pytest

from tenue.engine.duckdb.engine import DuckDB
from tenue.engine.request import Measure, Missing, People, RankRequest, Request
from tenue.engine.source.location import Frame
from tenue.errors import InvalidArgument, InvalidTable
from tenue.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "Who", "neighbours": "replace", "rows_per_unit": 1},
        "columns": {"Who": {"type": "identifier"}, "n": {"type": "number", "bounds": [0, 1]}},
    }
)


def opened(values: list[Any], kind: pa.DataType) -> DuckDB:
    table = pa.table({"who": pa.array(values, kind, from_pandas=False), "n": [1] * len(values)})
    return DuckDB(Frame(table), SCHEMA)


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
