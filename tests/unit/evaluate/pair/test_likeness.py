"""Two tables whose rows have nothing to do with each other, compared as wholes."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from tenue.evaluate.pair.likeness import likeness


def table(n: int, seed: int, tie: float = 0.0) -> pa.Table:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, n)
    y = tie * x + (1 - tie) * rng.uniform(0, 1, n)
    return pa.table({"x": x, "y": y, "c": rng.choice(["a", "b", "c"], n)})


def test_the_order_of_rows_does_not_count() -> None:
    one = table(500, 1)
    mixed = one.take(np.random.default_rng(2).permutation(500))
    found = likeness(one, mixed)
    assert found.pairs == found.boxes == found.sliced == 0
    assert all(far == 0 for _, far in found.kolmogorov)
    assert found.correlation is not None
    assert found.correlation.mean == pytest.approx(0, abs=1e-12)


def test_columns_that_are_each_right_and_not_together_are_seen() -> None:
    tied, loose = table(20_000, 1, tie=1.0), table(20_000, 1)
    broken = pa.table({"x": tied["x"], "y": loose["x"].take(list(range(19_999, -1, -1)))})
    found = likeness(tied.select(["x", "y"]), broken)
    assert all(column.histogram < 0.01 for column in found.columns)
    assert found.pairs is not None
    assert found.pairs > 0.8
    assert found.sliced is not None
    assert found.sliced > 0.05


def test_sliced_distance_of_a_shift_is_the_mean_of_its_projections() -> None:
    points = np.random.default_rng(1).uniform(0, 1, (4000, 2))
    points[0], points[1] = (0, 0), (1, 1)
    shifted = points + np.array([0.1, 0.0])
    found = likeness(points, shifted).sliced
    # both columns have reach 1.1 and 1; the mean of |cos| over directions is 2/pi
    assert found == pytest.approx(0.1 / 1.1 * 2 / np.pi, rel=0.05)


@pytest.mark.parametrize(("before", "after"), [(7, 3), (5, 10), (4, 6)])
def test_distance_of_tables_of_different_length_is_that_of_their_common_multiples(
    before: int, after: int
) -> None:
    rng = np.random.default_rng(1)
    one, other = rng.uniform(0, 1, (before, 2)), rng.uniform(0, 1, (after, 2))
    found = likeness(one, other)
    equal = likeness(np.repeat(one, after, axis=0), np.repeat(other, before, axis=0))
    assert found.sliced == pytest.approx(equal.sliced, rel=1e-9)
    repeated = likeness(one, np.repeat(other, 3, axis=0))
    assert found.boxes == pytest.approx(repeated.boxes, rel=1e-9)
    assert dict(found.kolmogorov) == pytest.approx(dict(equal.kolmogorov))


def test_blanks_are_shares_of_their_own_table() -> None:
    """The mutant divides both by the rows of the original, and finds more blanks than rows."""
    one = pa.table({"x": [1.0, None, 3.0, None]})
    found = likeness(one, pa.table({"x": [1.0, None]}))
    assert [column.missing for column in found.columns] == [0.0]


def test_one_column_has_no_pairs() -> None:
    found = likeness([[0.0], [1.0]], [[0.0], [0.0]])
    assert found.pairs is None
    assert found.correlation is None
    assert found.sliced == 0.5
    assert found.kolmogorov == (("0", 0.5),)


def test_missing_values_are_a_cell_of_their_own() -> None:
    one = pa.table({"x": [1.0, 2.0, None, None], "c": ["a", "a", "b", "b"]})
    other = pa.table({"x": [1.0, 2.0, 1.0, 2.0], "c": ["a", "a", "b", "b"]})
    found = likeness(one, other)
    assert found.pairs == 0.5
    assert found.sliced is None


def test_boxes_are_off_where_rows_moved() -> None:
    assert likeness(table(3000, 1), table(3000, 2)).boxes < 0.02
    far = pa.table({"x": np.zeros(3000), "y": np.zeros(3000), "c": ["a"] * 3000})
    assert likeness(table(3000, 1), far).boxes > 0.1


def test_the_facts_are_marked_for_the_holder() -> None:
    found = likeness(table(50, 1), table(50, 2))
    assert json.loads(found.to_json())["for"] == "the holder alone"
    assert "total variation" in str(found)
