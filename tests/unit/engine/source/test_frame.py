"""Data frames become Arrow data: only what is declared, and without a copy where possible."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tenue.engine.source.frame import arrow_table
from tenue.errors import InvalidTable


def address(column: pa.ChunkedArray) -> int:
    return int(column.chunk(0).buffers()[1].address)


def test_numbers_are_not_copied() -> None:
    values = np.arange(1000.0)
    here = values.__array_interface__["data"][0]
    assert address(arrow_table(pd.DataFrame({"x": values}, copy=False), {"x"}).column("x")) == here
    table = pa.table({"x": values, "y": values})
    assert address(arrow_table(table, {"x"}).column("x")) == address(table.column("x"))
    frame = pl.DataFrame({"x": values})
    assert address(arrow_table(frame, {"x"}).column("x")) == address(pa.table(frame).column("x"))


def test_undeclared_columns_are_left_out_before_they_are_looked_at() -> None:
    frame = pd.DataFrame({"X": [1], "secret": [object()], 5: [2]})
    assert arrow_table(frame, {"x", "y"}).column_names == ["X"]


def test_mixed_values_are_refused_and_not_quoted() -> None:
    frame = pd.DataFrame({"x": [1, "canary"]})
    with pytest.raises(InvalidTable, match="`x` of the data frame") as refused:
        arrow_table(frame, {"x"})
    assert "canary" not in str(refused.value)
    assert refused.value.__context__ is None
    assert refused.value.__cause__ is None


def test_lazy_frames_repeated_names_and_other_things_are_refused() -> None:
    with pytest.raises(InvalidTable, match="lazy"):
        arrow_table(pl.LazyFrame({"x": [1]}), {"x"})
    with pytest.raises(InvalidTable, match="more than one column `a`"):
        arrow_table(pa.table({"a": [1], "A": [2]}), {"a"})
    with pytest.raises(InvalidTable, match="name of its own"):
        arrow_table(pd.DataFrame([[1, 2]], columns=["a", "a"]), {"a"})
    for odd in (7, [1, 2], {"x": [1]}, object(), pl.Series([1])):
        with pytest.raises(InvalidTable, match=f"of type {type(odd).__name__}"):
            arrow_table(odd, {"x"})


def test_half_precision_is_widened() -> None:
    table = pa.table({"x": pa.array(np.array([0.5], np.float16))})
    assert arrow_table(table, {"x"}).column("x").type == pa.float32()


def test_without_wanted_names_every_column_is_taken() -> None:
    assert arrow_table(pa.table({"B": [1], "a": [2]}), None).column_names == ["B", "a"]
    with pytest.raises(InvalidTable, match="more than one column `a`"):
        arrow_table(pa.table({"a": [1], "A": [2]}), None)
