"""Two tables attribute by attribute, and what masking did to values."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import InvalidArgument, InvalidTable
from tenue.evaluate.two_tables.attributes import Nominal, Numeric, divisors, paired
from tenue.noise import Seeded
from unit.evaluate.stated import AGE, NAME, ROWS, people, schema

FLAT = math.log2(5 / 3)
TREE = {"any": {"work": ["sales", "tech"], "none": {}}}
JOB = {"type": "category", "taxonomy": TREE, "role": "quasi-identifier"}


def both(original: Any, masked: Any, **how: Any) -> Any:
    (attribute,) = paired(pa.table({"x": original}), pa.table({"x": masked}), **how)
    return attribute


def squares(attribute: Any, scale: float = 1.0) -> list[list[float]]:
    rows = np.arange(attribute.original.size)
    table: list[list[float]] = attribute.squared(rows[:, None], rows[None, :], scale).tolist()
    return table


def test_numbers_are_apart_by_their_difference() -> None:
    found = both([1, 2, 4], [1.0, 2.5, 0.0])
    assert squares(found) == [[0, 1, 9], [2.25, 0.25, 2.25], [1, 4, 16]]
    assert squares(found, 2.0)[2][2] == 4
    assert found.reach == 4
    assert found.complete


def test_a_value_missing_on_one_side_is_as_far_as_can_be() -> None:
    found = both([1.0, None, 4.0], [None, None, 2.0])
    assert squares(found) == [[9, 0, 9], [9, 0, 9], [1, 9, 4]]
    known = both([1, None], [1, 1], schema=schema({"x": AGE}))
    assert squares(known) == [[0, 10_000], [0, 10_000]]
    nothing = both([None, None], [None, None])
    assert squares(nothing) == [[0, 0], [0, 0]]


def test_categories_without_a_taxonomy_are_equally_far_apart() -> None:
    found = both(["a", "b", None], ["a", None, None])
    flat = pytest.approx(FLAT**2)
    assert squares(found) == [[0, flat, flat], [flat, flat, 0], [flat, flat, 0]]
    listed = {"type": "category", "categories": ["a", "b"]}
    stated = both(["a", "b"], ["b", "b"], schema=schema({"x": listed}))
    assert squares(stated) == [[flat, 0], [flat, 0]]


def test_categories_of_a_taxonomy_are_apart_by_meaning() -> None:
    found = both(
        ["sales", "tech", "none", None], ["tech", "work", None, "none"], schema=schema({"x": JOB})
    )
    tree = tn.Taxonomy.from_nested(TREE)
    one, other = ["tech", "work"], ["sales", "tech", "none"]
    for i, word in enumerate(one):
        for j, second in enumerate(other):
            assert squares(found)[i][j] == pytest.approx(tree.distance(word, second) ** 2)
    furthest = tree.distance("sales", "none") ** 2
    assert squares(found)[2] == pytest.approx([furthest] * 3 + [0], rel=1e-8)
    with pytest.raises(InvalidTable) as refused:
        both(["sales"], ["a secret"], schema=schema({"x": JOB}))
    assert "secret" not in str(refused.value)


def test_times_are_compared_in_one_unit() -> None:
    day, moment = dt.date(2020, 1, 2), dt.datetime(2020, 1, 3, 12)
    assert squares(both([day], [dt.date(2020, 1, 4)])) == [[4]]
    assert squares(both([day], [moment])) == [[(36 * 3600) ** 2]]
    stated = schema({"x": {"type": "date", "bounds": ["2000-01-01", "2030-01-01"]}})
    assert squares(both([day], [moment], schema=stated)) == [[2.25]]
    assert both([day], [day]).time


def test_what_is_no_number_on_one_side_is_compared_as_text() -> None:
    found = both([30, 40], ["[20-35]", "40"])
    assert isinstance(found, Nominal)
    assert [row[i] == 0 for i, row in enumerate(squares(found))] == [False, True]


def test_columns_are_those_of_both_tables() -> None:
    original = pd.DataFrame({**ROWS, "name": list("abcdefg"), "more": range(7)})
    masked = original.drop(columns=["pay"]).rename(columns={"age": "AGE"})
    names = [attribute.name for attribute in paired(original, masked)]
    assert names == ["age", "town", "ill", "name", "more"]
    names = [attribute.name for attribute in paired(original, masked, None, people())]
    assert names == ["age", "town", "ill"]
    names = [attribute.name for attribute in paired(original, masked, ["more", "Age", "more"])]
    assert names == ["more", "age"]
    assert [a.name for a in paired([[1, 2]], [[1, 2]], 1)] == ["1"]
    with pytest.raises(InvalidArgument):
        paired(original, masked, ["pay"])
    with pytest.raises(InvalidArgument, match="no column to compare"):
        paired(pa.table({"a": [1]}), pa.table({"b": [1]}))
    with pytest.raises(InvalidArgument, match="no column to compare"):
        paired(pa.table({"a": [1]}), pa.table({"a": [1]}), None, schema({"a": NAME, "b": AGE}))
    with pytest.raises(InvalidTable, match="different numbers of rows"):
        paired(original, masked.head(3))


def test_a_scale_has_one_divisor_for_each_column() -> None:
    attributes = [Numeric(name, np.zeros(1), np.zeros(1)) for name in ("a", "b")]
    assert divisors(list(attributes), None) == [1, 1]
    assert divisors(list(attributes), (2, 0.5)) == [2, 0.5]
    assert divisors(list(attributes), {"b": 3, "a": 2}) == [2, 3]
    for wrong in ([1], [1, 0], [1, -1], "ab", 7, {"a": 1}, [1, float("nan")], [1, 1e-200]):
        with pytest.raises(InvalidArgument):
            divisors(list(attributes), wrong)


# -- Squared errors, and values that stay close to the truth ---------------------------------------

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


# -- Correlations before and after -----------------------------------------------------------------

difference = tn.evaluate.correlation_difference


def made(rows: int, columns: int) -> np.ndarray:
    law = tn.noise.DiscreteLaplace(sensitivity=1, epsilon="0.1")
    draws = law.sample(rows * columns, source=Seeded(7))
    return np.array(draws, np.float64).reshape(rows, columns).cumsum(axis=1)


def test_all_pairs_are_those_of_numpy() -> None:
    original, masked = made(50, 5), made(51, 5)[1:]
    found = difference(original, masked)
    before, after = np.corrcoef(original.T), np.corrcoef(masked.T)
    assert len(found.pairs) == 10
    for (one, other), (first, second) in found.pairs.items():
        assert first == pytest.approx(before[int(one), int(other)])
        assert second == pytest.approx(after[int(one), int(other)])
    moved = np.abs(before - after)[np.triu_indices(5, 1)]
    assert found.mean == pytest.approx(moved.mean())
    assert found.sd == pytest.approx(moved.std())
    assert difference(original, original).mean == 0


def test_constant_columns_have_no_correlation() -> None:
    line = [[0.1, 1], [0.1, 2], [0.1, 4]]
    assert difference(line, line).mean == 0
    found = difference([[1, 1], [2, 2], [3, 3]], [[7, 1], [7, 2], [7, 3]])
    assert found.pairs["0", "1"] == (pytest.approx(1), 0)


def test_large_numbers_do_not_overflow_and_blanks_are_left_out() -> None:
    huge = np.array([[1e99, 1e-99], [2e99, 2e-99], [3e99, 3e-99]])
    assert difference(huge, huge).pairs["0", "1"][0] == pytest.approx(1)
    table = pa.table({"a": [1, 2, None, 9], "b": [2, 4, 5, None], "c": ["x"] * 4})
    found = difference(table, table)
    assert list(found.pairs) == [("a", "b")]
    assert found.pairs["a", "b"][0] == pytest.approx(1)
    nothing = pa.table({"a": [1.0, None], "b": [None, 1.0]})
    assert difference(nothing, nothing).pairs["a", "b"] == (0, 0)


def test_one_column_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="fewer than two numeric"):
        difference([[1], [2]], [[1], [2]])
