"""Where rows lie inside groups, by a released table alone."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from tenue.microdata.private.column import Margin
from tenue.microdata.private.joint import grid
from tenue.microdata.private.joint.grid import Gridded
from tenue.microdata.private.joint.grouping import Groups
from tenue.microdata.private.joint.leaning import leanings, within
from tenue.noise.source import Seeded


def by_hand(table: list[list[int]]) -> list[list[Fraction]]:
    """The leanings along the first axis, in fractions, cell by cell."""
    rows, total = len(table), sum(map(sum, table))
    down = [Fraction(sum(row), total) for row in table]
    across = [Fraction(sum(column), total) for column in zip(*table, strict=True)]
    found = []
    for i in range(rows):
        found.append([])
        for j, share in enumerate(across):
            over = [Fraction(table[k][j], total) / (down[k] * share) for k in range(rows)]
            low = (over[i] + over[i - 1]) / 2 if i else None
            high = (over[i] + over[i + 1]) / 2 if i + 1 < rows else None
            low = max(2 * over[i] - high, Fraction(0)) if low is None else low
            high = max(2 * over[i] - low, Fraction(0)) if high is None else high
            found[-1].append((high - low) / (high + low) if high + low else Fraction(0))
    return found


@pytest.mark.parametrize(
    "table",
    [
        [[4, 1], [1, 4]],
        [[9, 2, 1], [3, 5, 2], [1, 2, 7], [0, 0, 5]],
        [[1, 0], [0, 1], [1, 1]],
    ],
)
def test_rows_lean_as_the_lines_between_cells_do(table: list[list[int]]) -> None:
    expected = np.array(by_hand(table), np.float64)
    held = np.array(table, np.float64)
    assert leanings(held, 0, blank=False) == pytest.approx(expected)
    assert leanings(held.T, 1, blank=False) == pytest.approx(expected.T)


def test_without_dependence_nothing_leans() -> None:
    table = np.multiply.outer(np.outer([1.0, 5], [2.0, 3, 1]), [1.0, 7])
    for axis in range(3):
        assert leanings(table, axis, blank=False) == pytest.approx(np.zeros(table.shape))


def test_a_leaning_is_within_its_bounds() -> None:
    tables = np.random.default_rng(1).exponential(1, (50, 5, 4, 3)) ** 4
    for table, axis in itertools.product(tables, range(3)):
        assert (np.abs(leanings(table, axis, blank=False)) <= 1).all()


def test_blanks_are_no_neighbours() -> None:
    """Whatever the blanks do, other groups lean as they would without them, up to their share."""
    table = np.array([[6.0, 2, 0], [2, 6, 9]])
    found = leanings(table, 1, blank=True)
    assert (found[:, 2] == 0).all()
    assert found[0, 0] < 0 < found[1, 0]
    over = table / table.sum(axis=1, keepdims=True) / table.sum(axis=0)
    low, high = over[1, :2]
    middle = (low + high) / 2
    assert found[1, 1] == pytest.approx((2 * high - middle - middle) / (2 * high))
    alone = leanings(np.array([[3.0, 5], [2, 1]]), 1, blank=True)
    assert (alone == 0).all()


@pytest.mark.parametrize("lean", [-1.0, -0.3, 0.0, 1e-9, 0.5, 1.0])
def test_rows_are_spread_by_a_straight_density(lean: float) -> None:
    found = np.sort(within(np.full(20_000, lean), Seeded(5)))
    assert 0 <= found[0] <= found[-1] < 1
    law = found + lean * (found**2 - found)
    assert np.abs(law - (np.arange(20_000) + 0.5) / 20_000).max() < 0.015


def test_leaning_keeps_dependence_inside_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two columns in four groups each. The mutant takes every cell for evenly filled."""
    rng = np.random.default_rng(2)
    one = rng.uniform(size=200_000)
    both = np.stack([one, (one + rng.uniform(0, 0.5, one.size)) / 1.5], axis=1)
    places = (np.argsort(np.argsort(both, axis=0), axis=0) * 400) // one.size
    table, *_ = np.histogram2d(places[:, 0], places[:, 1], bins=4)
    groups = [Groups(Margin(np.arange(401), np.full(400, 1 / 400)), np.repeat(range(4), 100))] * 2

    def off() -> float:
        made = Gridded(table, [0, 1], groups).block(range(200_000), Seeded(3))
        for j in range(2):
            assert np.ptp(np.bincount(made[:, j])) <= 2
        again, *_ = np.histogram2d(made[:, 0], made[:, 1], bins=4)
        assert np.abs(again - table).max() <= 2
        return abs(np.corrcoef(made.T)[0, 1] - np.corrcoef(places.T)[0, 1])

    right = off()
    monkeypatch.setattr(grid, "leanings", lambda table, *_, **__: np.zeros(table.shape))
    assert right < 0.6 * off()
