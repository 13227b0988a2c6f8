"""Data frames as Arrow data, and Python objects as text."""

from __future__ import annotations

import enum
import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tenue.engine.source.frame import arrow_table, sound
from tenue.engine.source.objects_to_text import text, texts
from tenue.errors import InvalidTable


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Failing:
    @property
    def year(self) -> int:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("a\0b", "a\0b"),
        (-(2**70), "-1180591620717411303424"),
        (0.1, "0.1"),
        (-math.inf, "-inf"),
        (math.nan, None),
        (True, "true"),
        (np.False_, "false"),
        (np.uint64(2**64 - 1), "18446744073709551615"),
        (np.float32(0.5), "0.5"),
        (np.longdouble(0.5), "0.5"),
        (np.str_("x"), "x"),
        (Decimal("1E+3"), "1E+3"),
        (Decimal("-Infinity"), "-Infinity"),
        (Decimal("sNaN"), None),
        (date(5, 1, 2), "0005-01-02"),
        (datetime(5, 1, 2), "0005-01-02 00:00:00.000000"),
        (datetime(2020, 1, 1, tzinfo=timezone(timedelta(hours=2))), "2019-12-31 22:00:00.000000"),
        (datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=2))), "0001-01-01 00:00:00.000000"),
        (pd.Timestamp("2020-01-01 00:00:00.000000009"), "2020-01-01 00:00:00.000000"),
        (pd.Timestamp(np.datetime64(10**12, "s")), "infinity"),
        (np.datetime64("2020-01-01"), "2020-01-01 00:00:00.000000"),
        (np.datetime64(-(10**13), "s"), "-infinity"),
        (np.datetime64("NaT"), None),
        (pd.NaT, None),
        (pd.NA, None),
        (None, None),
        (Colour.RED, "red"),
        (Level.HIGH, "3"),
        (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
    ],
)
def test_a_value_is_written_by_its_own_type(value: Any, written: str | None) -> None:
    assert text(value) == written
    column, lost = texts([value])
    assert column.to_pylist() == [written]
    assert lost == 0


@pytest.mark.parametrize(
    "value", [b"4", [4], {}, object(), 1j, np.arange(2), np.void(b"x"), "\ud800", Failing()]
)
def test_what_has_no_text_is_missing_and_counted(value: Any) -> None:
    column, lost = texts(["a", value, None])
    assert column.to_pylist() == ["a", None, None]
    assert lost == 1


@pytest.mark.parametrize(
    "values",
    [
        ["a", "", "ä\0"],
        [0, -(2**63), 2**63 - 1],
        [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), datetime(1969, 1, 1, 1)],
        [
            datetime(2020, 1, 1, tzinfo=UTC),
            datetime(2020, 7, 1, tzinfo=timezone(timedelta(1 / 48))),
        ],
        [
            pd.Timestamp("1700-01-01 01:02:03.4"),
            pd.NaT,
            pd.Timestamp("2020-07-01", tz="Asia/Tokyo"),
        ],
    ],
)
def test_values_of_one_type_are_written_as_they_are_among_others(values: list[Any]) -> None:
    quick, _ = texts([*values, None])
    among, _ = texts([*values, None, object()])
    assert quick.to_pylist() == among.to_pylist()[:-1]


def test_one_value_beyond_its_type_does_not_change_how_the_others_are_written() -> None:
    pairs: list[tuple[list[Any], Any]] = [
        ([1, 2], 2**70),
        (["a", "b"], "\ud800"),
        ([datetime(2020, 1, 1)] * 2, datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=9)))),
        ([pd.Timestamp(2020, 1, 1)] * 2, pd.Timestamp(np.datetime64(10**12, "s"))),
    ]
    for usual, odd in pairs:
        assert texts([*usual, odd])[0].to_pylist()[:2] == texts(usual)[0].to_pylist()


def test_numbers_too_long_to_be_written_are_beyond_every_bound() -> None:
    assert texts([10**5000, -(10**5000)])[0].to_pylist() == ["inf", "-inf"]


def test_a_column_of_nothing_is_a_column_of_text() -> None:
    column, lost = texts([])
    assert (str(column.type), len(column), lost) == ("large_string", 0, 0)


# No value of an Arrow column breaks an engine, and a column without such values is not copied.

