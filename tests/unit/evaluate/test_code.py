"""Codes: equal for equal values, ranks of what has an order, -1 for what is missing."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.evaluate.code import coded

COLUMNS: dict[str, Any] = {
    "close": pa.array([3, 1, None, 2, 3], pa.int8()),
    "whole range": pa.array([127, -128, None, 0], pa.int8()),
    "far apart": pa.array([10**18, 5, None, -(10**18), 5], pa.int64()),
    "unsigned": pa.array([2**64 - 1, 2**64 - 3, None, 2**64 - 3], pa.uint64()),
    "unsigned, far": pa.array([2**64 - 1, 0, 2**63, None, 0], pa.uint64()),
    "doubles": pa.array([0.5, -1.5, None, 0.5, float("inf")]),
    "doubles, none missing": pa.array([0.5, -1.5, 0.5, 1e300]),
    "decimals": pa.array([Decimal("1.10"), Decimal("-2.00"), None, Decimal("1.10")]),
    "days": pa.array([dt.date(2020, 1, 2), dt.date(1960, 1, 1), None]),
    "moments": pa.array([dt.datetime(2020, 1, 2, 3), None, dt.datetime(1960, 1, 1)]),
    "nothing": pa.array([None, None], pa.int64()),
    "no type": pa.nulls(3),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_codes_are_ranks(name: str) -> None:
    column = COLUMNS[name]
    values = column.to_pylist()
    known = sorted({value for value in values if value is not None})
    found = coded(column, ordered=True)
    assert found.codes.tolist() == [-1 if v is None else known.index(v) for v in values]
    assert found.count == len(known)


WORDS = ["b", None, "a", "b", "", "é"]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(WORDS),
        pa.array(WORDS, pa.large_string()),
        pa.array(WORDS, pa.string_view()),
        pa.array(WORDS).dictionary_encode(),
        pa.DictionaryArray.from_arrays(
            pa.array([3, None, 1, 3, 0, 4], pa.int8()), ["", "a", "unused", "b", "é"]
        ),
        pa.array([True, None, False, True]),
    ],
)
def test_codes_of_categories_are_equal_for_equal_ones(column: Any) -> None:
    values = column.to_pylist()
    found = coded(column, ordered=False)
    for one, code in zip(values, found.codes.tolist(), strict=True):
        assert (code == -1) == (one is None)
        for other, second in zip(values, found.codes.tolist(), strict=True):
            assert (one == other) == (code == second)
    assert sorted(set(found.codes.tolist()) - {-1}) == list(range(found.count))


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1) | st.integers(0, 9), max_size=30))
def test_any_whole_numbers(values: list[int | None]) -> None:
    known = sorted({value for value in values if value is not None})
    found = coded(pa.array(values, pa.int64()), ordered=True)
    assert found.codes.tolist() == [-1 if v is None else known.index(v) for v in values]
    assert found.count == len(known)
