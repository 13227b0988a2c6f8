"""Rows of runs add up as the table of zeros and ones that they stand for."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tenue.query.workload.strategy.runs import Runs

TABLES = st.integers(1, 7).flatmap(
    lambda many: st.lists(st.lists(st.booleans(), min_size=many, max_size=many), min_size=1)
)


@given(TABLES)
def test_runs_are_the_table(given: list[list[bool]]) -> None:
    members = np.array(given)
    rows = Runs.of_members(members)
    assert len(rows) == len(members)
    assert (rows.dense() == members).all()
    assert (rows.sizes == members.sum(axis=1)).all()
    assert (rows.covered == members.any(axis=0)).all()
    values = np.arange(1.0, 2 * rows.atoms + 1).reshape(rows.atoms, 2)
    assert np.allclose(rows.sums(values), members @ values)


def test_whole_sums_are_exact_beyond_words() -> None:
    rows = Runs.of_ends(3, [(0, 3), (1, 2), (2, 2)])
    large = [2**70, -(2**69), 5]
    assert rows.whole_sums(large) == [sum(large), -(2**69), 0]
    assert rows.whole_sums([1, 2, 3]) == [6, 2, 0]
