"""Counts of all combinations of groups: their price, and what they make better."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.engine.held import Held
from tenue.microdata.private.column import Margin, Measured
from tenue.microdata.private.joint import grid
from tenue.microdata.private.joint.grid import Grid, Gridded, independent, private_grid, refined
from tenue.microdata.private.joint.grouping import Groups
from tenue.noise.discrete_laplace import DiscreteLaplace
from tenue.noise.source import Seeded


def measured(*counts: float, variance: float = 1.0) -> Measured:
    cells = np.array(counts, np.float64)
    block = np.zeros(cells.size, np.int64)
    return Measured(np.arange(cells.size + 1), cells, variance, block, int(cells.sum()))


def every(column: Measured) -> Groups:
    return Groups(column.margin, np.arange(column.counts.size))


COLUMNS = [measured(30, 70), measured(10, 20, 70), measured(50, 50)]
GROUPS = [every(column) for column in COLUMNS]


def test_every_record_is_counted_once_and_every_cell_has_noise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []

    def seen(counts: Any, epsilon: Any, source: Any) -> Any:
        asked.append((counts.tolist(), epsilon))
        return counts + 1

    monkeypatch.setattr(grid, "noisy", seen)
    places = np.array([[0, 2, 0], [1, 0, 1], [1, 0, 0], [1, 0, 1]])
    found = private_grid(Held(places), [0, 1], GROUPS, Fraction(1, 2), Seeded(1))
    assert asked == [([[0, 0, 1], [3, 0, 0]], Fraction(1, 2))]
    assert found.counts.tolist() == [[1, 1, 2], [4, 1, 1]]
    law = DiscreteLaplace(sensitivity=2, epsilon=Fraction(1, 2))
    assert found.variance == pytest.approx(law.variance)


def test_one_record_moves_a_grid_by_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """All tables of two rows against each other, over all three columns."""
    monkeypatch.setattr(grid, "noisy", lambda counts, epsilon, source: counts)
    records = list(itertools.product(range(2), range(3), range(2)))
    worst = 0
    for kept, one, other in itertools.product(records, repeat=3):
        counts = [
            private_grid(Held(np.array([kept, last])), [0, 1, 2], GROUPS, Fraction(1), Seeded(1))
            for last in (one, other)
        ]
        worst = max(worst, int(np.abs(counts[0].counts - counts[1].counts).sum()))
    assert worst == 2


def test_what_a_grid_tells_of_each_column() -> None:
    held = Grid((2, 0), np.array([[1, 2], [3, 4], [5, 6]]), 3.0)
    for column, totals, variance in ((2, [3, 7, 11], 6.0), (0, [9, 12], 9.0)):
        told = held.about(column)
        assert told[0].tolist() == totals
        assert told[1] == variance


def test_margins_weigh_all_grids_by_their_variances() -> None:
    # the first column is counted by itself as 30 : 70, and by two grids as 40 : 60 and 50 : 50
    grids = [
        Grid((0, 2), np.array([[20, 20], [30, 30]]), 1.0),
        Grid((0, 1), np.array([[10, 20, 20], [10, 20, 20]]), 2.0),
    ]
    found = refined(COLUMNS, GROUPS, grids)
    sure = np.array([1, 1 / 2, 1 / 6])
    wanted = sure @ np.array([30, 40, 50]) / sure.sum()
    assert found[0].weights[0] * 100 == pytest.approx(wanted)
    alone = refined(COLUMNS, GROUPS, grids[:1])
    assert alone[1] is GROUPS[1]


def test_without_dependence_a_grid_is_the_product() -> None:
    expected = independent(GROUPS, 200)
    assert expected.sum() == pytest.approx(200)
    assert expected[1, 2, 0] == pytest.approx(200 * 0.7 * 0.7 * 0.5)


def test_rows_follow_the_grid_and_the_margins() -> None:
    margins = [
        Margin(np.array([0, 2, 4]), np.array([0.25, 0.75])),
        Margin(np.array([0, 1, 2]), np.array([0.4, 0.6])),
        Margin(np.array([0, 1, 2]), np.array([0.5, 0.5])),
    ]
    table = np.array([[0.0, 25], [50, 25]])
    groups = [Groups(margin, np.arange(2)) for margin in margins]
    made = Gridded(table, [0, 2], groups).block(range(4000), Seeded(3))
    assert (made[:, 0] < 2).sum() == 1000
    assert (made[:, 1] == 0).sum() == 1600
    assert (made[:, 2] == 0).sum() == 2000
    assert ((made[:, 0] < 2) & (made[:, 2] == 0)).sum() <= 1
    both = ((made[:, 1] == 0) & (made[:, 2] == 0)).mean()
    assert both == pytest.approx(0.2, abs=5 * math.sqrt(0.2 * 0.8 / 4000))
    assert not (np.diff(made[:, 0]) >= 0).all()
