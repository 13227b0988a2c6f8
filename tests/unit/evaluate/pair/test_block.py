"""Blocks hold every row once, and no bound is above a distance."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tenue as tn
from tenue.evaluate.pair import block
from tenue.evaluate.pair.attributes import Nominal, paired
from tenue.evaluate.pair.block import Axis, Line, Words, leaves
from unit.evaluate.stated import schema

TREE = {"any": {"work": ["a", "b"], "none": ["c"], "rest": {}}}
COLUMNS = {
    "x": (st.floats(-9, 9, allow_subnormal=False), pa.float64()),
    "y": (st.none() | st.integers(0, 4), pa.int64()),
    "w": (st.none() | st.sampled_from("abc"), pa.string()),
    "v": (st.none() | st.sampled_from(["a", "work", "rest"]), pa.string()),
}
SCALES = {"x": 0.7, "y": 3.0, "w": 1.1, "v": 0.9}


def stated() -> tn.Schema:
    category = {"type": "category", "taxonomy": TREE}
    numbers = {"type": "number", "bounds": [-9, 9]}
    listed = {"type": "category", "categories": list("abc")}
    return schema({"x": numbers, "y": numbers, "w": listed, "v": category})


@st.composite
def axes(draw: Any) -> list[Axis]:
    rows = draw(st.integers(1, 30))
    sides = [
        pa.table(
            {
                name: pa.array(draw(st.lists(kind, min_size=rows, max_size=rows)), stored)
                for name, (kind, stored) in COLUMNS.items()
            }
        )
        for _ in range(2)
    ]
    found = paired(*sides, schema=stated() if draw(st.booleans()) else None)
    return [
        Words(a, SCALES[a.name]) if isinstance(a, Nominal) else Line(a, SCALES[a.name])
        for a in found
    ]


def rows_of(axis: Any) -> np.ndarray:
    return np.arange(axis.attribute.original.size)


@settings(max_examples=60)
@given(axes())
def test_bounds_are_never_above_distances(made: list[Any]) -> None:
    rows = rows_of(made[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block, "_ROOM", 3)
        parts = leaves(made, rows, masked=True)
        blocks = leaves(made, rows, masked=False)
    for found in (parts, blocks):
        assert sorted(np.concatenate(found).tolist()) == rows.tolist()
    for axis in made:
        bound = axis.bound(parts, blocks)
        apart = axis.squared(rows[:, None], rows[None, :])
        for number, part in enumerate(parts):
            least = np.broadcast_to(bound(number), len(blocks))
            for other, members in enumerate(blocks):
                assert least[other] <= apart[np.ix_(part, members)].min()


@given(st.lists(st.integers(0, 50), min_size=1, max_size=60))
def test_bounds_of_single_rows_are_distances(values: list[int]) -> None:
    (attribute,) = paired(np.array(values)[:, None], np.array(values)[::-1, None])
    axis: Any = Line(attribute, 2.0)  # type: ignore[arg-type]
    rows = rows_of(axis)
    single = [rows[i : i + 1] for i in rows]
    bound = axis.bound(single, single)
    apart = axis.squared(rows[:, None], rows[None, :])
    assert all(np.array_equal(bound(i), apart[i]) for i in rows)


def test_blocks_are_small_and_lie_apart() -> None:
    (attribute,) = paired(np.arange(1000.0)[:, None], np.arange(1000.0)[:, None])
    axis = Line(attribute, 1.0)  # type: ignore[arg-type]
    found = leaves([axis], np.arange(1000), masked=False)
    assert max(part.size for part in found) <= 64
    ends = sorted((int(part.min()), int(part.max())) for part in found)
    assert all(one[1] < other[0] for one, other in pairwise(ends))


def test_equal_rows_stay_in_one_block_however_many() -> None:
    table = pa.table({"w": ["a"] * 500})
    (attribute,) = paired(table, table)
    axis = Words(attribute, 1.0)  # type: ignore[arg-type]
    assert [part.size for part in leaves([axis], np.arange(500), masked=False)] == [500]


def test_very_many_words_have_no_bound_but_the_least() -> None:
    words = pa.table({"w": [f"word {i}" for i in range(5000)]})
    (attribute,) = paired(words, words)
    axis = Words(attribute, 1.0)  # type: ignore[arg-type]
    rows = np.arange(5000)
    assert axis.bound([rows], [rows])(0) == 0
