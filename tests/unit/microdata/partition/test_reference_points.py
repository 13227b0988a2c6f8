"""Groups from the corners: the Hamming rule, one record at most in each group, N times in all."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import numpy as np
import pytest

from tenue.microdata import reference_points
from tenue.microdata.partition.reference_points import corners
from tenue.sensitivity import chain


def by_the_book(points: np.ndarray, k: int) -> list[int]:
    """Algorithm 6.1, sentence by sentence, for whole numbers between 0 and 8."""
    rest = list(range(len(points)))
    labels = [0] * len(points)
    for group, corner in enumerate(corners(points.shape[1])):
        ends = [8 * (corner >> j & 1) for j in range(points.shape[1])]
        rest.sort(
            key=lambda i, ends=ends: (
                sum((int(v) - e) ** 2 for v, e in zip(points[i], ends, strict=True)),
                points[i].tolist(),
            )
        )
        taken, rest = (rest[:k], rest[k:]) if len(rest) >= 2 * k else (rest, [])
        for row in taken:
            labels[row] = group
        if not rest:
            return labels
    raise AssertionError


def test_corners_of_a_cube() -> None:
    assert list(islice(corners(1), 4)) == [0, 1, 0, 1]
    assert list(islice(corners(3), 8)) == [0, 7, 1, 6, 3, 4, 2, 5]


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5])
def test_corners_follow_the_hamming_rule(columns: int) -> None:
    found = list(islice(corners(columns), 1 << columns))
    assert sorted(found) == list(range(1 << columns))
    for i in range(1, len(found)):
        free = [c for c in range(1 << columns) if c not in found[:i]]
        distances = {c: [(c ^ f).bit_count() for f in found[:i][::-1]] for c in free}
        assert distances[found[i]] == max(distances.values())


@pytest.mark.parametrize(("columns", "rows", "k"), [(1, 9, 2), (2, 40, 3), (3, 50, 4), (7, 60, 2)])
def test_groups_are_those_of_the_algorithm(columns: int, rows: int, k: int) -> None:
    points = np.random.default_rng(columns).integers(0, 9, (rows, columns))
    found = reference_points(points, k, bounds=[(0, 8)] * columns)
    assert found.labels.tolist() == by_the_book(points, k)
    assert found.sizes.tolist()[:-1] == [k] * (rows // k - 1)


def test_one_record_changes_every_group_and_each_by_one_record() -> None:
    """The thesis' claim, one record for each group, holds; its sensitivity, that of one group,
    does not: the sum of all of them goes far beyond the 2 of one group."""
    rng = np.random.default_rng(5)
    rows, k, most = 24, 2, 0.0
    for _ in range(300):
        points = rng.integers(0, 9, (rows, 2))
        moved = points.copy()
        moved[0] = rng.integers(0, 9, 2)
        sums, members = [], []
        for table in (points, moved):
            labels = reference_points(table, k, bounds=[(0, 8)] * 2).labels
            sums.append([table[labels == g].sum(axis=0) for g in range(rows // k)])
            members.append(
                [Counter(map(tuple, table[labels == g].tolist())) for g in range(rows // k)]
            )
        for one, other in zip(*members, strict=True):
            assert sum((one - other).values()) <= 1
        most = max(most, float(np.abs(np.subtract(*sums)).sum()) / 8)
    assert 2 * 2 < most <= chain.separate(2, rows // k)


def test_rows_decide_nothing() -> None:
    points = np.random.default_rng(8).integers(0, 4, (30, 2))
    rows = np.random.default_rng(9).permutation(30)
    one = reference_points(points, 4, bounds=[(0, 3)] * 2).labels
    other = reference_points(points[rows], 4, bounds=[(0, 3)] * 2).labels
    for group in range(7):
        assert sorted(points[one == group].tolist()) == sorted(
            points[rows][other == group].tolist()
        )
