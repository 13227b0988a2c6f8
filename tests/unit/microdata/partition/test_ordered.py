"""Groups by rank in the order of the declared domain."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from tenue.errors import InvalidArgument, InvalidTable, NotPromised
from tenue.microdata import ordered
from tenue.microdata.partition.ordered import intervals
from tenue.order import hilbert
from tenue.sensitivity import chain

SQUARE = [(0, 8), (0, 8)]


def test_groups_are_intervals_of_ranks() -> None:
    assert intervals(10, 3).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]
    assert intervals(5, 3).tolist() == [0] * 5


def test_one_column_is_sorted() -> None:
    found = ordered([[5], [1], [4], [2], [3]], k=2, bounds=[(0, 9)])
    assert found.labels.tolist() == [1, 0, 1, 0, 1]


def test_labels_follow_the_curve() -> None:
    cells = np.array(list(itertools.product(range(4), range(4))))
    labels = ordered(cells + 0.5, k=1, bounds=[(0, 4), (0, 4)]).labels
    assert np.array_equal(labels, hilbert.index(cells, 2).astype(np.int64))


def test_values_beyond_the_bounds_count_as_the_bound() -> None:
    inside = ordered([[0, 0], [8, 8], [4, 4]], k=1, bounds=SQUARE)
    assert ordered([[-5, 0], [99, 8], [4, 4]], k=1, bounds=SQUARE) == inside


def test_rows_decide_nothing() -> None:
    points = np.random.default_rng(2).integers(0, 9, (50, 2))
    groups = ordered(points, k=7, bounds=SQUARE)
    rows = np.random.default_rng(3).permutation(50)
    again = ordered(points[rows], k=7, bounds=SQUARE)
    for group in range(len(groups)):
        one, other = points[groups.labels == group], points[rows][again.labels == group]
        assert sorted(one.tolist()) == sorted(other.tolist())


@pytest.mark.parametrize(("columns", "rows", "k"), [(1, 7, 2), (2, 8, 1), (3, 8, 2), (4, 9, 3)])
def test_a_replaced_record_moves_the_groups_along_a_chain(columns: int, rows: int, k: int) -> None:
    rng = np.random.default_rng(columns)
    limit = chain.hilbert(columns, rows // k)
    for _ in range(150):
        points = rng.integers(0, 9, (rows, columns))
        moved = points.copy()
        moved[0] = rng.integers(0, 9, columns)
        sums = []
        for table in (points, moved):
            labels = ordered(table, k, bounds=[(0, 8)] * columns).labels
            sums.append([table[labels == g].sum(axis=0) for g in range(rows // k)])
        assert Fraction(int(np.abs(np.subtract(*sums)).sum()), 8) <= limit


@pytest.mark.parametrize(
    "bounds",
    [[(0, 1)], [(0, 1), (1, 1)], [(0, 1), (2, 1)], 3, [(0, 1), 5], [(0, 1), (-1e308, 1e308)]],
)
def test_bounds_are_stated_for_each_column(bounds: object) -> None:
    with pytest.raises(InvalidArgument, match="bounds"):
        ordered([[0, 0]], k=1, bounds=bounds)  # type: ignore[arg-type]


def test_refusals() -> None:
    with pytest.raises(InvalidArgument, match="hilbert"):
        ordered([[0]], k=1, order="peano", bounds=[(0, 1)])
    with pytest.raises(InvalidArgument, match="bounds"):
        ordered([[0]], k=1)  # type: ignore[call-arg]
    with pytest.raises(NotPromised):
        ordered([[0] * 17], k=1, bounds=[(0, 1)] * 17)
    with pytest.raises(InvalidTable):
        ordered([[float("nan")]], k=1, bounds=[(0, 1)])