FAR = 10**13


def column(array: Any) -> pa.ChunkedArray:
    return pa.chunked_array([array])


def ticks(values: list[int | None], kind: Any) -> pa.ChunkedArray:
    return column(pa.array(values, pa.int64()).view(kind))


@pytest.mark.parametrize("unit", ["s", "ms"])
@pytest.mark.parametrize("zone", [None, "UTC"])
def test_instants_beyond_the_calendar_are_cut_to_its_ends(unit: str, zone: str | None) -> None:
    kind = pa.timestamp(unit, zone)
    wide = ticks([2**63 - 1, 5, None, -(2**63)], kind)
    with pytest.raises(duckdb.Error):  # the wrong way: handed on as they are
        read(wide)
    found, lost = sound(wide)
    assert found.type == kind
    end = 9 * 10**12 * (1 if unit == "s" else 1000)
    assert found.combine_chunks().view(pa.int64()).to_pylist() == [end, 5, None, -end]
    assert lost == 0
    assert len(read(found)) == 4


def read(values: pa.ChunkedArray) -> list[Any]:
    with duckdb.connect() as connection:
        connection.register("t", pa.table({"x": values}))
        sql = "SELECT CAST(x AS TIMESTAMP WITH TIME ZONE) > make_timestamptz(0) FROM t"
        return connection.execute(sql).fetchall()


@pytest.mark.parametrize(
    "kind", [pa.timestamp("s"), pa.timestamp("us", "UTC"), pa.date64(), pa.string(), pa.int64()]
)
def test_what_is_sound_is_not_copied(kind: Any) -> None:
    values: list[Any] = ["a", "ä"] if kind == pa.string() else [86_400_000, 0]
    given = column(pa.array(values, kind if kind == pa.string() else pa.int64()).view(kind))
    found, lost = sound(given)
    addresses = [b.address for b in given.chunk(0).buffers() if b]
    assert [b.address for b in found.chunk(0).buffers() if b] == addresses
    assert lost == 0


@pytest.mark.parametrize(
    ("kind", "binary"), [(pa.string(), pa.binary()), (pa.large_string(), pa.large_binary())]
)
def test_text_that_is_not_unicode_is_missing(kind: Any, binary: Any) -> None:
    found, lost = sound(column(pa.array([b"\xff", b"ok", None], binary).view(kind)))
    assert found.to_pylist() == [None, "ok", None]
    assert (found.type, lost) == (kind, 1)


def test_a_dictionary_of_texts_stays_one_unless_a_word_is_broken() -> None:
    good = pa.array(["a", "b", "a"]).dictionary_encode()
    assert pa.types.is_dictionary(sound(column(good))[0].type)
    words = pa.array([b"\xff", b"b"], pa.binary()).view(pa.string())
    bad = pa.DictionaryArray.from_arrays([0, 1, None, 0], words)
    found, lost = sound(column(bad))
    assert found.to_pylist() == [None, "b", None, None]
    assert lost == 2


def test_dictionaries_of_other_things_and_runs_are_spelled_out() -> None:
    numbers = pa.array([5, None, 5]).dictionary_encode()
    assert sound(column(numbers))[0].type == pa.int64()
    runs = pa.RunEndEncodedArray.from_arrays([2, 3], ["a", "b"])
    assert sound(column(runs))[0].to_pylist() == ["a", "a", "b"]


@pytest.mark.parametrize(
    ("kind", "becomes"),
    [
        (pa.decimal256(30, 2), pa.decimal128(30, 2)),
        (pa.decimal256(60, 2), pa.string()),
        (pa.decimal128(5, -2), pa.decimal128(7, 0)),
        (pa.decimal128(20, 5), pa.decimal128(20, 5)),
    ],
)
def test_decimals_keep_every_digit(kind: Any, becomes: Any) -> None:
    found, _ = sound(column(pa.array([Decimal(1200), None], kind)))
    assert found.type == becomes
    first, second = found.to_pylist()
    assert Decimal(first) == 1200
    assert second is None


def test_arrow_half_precision_is_widened() -> None:
    assert sound(column(pa.array(np.array([0.5], np.float16))))[0].type == pa.float32()


# Data frames become Arrow data: only what is declared, and without a copy where possible.


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
