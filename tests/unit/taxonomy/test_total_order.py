"""The Hilbert curve, walked whole, and complete sort keys."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.taxonomy import total_order

WHOLE = [(1, 6), (2, 1), (2, 5), (3, 4), (4, 3), (5, 2), (6, 2), (8, 1), (8, 2), (12, 1), (16, 1)]
"""Columns and levels of curves that are walked from end to end."""


def grid(columns: int, bits: int) -> np.ndarray:
    numbers = np.arange(1 << (columns * bits), dtype=np.int64)
    axes = [(numbers >> (j * bits)) & ((1 << bits) - 1) for j in range(columns)]
    return np.stack(axes, axis=1)


def walked(columns: int, bits: int) -> np.ndarray:
    cells = grid(columns, bits)
    return cells[np.argsort(total_order.index(cells, bits))]


@pytest.mark.parametrize(("columns", "bits"), WHOLE)
def test_every_cell_has_a_place_of_its_own(columns: int, bits: int) -> None:
    places = np.sort(total_order.index(grid(columns, bits), bits))
    assert np.array_equal(places, np.arange(1 << (columns * bits)))


@pytest.mark.parametrize(("columns", "bits"), WHOLE)
def test_cells_that_follow_each_other_touch(columns: int, bits: int) -> None:
    steps = np.abs(np.diff(walked(columns, bits), axis=0)).sum(axis=1)
    assert (steps == 1).all()


@pytest.mark.parametrize(("columns", "bits"), [case for case in WHOLE if case[1] > 1])
def test_coarse_places_are_the_first_digits_of_fine_ones(columns: int, bits: int) -> None:
    cells = grid(columns, bits)
    coarse = total_order.index(cells >> 1, bits - 1)
    assert np.array_equal(coarse, total_order.index(cells, bits) >> np.uint64(columns))


def test_a_curve_without_reflections_is_told_apart() -> None:
    """Mutant: the order of interleaved bits jumps."""
    cells = grid(2, 3)
    interleaved = sum(
        ((cells[:, j] >> level) & 1) << (2 * level + j) for j in range(2) for level in range(3)
    )
    steps = np.abs(np.diff(cells[np.argsort(interleaved)], axis=0)).sum(axis=1)
    assert steps.max() > 1


def test_many_rows_are_worked_on_in_parts() -> None:
    cells = np.tile(grid(2, 3), (700, 1))
    assert np.array_equal(
        total_order.index(cells, 3), np.tile(total_order.index(grid(2, 3), 3), 700)
    )


# Keys are complete: the records alone decide their order, never the rows they stand in.


@given(st.integers(1, 2**62 - 1), st.integers(0, 16), st.data())
def test_cells_are_exact_for_every_length(length: int, bits: int, data: st.DataObject) -> None:
    at = data.draw(st.lists(st.integers(0, length), min_size=1, max_size=5))
    found = total_order.cells(np.array(at, np.int64), length, bits)
    last = (1 << bits) - 1
    assert found.tolist() == [min(int(Fraction(x << bits, length)), last) for x in at]


@given(st.integers(1, 2**62 - 1), st.integers(1, 16), st.data())
def test_coarse_cells_are_made_of_fine_ones(length: int, bits: int, data: st.DataObject) -> None:
    at = np.array([data.draw(st.integers(0, length))], np.int64)
    coarse = data.draw(st.integers(0, bits))
    fine = total_order.cells(at, length, bits) >> (bits - coarse)
    assert np.array_equal(fine, total_order.cells(at, length, coarse))


def test_a_line_of_no_length_has_one_cell() -> None:
    assert total_order.cells(np.zeros(3, np.int64), 0, 5).tolist() == [0, 0, 0]


@pytest.mark.parametrize("columns", range(1, total_order.MOST_COLUMNS + 1))
def test_a_place_along_the_curve_fits_one_word(columns: int) -> None:
    assert 1 <= columns * total_order.bits_for(columns) < 64


def records(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Two columns with ties in the cells and between whole records."""
    rng = np.random.default_rng(4)
    values = rng.integers(0, 5, (rows, 2))
    return values // 3, values


def test_the_order_of_rows_decides_nothing() -> None:
    cells, values = records(60)
    first = values[total_order.ranked(cells, 1, list(values.T))]
    for seed in range(20):
        rows = np.random.default_rng(seed).permutation(60)
        again = values[rows][total_order.ranked(cells[rows], 1, list(values[rows].T))]
        assert np.array_equal(again, first)


def test_ties_by_row_would_follow_the_file() -> None:
    """Mutant: sorted by the curve alone, as an engine would leave ties."""
    cells, values = records(60)
    kept = np.argsort(total_order.index(cells, 1), kind="stable")
    rows = np.random.default_rng(1).permutation(60)
    again = np.argsort(total_order.index(cells[rows], 1), kind="stable")
    assert not np.array_equal(values[rows][again], values[kept])


def test_the_curve_comes_first_then_the_columns_in_turn() -> None:
    values = np.array([[1, 0], [0, 1], [0, 0], [3, 3], [2, 0]])
    order = total_order.ranked(values // 2, 1, list(values.T))
    assert values[order].tolist() == [[0, 0], [0, 1], [1, 0], [2, 0], [3, 3]]


def test_without_a_curve_the_values_decide() -> None:
    values = np.array([3, 1, 2])
    assert total_order.ranked(np.empty((3, 0), np.int64), 0, [values]).tolist() == [1, 2, 0]
