"""Hats add up to their width at every atom; trees and tents beat leaves where they should."""

from __future__ import annotations

import numpy as np
import pytest

from tenue.query.workload.strategy.least_squares import least_squares
from tenue.query.workload.strategy.level import Level
from tenue.query.workload.strategy.line import groups, hats, lines, sampled
from tenue.query.workload.strategy.runs import Runs


@pytest.mark.parametrize("first", range(5))
@pytest.mark.parametrize("merged", [0, 1, 2])
def test_hats_of_a_level_add_up_to_their_width(first: int, merged: int) -> None:
    level = hats(23, 5, first, merged)
    assert set(level.column_sums) == {5}
    assert len(level) == len(hats(23, 5, first, 0)) - merged
    assert (np.diff(level.atoms[: level.offsets[1]]) == 1).all()


def test_groups_hold_every_atom_once() -> None:
    assert set(groups(23, 5).column_sums) == {1}
    assert len(groups(23, 5)) == 5


@pytest.mark.parametrize("many", [60, 300])
def test_thresholds_and_ranges_are_better_than_from_leaves(many: int) -> None:
    for ends in ([(0, k + 1) for k in range(many)], [(k, many - k) for k in range(many // 2)]):
        rows = Runs.of_ends(many, ends)
        leaves = least_squares([Level.leaves(many)], [2.0]).variances(rows).mean()
        found = dict(lines(rows, np.ones(len(rows))))
        assert set(found) == {"tree", "tents"}
        for levels, prices in found.values():
            assert sum(prices) == pytest.approx(1)
            noise = [2 * (level.height / p) ** 2 for level, p in zip(levels, prices, strict=False)]
            assert least_squares(levels, noise).variances(rows).mean() < 0.95 * leaves


def test_few_atoms_need_no_levels() -> None:
    assert lines(Runs.of_ends(3, [(0, 2)]), np.ones(1)) == []


def test_a_sample_is_of_the_rows() -> None:
    rows = Runs.of_ends(5000, [(0, k + 1) for k in range(5000)])
    some = sampled(rows)
    assert len(some) == 400
    assert set(some.sizes) <= set(rows.sizes)
    assert some.sizes[-1] == 5000


def test_where_the_sum_is_public_tents_use_it() -> None:
    """Mutant: tents that are best without it, read with it."""
    rows = Runs.of_ends(100, [(0, k + 1) for k in range(99)])

    def mean(sum_public: bool) -> float:
        levels, prices = dict(lines(rows, np.ones(99), sum_public=sum_public))["tents"]
        noise = [2 * (level.height / p) ** 2 for level, p in zip(levels, prices, strict=False)]
        return float(least_squares(levels, noise, sum_public=True).variances(rows).mean())

    assert mean(True) < 21.5 < 23 < mean(False)
