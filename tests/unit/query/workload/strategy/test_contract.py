"""A strategy of levels says what its levels say."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tenue.query.workload.strategy.contract import AtomStrategy, of_levels
from tenue.query.workload.strategy.level import Level
from tenue.query.workload.strategy.line import groups
from tenue.query.workload.strategy.runs import Runs

LEVELS = Level.leaves(6), groups(6, 3)


def test_levels_are_told_together() -> None:
    one = AtomStrategy("tree", LEVELS)
    assert (one.heights, one.lengths) == ((1, 1), (6, 2))
    assert one.answers([1, 2, 3, 4, 5, 6]) == [[1, 2, 3, 4, 5, 6], [6, 15]]
    assert Fraction(*one.largest_cost((2, 3))) == 5
    assert Fraction(*one.swap_cost((2, 3))) == 10
    assert one.digest != AtomStrategy("tree", LEVELS[:1]).digest


def test_where_pairs_are_many_a_swap_costs_twice() -> None:
    large = AtomStrategy("atoms", (Level.leaves(2000),))
    assert Fraction(*large.swap_cost((3,))) == 6


def test_a_candidate_carries_rows_and_labels() -> None:
    rows = Runs.of_ends(6, [(0, 6)])
    found = of_levels("tree", LEVELS, [0.5, 0.5], rows, np.arange(6))
    assert found.prices == (0.5, 0.5)
    assert found.strategy.estimator([2.0, 2.0]).variances(found.rows).shape == (1,)
