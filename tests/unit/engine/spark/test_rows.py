from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow
import pytest

from contracts.engine_suite import SCHEMA
from tenue.engine.open import open_engine
from tenue.engine.spark.dialect import SPARK
from tenue.engine.sql.logical import Held, Stored
from tenue.engine.storage import Text
from tenue.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.needs("spark")
def test_the_logical_select_names_the_columns_as_declared() -> None:
    from tenue.engine.spark.rows import write_logical

    column = SCHEMA.columns["sex"]
    held = {"sex": Held(column, "S`X", Text(), SPARK.words(["F", "M", "o'x"]))}
    sql = write_logical(Stored("`t`", held, SCHEMA.columns, SPARK), ())
    assert sql.startswith("SELECT CAST(")
    assert "AS `sex`" in sql
    assert "`S``X`" in sql


@pytest.mark.needs("spark")
@pytest.mark.slow
def test_types_are_those_of_the_source(spark: SparkSession) -> None:
    schema = Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            "columns": {
                "a": {"type": "number", "bounds": [0, 9], "grid": 0.01},
                "b": {"type": "number", "bounds": [0, 9]},
                "d": {"type": "date", "bounds": ["2000-01-01", "2001-01-01"]},
            },
        }
    )
    rows = [(Decimal("1.25"), "7", date(1999, 1, 1)), (None, "x", date(2000, 6, 1))]
    engine = open_engine(spark.createDataFrame(rows, "a decimal(9,2), b string, d date"), schema)
    read = engine.read_all()
    assert read.types == {"a": pyarrow.decimal128(9, 2), "b": None, "d": pyarrow.date32()}
    assert read.logical.to_pydict() == {"a": [125, None], "b": [7, None], "d": [0, 152]}
    assert (read.unreadable["b"], read.first, read.beyond["d"]) == (1, {"b": 2}, 1)
    engine.close()
