"""What one row of the table can cost is exact, and so are the true answers of a level."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tenue.query.workload.strategy.level import Level, largest_cost, swap_cost
from tenue.query.workload.strategy.line import groups, hats


def test_answers_are_whole_sums_of_any_size() -> None:
    level = Level.of_rows([(np.array([0, 2]), np.array([1, 3])), (np.array([1]), np.array([2]))], 3)
    assert level.answers([2**70, 5, 1]) == [2**70 + 3, 10]
    assert level.column_sums.tolist() == [1, 2, 3]
    assert level.height == 3
    vector = np.array([1.0, 2.0, 4.0])
    assert level.times(vector).tolist() == (level.dense() @ vector).tolist()
    back = np.array([1.0, 10.0])
    assert level.transposed(back).tolist() == (level.dense().T @ back).tolist()
    assert Level.leaves(3).answers([7, 8, 9]) == [7, 8, 9]


@pytest.mark.parametrize("levels", [[groups(9, 4)], [Level.leaves(9), hats(9, 3, 1, True)]])
def test_costs_are_those_of_the_definition(levels: list[Level]) -> None:
    prices = [7, 11][: len(levels)]
    tables = [p * level.dense() / level.height for level, p in zip(levels, prices, strict=True)]
    columns = list(np.concatenate(tables).T)
    alone = max(np.abs(column).sum() for column in columns)
    assert float(Fraction(*largest_cost(levels, prices))) == pytest.approx(alone)
    every = [*columns, np.zeros_like(columns[0])]
    pairs = max(np.abs(a - b).sum() for a in every for b in every)
    assert float(Fraction(*swap_cost(levels, prices))) == pytest.approx(pairs)
    assert largest_cost(levels, [0] * len(levels)) == swap_cost(levels, [0] * len(levels)) == (0, 1)


def test_the_outside_is_among_the_swaps() -> None:
    """A total alone costs nothing between atoms, and its whole price to leave them."""
    total = Level.of_rows([(np.arange(4), np.ones(4, dtype=np.int64))], 4)
    assert Fraction(*swap_cost([total], [5])) == 5


def test_other_rows_have_other_names() -> None:
    assert Level.leaves(4).digest == Level.leaves(4).digest != Level.leaves(5).digest
    assert hats(9, 3, 1, True).digest != hats(9, 3, 1, False).digest
