"""Squared errors, and values that stay close to the truth."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import InvalidArgument
from unit.evaluate.stated import people

sse, within = tn.evaluate.sse, tn.evaluate.within


def test_squared_errors_add_up_over_rows_and_columns() -> None:
    original = np.array([[1, 10], [2, 20], [3, 30]])
    masked = np.array([[2, 10], [2, 23], [1, 30]])
    assert sse(original, masked) == 1 + 9 + 4
    assert sse(original, masked, columns=[1]) == 9
    assert sse(original, original) == 0
    frames = [pd.DataFrame(table, columns=["a", "b"]) for table in (original, masked)]
    assert sse(*frames) == 14
    assert sse(frames[0], frames[1][["b", "a"]]) == 14  # by name, not by place


def test_categories_add_their_semantic_distance() -> None:
    original, masked = pa.table({"ill": ["flu", "cold"]}), pa.table({"ill": ["flu", "flu"]})
    flat = np.log2(5 / 3) ** 2
    assert sse(original, masked) == pytest.approx(flat)
    assert sse(original, masked, schema=people()) == pytest.approx(flat)


def test_within_counts_both_ends() -> None:
    truth = np.array([[100], [100], [100], [100], [0], [0], [-200]])
    shown = np.array([[101], [99], [102], [98.9], [0], [1], [-198]])
    assert within(truth, shown, 1) == 4 / 7
    assert within(truth, shown, 2) == 6 / 7
    assert within(truth, shown, 0) == 1 / 7
    assert within(truth, shown, "1.1") == 5 / 7


def test_within_is_of_numbers_that_were_there() -> None:
    truth = pa.table({"a": [100, None, 100], "day": [dt.date(2020, 1, 1)] * 3, "b": ["x"] * 3})
    shown = pa.table({"a": [100, 100, None], "day": [dt.date(2020, 1, 1)] * 3, "b": ["x"] * 3})
    assert within(truth, shown, 1) == 1 / 2
    nothing = pa.table({"a": pa.array([None], pa.int64())})
    assert within(nothing, nothing, 1) == 0
    with pytest.raises(InvalidArgument, match="No column holds numbers"):
        within(truth, shown, 1, columns=["b", "day"])
    for wrong in (-1, None, "x", float("nan")):
        with pytest.raises(InvalidArgument):
            within(truth, shown, wrong)
    with pytest.raises(InvalidArgument):
        within(truth, shown)  # type: ignore[call-arg]


def test_a_large_number_is_within_so_many_percent_of_itself_not_of_its_rest() -> None:
    """Values beyond 2^53 are counted from the least; a percentage is of the whole value."""
    before, after = pa.table({"x": [2**60, 2**60 + 4096]}), pa.table({"x": [2**60, 2**60 + 8192]})
    assert tn.evaluate.within(before, after, 1) == 1
    assert tn.evaluate.within(before, after, 0) == 0.5
    (moved,) = tn.evaluate.distributions(before, after)
    assert moved.mean == 2048 / (2**60 + 2048)
