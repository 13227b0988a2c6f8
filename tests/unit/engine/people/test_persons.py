"""One row for each unit, whatever its rows hold."""

from __future__ import annotations

import pandas as pd
import pytest

from oracle_engine import OracleEngine
from tenue.engine.formula import Computed, Steps, Sum
from tenue.engine.open import open_engine
from tenue.engine.request import (
    Among,
    Bin,
    Measure,
    RankRequest,
    Request,
    Units,
    UnitValue,
    Window,
    Within,
)
from tenue.errors import Refused
from tenue.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "table": {
            "name": "t",
            "unit": "who",
            "neighbours": "add-or-remove",
            "rows_per_unit": 2,
        },
        "columns": {
            "who": {"type": "identifier"},
            "x": {"type": "number", "bounds": [-3, 9]},
            "c": {"type": "category", "categories": ["a", "b"]},
        },
    }
)
ROWS = [
    {"who": who, "x": x, "c": c}
    for who, x, c in [
        ("p", 9, "a"),
        ("p", 8, "a"),
        ("p", -3, "b"),
        ("q", -3, "a"),
        ("q", None, "b"),
        ("r", None, "a"),
        (None, 5, "a"),
        ("s", 100, "b"),
        ("s", -2, None),
    ]
]
VALUES = (
    UnitValue("n", "rows", None, 0, 2),
    UnitValue("there", "present", "x", 0, 2),
    UnitValue("sum", "total", "x", -2, 12),
    UnitValue("low", "least", "x", -3, 9),
    UnitValue("top", "largest", "x", -3, 9),
    UnitValue("mean", "mean", "x", -3, 9),
    UnitValue("twice", "total", "(twice)", -6, 20),
)
TWICE = (Computed("(twice)", Sum(0, ((2, Steps("x")),))),)


@pytest.mark.parametrize("where", [None, Among("c", ("a",)), Within("x", 50, 60)])
def test_persons_are_measured_like_rows(where: object) -> None:
    units = Units("who", VALUES, where, TWICE)  # type: ignore[arg-type]
    measures = [Measure("rows"), *(Measure("total", value.name) for value in VALUES)]
    measures += [Measure("present", value.name) for value in VALUES]
    asked = Request(tuple(measures), units=units)
    engine, oracle = open_engine(pd.DataFrame(ROWS), SCHEMA), OracleEngine(SCHEMA, ROWS)
    assert engine.measure(asked) == oracle.measure(asked)
    by_sum = Request((Measure("rows"),), Within("n", 2, None), (Bin("sum", 5, -1, 4),), units=units)
    assert engine.measure(by_sum) == oracle.measure(by_sum)
    ranks = RankRequest("sum", (Window(1, 0, 99, -99, 1),), units=units)
    assert engine.ranks(ranks) == oracle.ranks(ranks)
    engine.close()


def test_sums_are_cut_and_nobody_is_nobody() -> None:
    engine = open_engine(pd.DataFrame(ROWS), SCHEMA)
    measures = (Measure("rows"), Measure("total", "sum"), Measure("total", "n"))
    found = engine.measure(Request(measures, units=Units("who", VALUES[:4])))
    # p: 14 becomes 12, q: -3 becomes -2, r has none, s: 9 - 2; p's three rows count as two
    assert found == {(): (4, 12 - 2 + 7, 2 + 2 + 1 + 2)}
    engine.close()


def test_a_mean_is_rounded_half_up() -> None:
    rows = [{"who": "p", "x": x, "c": "a"} for x in (-1, 0)]
    engine = open_engine(pd.DataFrame(rows), SCHEMA)
    asked = Request((Measure("total", "mean"),), units=Units("who", (VALUES[5],)))
    assert engine.measure(asked) == {(): (0,)}, "-0.5 becomes 0"
    engine.close()


def test_what_has_no_order_has_no_sum() -> None:
    engine = open_engine(pd.DataFrame(ROWS), SCHEMA)
    with pytest.raises(Refused):
        engine.measure(
            Request((Measure("rows"),), units=Units("who", (UnitValue("v", "total", "c", 0, 1),)))
        )
    engine.close()
