"""Records that an intruder finds again."""

from __future__ import annotations

import itertools
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tenue as tn
from tenue.errors import InvalidArgument
from tenue.evaluate.two_tables import linkage
from tenue.evaluate.two_tables.attributes import Nominal, paired
from tenue.evaluate.two_tables.linkage import Axis, Line, Words, leaves, linked_share
from tenue.evaluate.two_tables.swap_reidentification import (
    EVERY,
    PublishedColumn,
    cells_share,
    rematched,
)
from unit.evaluate.stated import AGE, schema

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
        patch.setattr(linkage, "_ROOM", 3)
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


# Record linkage by hand; ties, categories, missing values; wrong readings that are caught.

link = tn.evaluate.record_linkage


def test_the_nearest_original_is_guessed() -> None:
    original = [[0.0], [10.0], [20.0]]
    assert link(original, original) == 1
    assert link(original, [[1.0], [11.0], [19.0]]) == 1
    assert link(original, [[9.0], [0.0], [19.0]]) == pytest.approx(1 / 3)
    assert link(original, [[19.0], [1.0], [11.0]]) == 0


def test_equally_near_originals_share_the_guess() -> None:
    original = [[1.0], [1.0], [1.0], [5.0]]
    assert link(original, original) == pytest.approx((3 * (1 / 3) + 1) / 4)
    assert link([[0.0], [2.0]], [[1.0], [1.0]]) == 0.5
    counting_ties_as_found = 1.0
    counting_ties_as_lost = 0.25
    assert link(original, original) not in (counting_ties_as_found, counting_ties_as_lost)


def test_the_masked_record_looks_for_the_original_and_not_the_other_way() -> None:
    original, masked = [[0.0], [4.0]], [[3.0], [100.0]]
    assert link(original, masked) == 0.5
    assert link(masked, original) == 0.5
    original, masked = [[0.0], [1.0], [10.0]], [[0.4], [0.6], [0.0]]
    assert link(original, masked) == pytest.approx(2 / 3)
    assert link(masked, original) == pytest.approx(1 / 3)


def test_the_share_is_a_fraction() -> None:
    attributes = paired([[1.0]] * 3 + [[2.0]] * 4, [[1.0]] * 7)
    assert linked_share(attributes, [1.0]) == Fraction(1, 7)


def test_scale_decides_what_is_near() -> None:
    original = np.array([[0.0, 0.0], [10.0, 1.0]])
    masked = np.array([[4.0, 0.9], [9.0, 0.0]])
    assert link(original, masked) == 1
    assert link(original, masked, scale=[10, 1]) == 0
    assert link(original, masked, columns=[1]) == 0
    assert link(original, masked, columns=[1, 0], scale={"0": 10, "1": 1}) == 0
    with pytest.raises(InvalidArgument):
        link(original, masked, scale=[1])
    with pytest.raises(InvalidArgument, match="overflow"):
        link(original * 1e90, masked, scale=[1e-90, 1])


def test_categories_and_blanks_link_too() -> None:
    original = pa.table({"job": ["a", "b", None], "age": [1, None, 3]})
    assert link(original, original) == 1
    masked = pa.table({"job": ["a", "a", None], "age": [1, None, 1]})
    stated = schema({"job": _JOB, "age": AGE})
    widths = {"job": 0.7369655941662062, "age": 100}
    # the second row differs from its own in the job, and as much from the first by its blank age
    assert link(original, masked, scale=widths, schema=stated) == pytest.approx(5 / 6)
    assert link(original, masked, schema=stated) == pytest.approx(2 / 3)
    assert link(original.select(["job"]), masked.select(["job"])) == pytest.approx(2 / 3)


_JOB = {"type": "category", "categories": ["a", "b"]}


def test_many_rows_go_through_blocks() -> None:
    """A thousand points a unit apart, each shown a little beside; then each beside the next."""
    line = np.arange(1000.0)[:, None]
    assert link(line, line + 0.4) == 1
    assert link(line, line + 0.6) == pytest.approx(1 / 1000)
    assert link(line, line + 0.5) == pytest.approx((999 * 0.5 + 1) / 1000)


