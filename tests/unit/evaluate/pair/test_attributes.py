"""Two tables, attribute by attribute: distances, missing values, what is compared."""

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
from tenue.evaluate.pair.attributes import Nominal, Numeric, divisors, paired
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
