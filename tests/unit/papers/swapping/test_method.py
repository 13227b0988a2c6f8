from __future__ import annotations

import numpy as np

from tenue.papers.data import Columns
from tenue.papers.swapping.method import (
    change,
    correlations,
    ir_swap,
    mdav_id,
    mdav_swap,
    seeded,
)

ROWS = np.array([[float(i), float(i * i % 17), float(3 * i % 11)] for i in range(40)])


def test_swapping_moves_values_and_alters_none() -> None:
    for swap in (mdav_swap, ir_swap):
        made = swap(ROWS, [1, 2], 4, seeded("a"))
        assert np.array_equal(made[:, 0], ROWS[:, 0])
        for j in (1, 2):
            assert sorted(made[:, j]) == sorted(ROWS[:, j])
            assert not np.array_equal(made[:, j], ROWS[:, j])


def test_similar_values_change_places() -> None:
    made = ir_swap(ROWS, [0], 4, seeded("b"))
    assert np.abs(made[:, 0] - ROWS[:, 0]).max() < 8


def test_averages_keep_the_mean() -> None:
    made = mdav_id(ROWS, 5)
    assert np.allclose(made.mean(axis=0), ROWS.mean(axis=0))
    assert len(np.unique(made, axis=0)) <= 8


def test_pairs_of_known_columns_count_as_unmoved() -> None:
    columns = Columns(("a", "b", "c"), ROWS)
    made = mdav_id(ROWS, 10)
    all_pairs, some = change(columns, made)[0], change(columns, made, 2)[0]
    moved = abs(correlations(columns, made)[0, 1] - correlations(columns, ROWS)[0, 1]) / 3
    assert np.isclose(all_pairs - some, moved)
    assert np.allclose(correlations(columns, made), np.corrcoef(made.T))
