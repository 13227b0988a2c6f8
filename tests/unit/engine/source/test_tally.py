"""Counts tell values apart as whoever reads the table does."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import duckdb
import pyarrow as pa
import pytest

from tenue.engine.duckdb.dialect import DUCKDB
from tenue.engine.source.tally import Cell, Tally
from tenue.engine.storage import Floating, Integer, Nothing, Opaque, Storage, Text

WHOLE = Integer("BIGINT", -(2**63), 2**63 - 1)
ZEROS = [0.0, -0.0, math.nan, -math.nan, None, 0.0, 1.5, None]


def tallied(values: list[object], kind: pa.DataType, stored: Storage, batch: int = 3) -> Tally:
    """One column, and the number of each row beside it."""
    table = pa.table({"x": pa.array(values, kind), "number": range(len(values))})
    connection = duckdb.connect(":memory:")
    connection.register("given", table)

    def run(sql: str) -> Iterator[pa.RecordBatch]:
        yield from connection.sql(sql).to_arrow_reader(batch)

    cells = {"x": Cell("x", stored), "number": Cell("number", WHOLE)}
    return Tally("DuckDB", DUCKDB, "given", cells, run)


def told(tally: Tally) -> list[tuple[str, int]]:
    whole = pa.concat_tables(tally.tally(["x"])).columns
    return sorted(
        (repr(value), times)
        for value, times in zip(*map(pa.ChunkedArray.to_pylist, whole), strict=True)
    )


def test_the_two_zeros_are_two_values_and_all_nan_are_one() -> None:
    tally = tallied(ZEROS, pa.float64(), Floating())
    assert told(tally) == [("-0.0", 1), ("0.0", 2), ("1.5", 1), ("None", 2), ("nan", 2)]
    assert tally.different("x") == 4
    sizes, groups = tally.sizes(["x"])
    assert dict(zip(sizes.tolist(), groups.tolist(), strict=True)) == {1: 2, 2: 3}


def test_an_engine_alone_takes_the_zeros_for_one() -> None:
    naive = tallied(ZEROS, pa.float64(), WHOLE)
    assert naive.different("x") == 3  # so k would be overstated


def test_texts_are_told_apart_byte_by_byte() -> None:
    words = ["a", "A", "a ", "á", "a\u0301", None, ""]
    assert tallied(list(words), pa.string(), Text()).different("x") == 6


def test_groups_follow_one_another() -> None:
    tally = tallied([2, 1, None, 2, 1, 2], pa.int64(), WHOLE)
    found = pa.concat_tables(tally.tally(["x", "number"]))
    seen = found.column("x").to_pylist()
    assert len(seen) == 6
    assert sum(a != b for a, b in pairwise(seen)) == 2


def test_some_rows_are_every_so_many() -> None:
    tally = tallied(list(range(10)), pa.int64(), WHOLE)
    assert tally.some(["number"], 3, 100).to_pydict() == {"number": [0, 3, 6, 9]}
    assert len(tally.some(["number"], 1, 4)) == 4


def test_an_empty_table_has_no_groups() -> None:
    tally = tallied([], pa.int64(), WHOLE)
    assert [part.tolist() for part in tally.sizes(["x"])] == [[], []]
    assert tally.different("x") == 0


def test_what_is_handed_over_is_counted() -> None:
    tally = tallied([2, 1, None, 2, 1, 2], pa.int64(), WHOLE)
    list(tally.tally(["x"]))
    assert (tally.taken.counts, tally.taken.rows, tally.taken.columns) == (3, 0, [])
    tally.sizes(["x"])
    assert tally.different("x") == 2
    assert tally.taken.counts == 3 + 3 + 1
    tally.some(["x"], 2, 9)
    tally.some(["x", "number"], 2, 2)
    assert tally.taken.rows == 3
    assert tally.load(["number", "x"]).column_names == ["number", "x"]
    tally.load(["x"])
    assert tally.taken.columns == ["number", "x"]
    assert tally.taken.counts == 7


@pytest.mark.parametrize("stored", [Opaque(), Nothing()])
def test_what_is_no_number_text_or_time_is_not_counted(stored: Storage) -> None:
    assert not tallied([1], pa.int64(), stored).can_tell("x")
    assert tallied([1], pa.int64(), WHOLE).can_tell("x")
