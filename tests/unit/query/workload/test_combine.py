"""Sums of answers, with the errors that they share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tenue.errors import Refused
from tenue.query.workload.declare import prefixes
from unit.query.workload.small import planned, session, thresholds

TEXTS = [
    "SELECT COUNT(*) FROM t WHERE x < 20",
    "SELECT c, COUNT(*), SUM(y) FROM t WHERE x < 20 GROUP BY c",
]


@pytest.fixture(scope="module")
def answers() -> Any:
    with session() as data:
        return data.ask_many(TEXTS, epsilon=1, minimise="mean")


def test_a_combination_is_the_sum_and_has_the_variance_of_the_covariance(answers: Any) -> None:
    coefficients = {0: 2, (1, "b", "count"): -1, (1, "d", "sum_y"): 0.5}
    found = answers.combine(coefficients)
    rows = {row["c"]: row for row in answers[1].exact}
    wanted = 2 * answers[0].exact - rows["b"]["count"] + rows["d"]["sum_y"] / 2
    assert found.exact == wanted
    # answers, cells, outputs: the total, then a count, a sum, b count, b sum, d count, d sum
    w = np.array([2, 0, 0, -1, 0, 0, 0.5])
    assert found.variance == pytest.approx(w @ answers.covariance @ w)
    low, high = found.interval(0.95)
    assert low < float(wanted) < high
    assert found.expected_error < high - low
    assert "95 %" in str(found)


def test_what_cancels_has_no_error(answers: Any) -> None:
    """The total and its parts share all noise: their difference has none."""
    parts = {(1, c, "count"): -1 for c in "abd"}
    found = answers.combine({0: 1, **parts})
    assert found.exact == 0
    assert found.variance == pytest.approx(0, abs=1e-9)


def test_answers_next_to_each_other_hang_together() -> None:
    with session() as data:
        found = data.ask_many(thresholds(), epsilon=1).covariance
    assert found.shape == (30, 30)
    variances = next(block.variances for block in planned(*thresholds()).blocks)
    assert np.diag(found) == pytest.approx(variances)
    assert found[14, 15] / np.sqrt(found[14, 14] * found[15, 15]) > 0.7


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {5: 1},
        {"x": 1},
        {(1, "z"): 1},
        {1: 1},
        {(1, "a"): 1},
        {(1, "a", "none"): 1},
        [(0, 1)],
        {True: 1},
    ],
)
def test_refusals(answers: Any, wrong: Any) -> None:
    with pytest.raises(Refused):
        answers.combine(wrong)


def test_what_shares_no_strategy_has_no_joint_law() -> None:
    with session() as data:
        apart = data.ask_many(["SELECT MEDIAN(x) FROM t", "SELECT MAX(x) FROM t"], epsilon=1)
        with pytest.raises(Refused):
            _ = apart.covariance
        mean = data.ask_many(
            ["SELECT AVG(y) FROM t", "SELECT c, AVG(y) FROM t GROUP BY c"], epsilon=1
        )
        with pytest.raises(Refused, match="mean"):
            mean.combine({0: 1})


def test_a_total_that_is_public_has_next_to_no_width() -> None:
    """Under replace; its weights are nothing but what floats leave."""
    with session("replace") as data:
        answers = data.ask_many(prefixes("x"), epsilon=1)
        low, high = answers.up_to(39).interval(0.95)
    assert low <= 600 <= high
    assert high - low < 1e-3
    assert "600" in str(answers.up_to(39))
