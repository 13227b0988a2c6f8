"""Keys are complete: the records alone decide their order, never the rows they stand in."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.order import hilbert, key


@given(st.integers(1, 2**62 - 1), st.integers(0, 16), st.data())
def test_cells_are_exact_for_every_length(length: int, bits: int, data: st.DataObject) -> None:
    at = data.draw(st.lists(st.integers(0, length), min_size=1, max_size=5))
    found = key.cells(np.array(at, np.int64), length, bits)
    last = (1 << bits) - 1
    assert found.tolist() == [min(int(Fraction(x << bits, length)), last) for x in at]


@given(st.integers(1, 2**62 - 1), st.integers(1, 16), st.data())
def test_coarse_cells_are_made_of_fine_ones(length: int, bits: int, data: st.DataObject) -> None:
    at = np.array([data.draw(st.integers(0, length))], np.int64)
    coarse = data.draw(st.integers(0, bits))
    fine = key.cells(at, length, bits) >> (bits - coarse)
    assert np.array_equal(fine, key.cells(at, length, coarse))


def test_a_line_of_no_length_has_one_cell() -> None:
    assert key.cells(np.zeros(3, np.int64), 0, 5).tolist() == [0, 0, 0]


@pytest.mark.parametrize("columns", range(1, hilbert.MOST_COLUMNS + 1))
def test_a_place_along_the_curve_fits_one_word(columns: int) -> None:
    assert 1 <= columns * key.bits_for(columns) < 64


def records(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Two columns with ties in the cells and between whole records."""
    rng = np.random.default_rng(4)
    values = rng.integers(0, 5, (rows, 2))
    return values // 3, values


def test_the_order_of_rows_decides_nothing() -> None:
    cells, values = records(60)
    first = values[key.ranked(cells, 1, list(values.T))]
    for seed in range(20):
        rows = np.random.default_rng(seed).permutation(60)
        again = values[rows][key.ranked(cells[rows], 1, list(values[rows].T))]
        assert np.array_equal(again, first)


def test_ties_by_row_would_follow_the_file() -> None:
    """Mutant: sorted by the curve alone, as an engine would leave ties."""
    cells, values = records(60)
    kept = np.argsort(hilbert.index(cells, 1), kind="stable")
    rows = np.random.default_rng(1).permutation(60)
    again = np.argsort(hilbert.index(cells[rows], 1), kind="stable")
    assert not np.array_equal(values[rows][again], values[kept])


def test_the_curve_comes_first_then_the_columns_in_turn() -> None:
    values = np.array([[1, 0], [0, 1], [0, 0], [3, 3], [2, 0]])
    order = key.ranked(values // 2, 1, list(values.T))
    assert values[order].tolist() == [[0, 0], [0, 1], [1, 0], [2, 0], [3, 3]]


def test_without_a_curve_the_values_decide() -> None:
    values = np.array([3, 1, 2])
    assert key.ranked(np.empty((3, 0), np.int64), 0, [values]).tolist() == [1, 2, 0]