def test_whole_numbers_beyond_2_to_the_53_are_told_apart() -> None:
    """As doubles the first two are one value, and half of them would be linked by a guess."""
    values = [2**53, 2**53 + 1, 2**53 + 2, 2**53 + 5]
    table = pa.table({"x": values})
    assert tn.evaluate.record_linkage(table, table) == 1
    doubles = pa.table({"x": list(map(float, values))})
    assert tn.evaluate.record_linkage(doubles, doubles) == 0.75  # the mutant
    shifted = pa.table({"x": [value + 1 for value in values]})
    assert tn.evaluate.record_linkage(table, shifted) == 0.5  # two find their neighbours
    assert tn.evaluate.sse(table, shifted) == 4
    unsigned = pa.table({"x": pa.array([2**63 + value for value in range(4)], pa.uint64())})
    assert tn.evaluate.record_linkage(unsigned, unsigned) == 1


# -- An intruder who relates columns: what he restores is counted exactly --------------------------


def swapped(true: np.ndarray, size: int, seed: int) -> PublishedColumn:
    """A column whose values changed places in groups of neighbours in the file."""
    random = np.random.default_rng(seed)
    labels = np.arange(true.size) // size
    shown = true.copy()
    for group in range(labels.max() + 1):
        shown[labels == group] = random.permutation(true[labels == group])
    return PublishedColumn(true, shown, labels)


def plain(values: np.ndarray) -> PublishedColumn:
    return PublishedColumn(values, values)


def test_what_one_column_tells_is_restored_all() -> None:
    true = np.random.default_rng(1).permutation(60).astype(float)
    for told in (true * 3, -true):
        found = rematched({"tax": swapped(true, 5, 2), "told": plain(told)})["tax"]
        assert found.records == found.values == 1
        assert found.records_blind == found.values_blind == pytest.approx(1 / 5)
        assert found.by == "told"


def test_what_two_columns_tell_together_is_restored_by_all() -> None:
    random = np.random.default_rng(3)
    one, other = random.normal(size=(2, 400))
    columns = {"one": plain(one), "other": plain(other)}
    found = rematched({**columns, "sum": swapped(one + other, 4, 4)})["sum"]
    assert found.by == EVERY
    assert found.records > 0.95


def test_words_tell_by_what_is_usual_among_them() -> None:
    random = np.random.default_rng(5)
    words = random.integers(0, 4, 8000).astype(float)
    height = np.array([20.0, 0.0, 30.0, 10.0])[words.astype(int)]
    told = PublishedColumn(words, words, ordered=False)
    found = rematched({"height": swapped(height, 4, 6), "word": told})["height"]
    assert found.values == 1
    assert found.records < found.values  # equal values of a group are not told apart


def test_a_value_that_several_share_is_one_record_among_them() -> None:
    """All of a group have one value: it is known, but whose record it is is as hidden as before."""
    true = np.repeat([1.0, 2.0, 3.0], 4)
    found = rematched({"x": swapped(true, 4, 7), "told": plain(true)})["x"]
    assert found.values == found.values_blind == 1
    assert found.records == found.records_blind == pytest.approx(1 / 4)


def test_blind_is_what_all_orders_give_on_average() -> None:
    true, labels = np.array([1.0, 1.0, 2.0, 5.0, 7.0]), np.array([0, 0, 0, 1, 1])
    found = rematched({"x": PublishedColumn(true, true, labels)})  # nothing to relate it to
    assert found == {}
    both = rematched({"x": PublishedColumn(true, true, labels), "flat": plain(np.zeros(5))})["x"]
    hits = []
    for first, last in itertools.product(itertools.permutations(range(3)), [(3, 4), (4, 3)]):
        order = [*first, *last]
        hits.append(np.mean([true[i] == true[j] for i, j in enumerate(order)]))
    assert both.values_blind == pytest.approx(np.mean(hits))


def test_swapped_columns_help_each_other_by_their_groups() -> None:
    """Sorted groups of a related column tell where a value belongs, though it was swapped too."""
    random = np.random.default_rng(8)
    one = random.permutation(500).astype(float)
    labels = (one // 5).astype(np.int64)
    shown = one.copy()
    for group in range(100):
        shown[labels == group] = random.permutation(one[labels == group])
    columns = {"one": PublishedColumn(one, shown, labels), "other": swapped(one, 10, 9)}
    assert rematched(columns)["other"].records > 0.9


def test_units_that_share_all_groups() -> None:
    flat, alone = np.zeros(4, np.int64), np.arange(4)
    values = np.arange(4.0)
    assert cells_share({"a": PublishedColumn(values, values, flat)}) == 1 / 4
    both = {"a": PublishedColumn(values, values, flat), "b": PublishedColumn(values, values, alone)}
    assert cells_share(both) == 1
