"""Tables of every two columns, and one of all columns that agrees with them."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from private_laws import categories
from tenue.engine.held import Held
from tenue.microdata.private.column import Margin
from tenue.microdata.private.columns import private_columns
from tenue.microdata.private.joint import all_pairs
from tenue.microdata.private.joint.all_pairs import AllPairs, Crossed, agreeing
from tenue.microdata.private.joint.grid import independent
from tenue.microdata.private.joint.grouping import Groups
from tenue.microdata.private.joint.pair_tables import PairTables, cross
from tenue.noise.source import Seeded


def groups(*weights: float) -> Groups:
    margin = Margin(np.arange(len(weights) + 1), np.array(weights) / sum(weights))
    return Groups(margin, np.arange(len(weights)))


def test_the_budget_is_shared_by_all_pairs() -> None:
    for columns, many in ((2, 1), (3, 3), (4, 6)):
        pairs = AllPairs(columns, 1000, Fraction(3, 10))
        assert pairs.many == many
        assert pairs.many * pairs.counting == Fraction(3, 10)
        assert pairs.choosing == 0


def test_few_rows_mean_few_groups() -> None:
    assert [AllPairs(3, n, Fraction(3)).groups for n in (10, 2400, 10**7)] == [2, 10, 32]


def test_every_pair_is_counted_once_and_every_cell_has_noise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []

    def seen(counts: Any, epsilon: Any, source: Any) -> Any:
        asked.append((counts.tolist(), epsilon))
        return counts + 1

    monkeypatch.setattr(all_pairs, "noisy", seen)
    numbers = Held(np.array([[0, 2, 0], [1, 0, 1], [1, 0, 0]]))
    three = [groups(1, 1), groups(1, 1, 1), groups(1, 1)]
    found = AllPairs(3, 3, Fraction(3, 2)).grids(numbers, three, Seeded(1))
    half = Fraction(1, 2)
    assert asked == [
        ([[0, 0, 1], [2, 0, 0]], half),
        ([[1, 0], [1, 1]], half),
        ([[1, 1], [0, 0], [1, 0]], half),
    ]
    assert [grid.columns for grid in found] == [(0, 1), (0, 2), (1, 2)]
    assert found[1].counts.tolist() == [[2, 1], [2, 2]]


def test_the_table_of_all_columns_has_the_tables_of_two() -> None:
    rng = np.random.default_rng(2)
    true = rng.uniform(1, 9, (3, 4, 2, 3))
    pairs = {}
    for i, j in itertools.combinations(range(4), 2):
        pairs[i, j] = true.sum(axis=tuple(k for k in range(4) if k not in (i, j)))
    found = agreeing(np.full(true.shape, true.mean()), pairs)
    for (i, j), wanted in pairs.items():
        held = found.sum(axis=tuple(k for k in range(4) if k not in (i, j)))
        assert np.abs(held - wanted).sum() < 2e-4 * true.sum()


def test_tables_that_contradict_each_other_are_no_fault() -> None:
    same, other = np.diag([50.0, 50.0]), np.fliplr(np.diag([50.0, 50.0]))
    found = agreeing(np.full((2, 2, 2), 12.5), {(0, 1): same, (1, 2): same, (0, 2): other})
    assert np.isfinite(found).all()
    assert (found >= 0).all()


def test_a_cycle_of_dependence_is_kept() -> None:
    """Each two of three columns are alike in 2 rows of 3. The mutant counts a spanning tree only:
    it leaves the last two columns alike in 5 rows of 9."""
    rows = np.array([r for r in itertools.product(range(2), repeat=3) if 0 < sum(r) < 3] * 100)
    rows = np.concatenate([rows, np.repeat([[0, 0, 0], [1, 1, 1]], 300, axis=0)])
    domain, source = categories(2, 2, 2), Seeded(1)
    measured = private_columns(domain, Held(rows), Fraction(100), source)

    def alike(way: Any) -> list[float]:
        made = way.release(domain, Held(rows), measured, source).block(range(9000), source)
        return sorted((made[:, i] == made[:, j]).mean() for i, j in ((0, 1), (0, 2), (1, 2)))

    shares = len(rows), Fraction(100)
    true = sorted((rows[:, i] == rows[:, j]).mean() for i, j in ((0, 1), (0, 2), (1, 2)))
    assert alike(AllPairs(3, *shares)) == pytest.approx(true, abs=0.01)
    assert alike(PairTables(3, *shares))[0] < true[0] - 0.05


def test_rows_follow_the_table_and_the_margins() -> None:
    three = [groups(1, 1), groups(1, 3), groups(1, 1, 2)]
    table = independent(three, 800)
    table[0, 0] = [0, 0, 100]
    table[1, 0] = [50, 50, 0]
    made = Crossed(table, three, [True, False, True]).block(range(800), Seeded(1))
    assert cross(made[:, 0], made[:, 1], 2, 2).tolist() == [[100, 300], [100, 300]]
    first = made[made[:, 1] == 0]
    assert cross(first[:, 0], first[:, 2], 2, 3).tolist() == [[0, 0, 100], [50, 50, 0]]
    assert not (np.diff(made[:, 0]) >= 0).all()
