"""Rows drawn from tables keep what the tables say, in every block."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from private_laws import categories
from tenue.engine.held import Held
from tenue.microdata.private import synthesis
from tenue.microdata.private.column import Margin
from tenue.microdata.private.joint.conditional import Conditional, Family, independent, raked
from tenue.microdata.private.joint.grouping import Groups
from tenue.microdata.private.joint.network import Network
from tenue.noise import Seeded


def test_raking_meets_the_sums() -> None:
    made = raked(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([4.0, 6.0]), np.array([5.0, 5.0]))
    assert made.sum(axis=0) == pytest.approx([5, 5])
    assert made.sum(axis=1) == pytest.approx([4, 6], rel=1e-3)


def test_further_blocks_follow_the_same_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parents and child hang together in every block, not in the first alone."""
    held = categories(3, 3)
    rng = np.random.default_rng(1)
    a = rng.integers(0, 3, 30_000)
    places = np.stack([a, np.where(rng.uniform(size=a.size) < 0.9, a, 2 - a)], axis=1)
    monkeypatch.setattr(synthesis, "CELLS", 2 * 5_000)
    way = Network.planned(held, a.size, Fraction(1))
    blocks = list(way.blocks(way.release(Held(places), Seeded(2)), Seeded(3)))
    assert [len(block) for block in blocks] == [5_000] * 6
    truth = (places[:, 0] == places[:, 1]).mean()
    for block in blocks:
        assert (block[:, 0] == block[:, 1]).mean() == pytest.approx(truth, abs=0.02)
    assert not (blocks[1] == blocks[2]).all()


def test_what_independence_gives_is_about_all_rows() -> None:
    """Of a part of the rows it is scaled up: the score compares it with counts of all."""
    whole = Margin(np.arange(3), np.array([0.5, 0.5]))
    parts = [Groups.of(whole, ordered=False, blank=False, most=2) for _ in range(2)]
    made = np.array([[0, 0], [1, 1]] * 50)
    assert independent(parts, Family(1, (0,)), made, 100).tolist() == [[25, 25], [25, 25]]
    assert independent(parts, Family(1, (0,)), made, 4000).tolist() == [[1000, 1000]] * 2


def test_an_ordered_child_leans_by_its_parents() -> None:
    """Parent and child are one number in four groups; taken for a category, the child is spread
    evenly inside its group."""
    wide = Margin(np.arange(401), np.full(400, 1 / 400))
    parts = [Groups(wide, np.repeat(np.arange(4), 100))] * 2
    table = np.array([[70.0, 25, 5, 0], [25, 45, 25, 5], [5, 25, 45, 25], [0, 5, 25, 70]]) * 100
    made = np.stack([np.zeros(40_000, np.int64), np.arange(40_000) % 400], axis=1)
    found = {}
    for ordered in (True, False):
        child = Conditional(Family(0, (1,)), parts, table, ordered).column(made, 40_000, Seeded(4))
        seen, *_ = np.histogram2d(child, made[:, 1], bins=4)
        assert np.abs(seen - table).max() < 30
        found[ordered] = np.corrcoef(child, made[:, 1])[0, 1]
    assert found[True] > found[False] + 0.02
