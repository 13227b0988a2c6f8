"""The curve visits every cell once, each beside the last, and coarse curves are its prefixes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.order import hilbert

WHOLE = [(1, 6), (2, 1), (2, 5), (3, 4), (4, 3), (5, 2), (6, 2), (8, 1), (8, 2), (12, 1), (16, 1)]
"""Columns and levels of curves that are walked from end to end."""


def grid(columns: int, bits: int) -> np.ndarray:
    numbers = np.arange(1 << (columns * bits), dtype=np.int64)
    axes = [(numbers >> (j * bits)) & ((1 << bits) - 1) for j in range(columns)]
    return np.stack(axes, axis=1)


def walked(columns: int, bits: int) -> np.ndarray:
    cells = grid(columns, bits)
    return cells[np.argsort(hilbert.index(cells, bits))]


@pytest.mark.parametrize(("columns", "bits"), WHOLE)
def test_every_cell_has_a_place_of_its_own(columns: int, bits: int) -> None:
    places = np.sort(hilbert.index(grid(columns, bits), bits))
    assert np.array_equal(places, np.arange(1 << (columns * bits)))


@pytest.mark.parametrize(("columns", "bits"), WHOLE)
def test_cells_that_follow_each_other_touch(columns: int, bits: int) -> None:
    steps = np.abs(np.diff(walked(columns, bits), axis=0)).sum(axis=1)
    assert (steps == 1).all()


@pytest.mark.parametrize(("columns", "bits"), [case for case in WHOLE if case[1] > 1])
def test_coarse_places_are_the_first_digits_of_fine_ones(columns: int, bits: int) -> None:
    cells = grid(columns, bits)
    coarse = hilbert.index(cells >> 1, bits - 1)
    assert np.array_equal(coarse, hilbert.index(cells, bits) >> np.uint64(columns))


@pytest.mark.parametrize(("columns", "bits"), WHOLE)
def test_digits_lead_back_to_the_cell(columns: int, bits: int) -> None:
    cells = grid(columns, bits)
    assert np.array_equal(hilbert.cells(hilbert.digits(cells, bits), columns), cells)


def test_a_curve_without_reflections_is_told_apart() -> None:
    """Mutant: the order of interleaved bits jumps."""
    cells = grid(2, 3)
    interleaved = sum(
        ((cells[:, j] >> level) & 1) << (2 * level + j) for j in range(2) for level in range(3)
    )
    steps = np.abs(np.diff(cells[np.argsort(interleaved)], axis=0)).sum(axis=1)
    assert steps.max() > 1


@given(st.data())
def test_more_than_one_word_of_digits(data: st.DataObject) -> None:
    columns = data.draw(st.integers(2, 16))
    bits = data.draw(st.integers(64 // columns + 1, 40))
    rows = data.draw(
        st.lists(
            st.lists(st.integers(0, 2**bits - 1), min_size=columns, max_size=columns),
            min_size=1,
            max_size=4,
        )
    )
    cells = np.array(rows, np.int64)
    found = hilbert.digits(cells, bits)
    assert np.array_equal(hilbert.cells(found, columns), cells)
    kept = 64 // columns
    word = hilbert.index(cells >> (bits - kept), kept)
    leading = [
        sum(int(d) << columns * (kept - 1 - i) for i, d in enumerate(r[:kept])) for r in found
    ]
    assert word.tolist() == leading
    # the next cell along the curve touches this one, however many digits carry over
    for row, cell in zip(found.tolist(), cells.tolist(), strict=True):
        number = sum(d << columns * (bits - 1 - i) for i, d in enumerate(row)) + 1
        if number >> columns * bits:
            continue
        after = [number >> columns * (bits - 1 - i) & (1 << columns) - 1 for i in range(bits)]
        (there,) = hilbert.cells(np.array([after], np.uint16), columns).tolist()
        assert sum(abs(a - b) for a, b in zip(cell, there, strict=True)) == 1


def test_many_rows_are_worked_on_in_parts() -> None:
    cells = np.tile(grid(2, 3), (700, 1))
    assert np.array_equal(hilbert.index(cells, 3), np.tile(hilbert.index(grid(2, 3), 3), 700))
