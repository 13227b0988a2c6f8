"""The SQL of formulas, on DuckDB and against the oracle; the contract of engines has more."""

from __future__ import annotations

import pandas as pd
from hypothesis import given, settings

from oracle_engine import OracleEngine
from tenue.engine.formula import Computed, Formula, Product, Quotient, Steps, Sum
from tenue.engine.open import open_engine
from tenue.engine.request import Bin, Measure, Request
from tenue.engine.sql.formula import with_computed
from tenue.engine.sql.logical import Logical, Stored
from tenue.schema import Number, Schema
from unit.engine.test_formula import FORMULAS, ROWS, TABLE

FRAME = pd.DataFrame(
    [{n: float(v) if n == "y" and v is not None else v for n, v in row.items()} for row in ROWS]
)


@settings(max_examples=60, deadline=None)
@given(FORMULAS)
def test_duckdb_computes_what_the_oracle_does(formula: Formula) -> None:
    asked = Request(
        (Measure("rows"), Measure("present", "(f)"), Measure("total", "(f)")),
        computed=(Computed("(f)", formula),),
    )
    engine = open_engine(FRAME, TABLE)
    assert engine.measure(asked) == OracleEngine(TABLE, ROWS).measure(asked)
    engine.close()


def test_one_computed_column_may_be_made_of_another() -> None:
    computed = (
        Computed("(twice)", Sum(0, ((2, Steps("x")),))),
        Computed("(down)", Quotient(Steps("(twice)"), 3)),
    )
    asked = Request((Measure("rows"),), keys=(Bin("(down)", 1, -2, 5),), computed=computed)
    engine = open_engine(FRAME, TABLE)
    assert engine.measure(asked) == OracleEngine(TABLE, ROWS).measure(asked)
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
        Stored("t", {}, TABLE.columns, DUCKDB), [Computed("(f)", Sum(1, ((2, Steps("x")),)))]
    )
    column = Logical(table).column("(f)")
    assert isinstance(column, Number)
    assert (column.low, column.high, column.grid) == (-3, 7, 1)
    assert Logical(table).is_computed("(f)")
    assert not Logical(table).is_computed("(F)"), "in what is computed, case counts: 'A' and 'a'"
