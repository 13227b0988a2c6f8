"""The kind of table that came in goes out, with nothing of the original in it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tenue.microdata.table.frame import kind_of, native

OUT = pa.table({"a": pa.array([1, 2], pa.int16()), "c": ["x", "y"]})


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (pd.DataFrame(), "pandas"),
        (pl.DataFrame(), "polars"),
        (OUT, "arrow"),
        ("t.csv", "csv"),
        (Path("t.TSV"), "csv"),
        ("t.csv.gz", "csv"),
        ("t.parquet", "arrow"),
        ("duckdb://t.db#x", "arrow"),
    ],
)
def test_kinds_are_told_apart(source: object, kind: str) -> None:
    assert kind_of(source) == kind


def test_pandas_has_the_types_of_the_source_and_none_of_its_categories() -> None:
    source = pd.DataFrame({"A": pd.array([7, None], "Int64"), "c": ["x", "secret"]})
    source["c"] = source["c"].astype("category")
    got = native(OUT, source, "pandas")
    assert got["a"].dtype == "Int64"
    assert list(got["c"].cat.categories) == ["x", "y"]
    assert "secret" not in repr(got["c"].dtype)


def test_a_type_that_cannot_hold_the_values_is_not_forced() -> None:
    source = pd.DataFrame({"a": [1, 2], "c": [1, 2]})
    got = native(OUT, source, "pandas")
    assert got["a"].dtype == "int64"
    assert got["c"].tolist() == ["x", "y"]


def test_polars_and_arrow() -> None:
    source = pl.DataFrame({"a": [1], "c": pl.Series(["secret"], dtype=pl.Categorical)})
    got = native(OUT, source, "polars")
    assert dict(got.schema) == {"a": pl.Int16, "c": pl.Enum(["x", "y"])}
    assert native(OUT, OUT, "arrow") is OUT
    assert native(OUT, "t.csv", "csv") is OUT


def test_a_number_that_does_not_fit_is_not_bent() -> None:
    """numpy turns 200 into -56 where eight bits are asked for, without a word."""
    source = pd.DataFrame({"a": pd.array([7, 8], "int8")})
    got = native(pa.table({"a": [200, 3]}), source, "pandas")
    assert got["a"].tolist() == [200, 3]
    kept = native(pa.table({"a": [20, 3]}), source, "pandas")
    assert kept["a"].dtype == "int8"
