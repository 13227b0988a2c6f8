"""Released marginals are exact sums, and answers come in the order of the question's keys."""

from __future__ import annotations

import numpy as np

from tenue.query.workload.strategy.marginal import Marginals
from tenue.query.workload.strategy.tables import TableRows, TableStrategy

TABLE = Marginals((2, 3, 2))
TRUTH = [3**i for i in range(12)]
CUBE = np.array(TRUTH).reshape(2, 3, 2)
ROWS = TableRows(TABLE, ((1, 0), (2,)), ((2, 2), (2,)))


def test_answers_are_marginals() -> None:
    strategy = TableStrategy("marginals", TABLE, (frozenset({0}), frozenset({1, 2}), frozenset()))
    one, two, total = strategy.answers(TRUTH)
    assert one == CUBE.sum(axis=(1, 2)).tolist()
    assert two == CUBE.sum(axis=0).ravel().tolist()
    assert total == [sum(TRUTH)]
    assert strategy.lengths == (2, 6, 1)
    assert strategy.largest_cost((5, 6, 7)) == (18, 1), "a row is in one cell of each"
    assert strategy.answers([2**70] * 12)[2] == [12 * 2**70]


def test_rows_follow_the_keys_and_leave_out_what_is_missing() -> None:
    wanted = [*CUBE.sum(axis=2).T[:2].ravel().tolist(), *CUBE.sum(axis=(0, 1)).tolist()]
    assert ROWS.whole_sums(TRUTH) == wanted
    total = TableRows(TABLE, ((), (2,)), ((), (2,)))
    assert total.whole_sums([2**70] * 12) == [12 * 2**70, 6 * 2**70, 6 * 2**70], "of any size"
    assert total.sizes.tolist() == [12, 6, 6]
    assert len(ROWS) == 6
    assert ROWS.cell(2) == (frozenset({0, 1}), (0, 1)), "second value of column 1, first of 0"
    assert ROWS.cell(5) == (frozenset({2}), (1,))


def test_an_estimator_has_the_variances_of_its_weights() -> None:
    strategy = TableStrategy("marginals", TABLE, (frozenset({0, 1, 2}), frozenset({0})))
    noise = (2.0, 5.0)
    found = strategy.estimator(noise)
    spread = np.concatenate([np.full(n, v) for n, v in zip(strategy.lengths, noise, strict=True)])
    for place in range(len(ROWS)):
        weights = np.concatenate(found.weights(ROWS, place))
        assert np.isclose(found.variances(ROWS)[place], (weights**2) @ spread)
