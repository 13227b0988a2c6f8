"""A tree and a grid agree about coarse cells."""

from __future__ import annotations

import numpy as np
import pytest

from tenue.microdata.private.column import Margin
from tenue.microdata.private.growth import Boxes
from tenue.microdata.private.joint import coarse
from tenue.microdata.private.joint.coarse import Coarse
from tenue.microdata.private.joint.grid import Grid
from tenue.microdata.private.joint.grouping import Groups

HALVES = Groups(Margin(np.array([0, 5, 10]), np.array([0.5, 0.5])), np.array([0, 1]))
THIRDS = Groups(Margin(np.array([0, 5, 10]), np.array([0.75, 0.25])), np.array([0, 1]))
CELLS = Coarse.of([HALVES, THIRDS], 8)


def test_cells_are_intervals_of_ranks() -> None:
    ranks = np.array([[0, 0], [3, 5], [4, 5], [3, 6], [7, 7]])
    assert CELLS.cells(ranks).tolist() == [0, 0, 2, 1, 3]


@pytest.mark.parametrize("at_once", [1, 3, 4096])
def test_a_box_belongs_to_cells_by_the_part_that_lies_in_them(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coarse, "_AT_ONCE", at_once)
    # the second box lies half below and half above the end of the first column's first group
    boxes = Boxes(
        np.array([[0, 0], [2, 0], [6, 0], [0, 6]]), np.array([[2, 6], [6, 6], [8, 6], [8, 8]])
    )
    weights = np.array([10.0, 60, 5, 25])
    # the boxes hold 40, 12.5, 35, 12.5: with a grid that knows nothing, only the margins count
    blind = Grid((0, 1), np.zeros((2, 2), np.int64), 1e12)
    factors = CELLS.factors(boxes, weights, 1.0, blind).reshape(2, 2)
    assert (factors * [[40, 12.5], [35, 12.5]]).sum(axis=1) == pytest.approx([50, 50])
    assert (factors * [[40, 12.5], [35, 12.5]]).sum(axis=0) == pytest.approx([75, 25])
    # and a grid without noise is followed
    exact = Grid((0, 1), np.array([[45, 5], [30, 20]]), 1e-12)
    factors = CELLS.factors(boxes, weights, 1.0, exact)
    assert factors * [40, 12.5, 35, 12.5] == pytest.approx([45, 5, 30, 20])


def test_tree_and_grid_are_weighed_by_their_variances() -> None:
    low = np.array([[0, 0], [0, 6], [4, 0], [4, 6]])
    boxes = Boxes(low, low + np.array([[4, 6], [4, 2], [4, 6], [4, 2]]))
    weights = np.array([40.0, 10, 35, 15])
    grid = Grid((0, 1), np.array([[30, 20], [45, 5]]), 3.0)
    factors = CELLS.factors(boxes, weights, 1.0, grid)
    assert factors * weights == pytest.approx([37.5, 12.5, 37.5, 12.5])


def test_a_cell_without_any_box_gets_no_row() -> None:
    boxes = Boxes(np.array([[0, 0], [4, 0]]), np.array([[4, 6], [8, 8]]))
    grid = Grid((0, 1), np.array([[30, 20], [45, 5]]), 1.0)
    factors = CELLS.factors(boxes, np.array([50.0, 50]), 1.0, grid)
    assert factors[1] == 0
    assert (factors[[0, 2, 3]] > 0).all()
