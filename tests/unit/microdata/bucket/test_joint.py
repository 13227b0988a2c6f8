"""Several columns at once: each t-close by itself, whatever they have to do with each other."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np

from tenue.microdata.bucket.joint import cells_of, counts_for
from tenue.microdata.bucket.measure import ratio_of_counts


def margins(counts: np.ndarray, cells: np.ndarray, buckets: np.ndarray) -> np.ndarray:
    of_cell = buckets[np.unique(cells, return_index=True)[1]]
    found = np.zeros((counts.shape[0], int(buckets.max()) + 1), np.int64)
    np.add.at(found.T, of_cell, counts.T)
    return found


def test_a_cell_is_one_combination_of_buckets() -> None:
    one, other = np.array([0, 0, 1, 1, 0]), np.array([1, 0, 0, 1, 1])
    cells = cells_of([one, other])
    assert sorted(set(cells.tolist())) == [0, 1, 2, 3]
    assert cells[0] == cells[4]
    # neighbours differ in one column only
    order = [(int(one[cells == c][0]), int(other[cells == c][0])) for c in range(4)]
    assert order == [(0, 0), (0, 1), (1, 1), (1, 0)]
    assert cells_of([one]).tolist() == one.tolist()


def test_each_column_is_close_by_itself() -> None:
    rng = random.Random(6)
    many = 0
    for _ in range(150):
        units, columns = rng.randrange(4, 200), rng.randrange(1, 4)
        k, t = rng.randrange(1, 12), Fraction(rng.randrange(110, 800), 100)
        k = min(k, units)
        given = []
        for _ in range(columns):
            values = [rng.randrange(rng.randrange(1, 5) + 1) for _ in range(units)]
            given.append(np.unique(values, return_inverse=True)[1].astype(np.int64))
        cells = cells_of(given)
        counts = counts_for(given, cells, k, t)
        assert counts.sum(axis=0).tolist() == np.bincount(cells).tolist()
        assert counts.sum(axis=1).min() >= k
        for buckets in given:
            far = ratio_of_counts(margins(counts, cells, buckets))
            assert far is not None
            assert far <= t
        many += counts.shape[0] > 1
    assert many > 60


def test_two_columns_do_not_cost_many_groups() -> None:
    rng = np.random.default_rng(1)
    hidden = rng.normal(size=3000)
    given = [np.argsort(np.argsort(hidden + rng.normal(size=3000))) * 3 // 3000 for _ in range(2)]
    counts = counts_for(given, cells_of(given), 10, Fraction(2))
    assert counts.shape[0] > 250  # of 300 at most


def test_one_column_has_its_best_counts() -> None:
    buckets = np.repeat([0, 1, 2], 6)
    assert counts_for([buckets], cells_of([buckets]), 6, Fraction(2)).tolist() == [
        [4, 1, 1],
        [1, 4, 1],
        [1, 1, 4],
    ]
