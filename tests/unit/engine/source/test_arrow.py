"""No value of an Arrow column breaks an engine, and a column without such values is not copied."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from tenue.engine.source.arrow import sound

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


def test_half_precision_is_widened() -> None:
    assert sound(column(pa.array(np.array([0.5], np.float16))))[0].type == pa.float32()
