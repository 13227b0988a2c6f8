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


def test_mixed_values_are_texts_and_a_type_that_arrow_has_not_is_refused_unquoted() -> None:
    frame = pd.DataFrame({"x": [1, "canary"]})
    assert arrow_table(frame, {"x"}).column("x").to_pylist() == ["1", "canary"]
    with pytest.raises(InvalidTable, match="`x` of the data frame") as refused:
        arrow_table(pd.DataFrame({"x": [123j]}), {"x"})
    assert "123" not in str(refused.value)
    assert refused.value.__context__ is None
    assert refused.value.__cause__ is None


def test_lazy_frames_batches_and_streams_are_read_once() -> None:
    looked: list[int] = []

    def look(values: pl.Series) -> pl.Series:
        looked.append(1)
        return values

    secret = pl.col("secret").map_batches(look, return_dtype=pl.Int64)
    lazy = pl.LazyFrame({"X": [1], "secret": [2]}).with_columns(secret)
    assert arrow_table(lazy, {"x"}).to_pydict() == {"X": [1]}
    assert looked == []
    table = pa.table({"x": [1, 2], "y": [3, 4]})
    for source in (table.to_batches()[0], table.to_reader(), _Capsule(table.to_batches()[0])):
        assert arrow_table(source, {"x"}).to_pydict() == {"x": [1, 2]}


class _Capsule:
    """Something that hands out one Arrow array and nothing else."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self._batch.__arrow_c_array__(requested_schema)


def test_every_storage_of_pandas_and_polars_is_read() -> None:
    for values in (
        pd.array([1, None], dtype="Int8"),
        pd.array([1, None], dtype=pd.ArrowDtype(pa.int64())),
        pd.arrays.SparseArray([1.0, np.nan]),
        pd.Categorical([1, None]),
        np.array([1, np.nan], np.longdouble),
        np.array([1, None], object),
        pd.array(["1", None], dtype=pd.StringDtype("python")),
    ):
        found = arrow_table(pd.DataFrame({"x": values}), {"x"}).column("x")
        assert [None if v is None else int(v) for v in found.to_pylist()] == [1, None]
    for kind in (pl.Int128, pl.UInt128, pl.Object, pl.Decimal(10, 2), pl.Float32):
        found = arrow_table(pl.DataFrame({"x": pl.Series([1, None], dtype=kind)}), {"x"})
        assert [None if v is None else int(v) for v in found.column("x").to_pylist()] == [1, None]


def test_numbers_of_128_bits_are_exact_or_cut_to_38_digits() -> None:
    frame = pl.DataFrame({"x": pl.Series([2**100, -(2**127)], dtype=pl.Int128)})
    assert arrow_table(frame, {"x"}).column("x").to_pylist() == [2**100, -(10**38) + 1]


class _Failing:
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise RuntimeError("canary")


def test_what_fails_while_it_is_read_is_refused_and_not_quoted() -> None:
    strict = pl.LazyFrame({"x": ["canary"]}).with_columns(pl.col("x").cast(pl.Int64))
    for source in (strict, _Failing()):
        with pytest.raises(InvalidTable, match="could not be read") as refused:
            arrow_table(source, {"x"})
        assert "canary" not in str(refused.value)
        assert refused.value.__context__ is None


def test_columns_of_nothing_are_columns() -> None:
    for values in (
        pd.Categorical([None, None]),
        pd.Series([None, None], dtype=object),
        pd.arrays.SparseArray([np.nan, np.nan]),
    ):
        found = arrow_table(pd.DataFrame({"x": values}), {"x"}).column("x")
        assert found.null_count == 2
    assert (
        arrow_table(pl.DataFrame({"x": pl.Series([], dtype=pl.Categorical)}), {"x"}).num_rows == 0
    )


def test_repeated_names_and_other_things_are_refused() -> None:
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
