"""The plain algorithm is MDAV as soundness.md, section 6, states it."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from tenue.microdata.partition.plain import Euclidean, Rows, farthest, mdav, nearest, without
from tenue.microdata.partition.points import Points, points_of

Table = list[list[int]]


def by_the_book(table: Table, k: int, *, again: bool = True) -> list[int]:
    """MDAV on whole numbers, one sentence of the definition after the other."""
    labels = [-1] * len(table)
    live = list(range(len(table)))

    def centre() -> list[float]:
        columns = zip(*(table[i] for i in live), strict=True)
        return [float(Fraction(sum(column), len(live))) for column in columns]

    def distance(i: int, point: list[float] | list[int]) -> float:
        total = 0.0
        for x, y in zip(table[i], point, strict=True):
            total += (x - y) * (x - y)
        return total

    def outermost(point: list[float] | list[int]) -> int:
        return min(live, key=lambda i: (-distance(i, point), i))

    def leave(seed: int) -> None:
        others = sorted((distance(i, table[seed]), i) for i in live if i != seed)
        group = [seed, *(i for _, i in others[: k - 1])]
        label = max(labels) + 1
        for i in group:
            labels[i] = label
            if i in live:
                live.remove(i)

    while len(live) >= 3 * k:
        first = outermost(centre())
        second = outermost(table[first])
        leave(first)
        if again and labels[second] >= 0:
            second = outermost(table[first])
        leave(second)
    if len(live) >= 2 * k:
        leave(outermost(centre()))
    last = max(labels) + 1
    return [last if label < 0 else label for label in labels]


def labels_of(table: Table, k: int) -> list[int]:
    return mdav(Euclidean(points_of(table)), k).tolist()


def random_table(rng: random.Random) -> tuple[Table, int]:
    columns, values = rng.randrange(1, 5), rng.choice([2, 3, 5, 50, 10**6])
    n = rng.randrange(1, 60)
    table = [[rng.randrange(values) for _ in range(columns)] for _ in range(n)]
    return table, rng.randrange(1, min(n, 8) + 1)


def test_it_follows_the_book_on_tables_full_of_ties() -> None:
    rng = random.Random(4)
    for _ in range(300):
        table, k = random_table(rng)
        assert labels_of(table, k) == by_the_book(table, k)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 7])
def test_all_groups_have_k_records_and_the_last_up_to_twice_as_many(k: int) -> None:
    rng = random.Random(k)
    for n in range(k, 6 * k + 2):
        sizes = np.bincount(labels_of([[rng.randrange(9), rng.randrange(9)] for _ in range(n)], k))
        assert (sizes[:-1] == k).all()
        assert k <= sizes[-1] < 2 * k


def test_a_second_seed_that_was_taken_is_chosen_again() -> None:
    """One record far away and the others in one place: the first group takes the second seed."""
    table = [[9], [0], [0], [0], [0], [0], [0]]
    assert labels_of(table, 2) == [0, 0, 1, 1, 2, 2, 2]
    # All others are 65 from (0, 0). Row 1 is the second seed but leaves with row 0; row 2 follows.
    arc = [[0, 0], [60, 25], [16, 63], [63, 16], [25, 60], [56, 33]]
    assert labels_of(arc, 2) == [0, 0, 1, 2, 1, 2]
    rng = random.Random(5)
    wrong = 0
    for _ in range(200):
        table, k = random_table(rng)
        wrong += by_the_book(table, k, again=False) != by_the_book(table, k)
    assert wrong > 0


def test_a_line_of_five() -> None:
    table = [[5], [2], [9], [0], [5]]
    # The mean is 4.2: 9 leaves, then 0. Of 5, 2, 5 the mean is 4: 2 leaves, then the first 5.
    assert labels_of(table, 1) == [3, 2, 0, 1, 4]
    # Five records are fewer than 3k: one group, 9 and the first 5, and the rest.
    assert labels_of(table, 2) == [0, 1, 0, 1, 1]


def test_equal_distances_are_decided_by_row() -> None:
    live: Rows = np.array([2, 5, 7, 8])
    assert farthest(live, np.array([1.0, 3.0, 3.0, 0.0])) == 5
    distances = np.array([4.0, 4.0, 0.0, 4.0])
    assert sorted(nearest(live, distances.copy(), 7, 2).tolist()) == [2, 7]
    assert sorted(nearest(live, distances.copy(), 7, 3).tolist()) == [2, 5, 7]
    assert sorted(nearest(live, np.zeros(4), 8, 2).tolist()) == [2, 8]
    assert without(live, np.array([8, 5])).tolist() == [2, 7]


def test_distances_add_the_columns_in_order() -> None:
    rng = random.Random(6)
    points = np.array([[rng.uniform(-1, 1) for _ in range(13)] for _ in range(200)])
    got = Euclidean(points).distances(np.arange(200), points[0])
    for i in range(200):
        total = 0.0
        for x, y in zip(points[i].tolist(), points[0].tolist(), strict=True):
            total += (x - y) * (x - y)
        assert got[i] == total


def test_centres_of_groups_are_their_means() -> None:
    points = points_of([[0, 4], [8, 8], [2, 0], [5, 5]])
    centres = Euclidean(points).centres(np.array([1, 0, 1, -1]))
    assert centres.size == 2
    assert centres.record(0).tolist() == points[1].tolist()
    assert centres.record(1).tolist() == ((points[0] + points[2]) / 2).tolist()


class CityBlocks(Euclidean):
    """Another distance on the same records."""

    def distances(self, rows: Rows, point: Points) -> np.ndarray:
        everything = np.array([self.record(int(row)) for row in rows]).reshape(rows.size, -1)
        return np.abs(everything - point).sum(axis=1)


def _sets(labels: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == g).tolist()) for g in range(labels.max() + 1)}


@pytest.mark.parametrize(("space", "partner"), [(Euclidean, 2), (CityBlocks, 1)])
def test_any_space_will_do(space: Callable[[Points], Euclidean], partner: int) -> None:
    # From (0, 0), (4, 4) is nearer than (0, 7) in a straight line and farther along streets.
    points = points_of([[0, 0], [0, 7], [4, 4], [-60, 0], [-60, 1], [-70, 0], [-70, 1]])
    distances = space(points).distances(np.arange(7), points[0])
    assert sorted(nearest(np.arange(7), distances, 0, 2).tolist()) == [0, partner]
    sizes = sorted(len(group) for group in _sets(mdav(space(points), 2)))
    assert sizes == [2, 2, 3]
