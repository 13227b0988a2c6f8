"""Estimates, weights and variances are those of weighted least squares, written out."""

from __future__ import annotations

import numpy as np
import pytest

from tenue.query.workload.strategy.least_squares import least_squares
from tenue.query.workload.strategy.level import Level
from tenue.query.workload.strategy.line import groups, hats
from tenue.query.workload.strategy.runs import Runs

ROWS = Runs.of_ends(9, [(0, k + 1) for k in range(9)])
ONES = np.ones(2, dtype=np.int64)
PAIRS = Level.of_rows([(np.array([2 * i, 2 * i + 1]), ONES) for i in range(4)], 9)


@pytest.mark.parametrize(
    "levels",
    [
        [Level.leaves(9)],
        [Level.leaves(9), hats(9, 3, 1, True), groups(9, 5)],
        [groups(9, 3), Level.leaves(9)],
    ],
)
def test_estimates_are_least_squares(levels: list[Level]) -> None:
    noise = [3.0, 40.0, 5.0][: len(levels)]
    a = np.concatenate([level.dense() for level in levels])
    v = np.concatenate([np.full(len(level), x) for level, x in zip(levels, noise, strict=False)])
    m = a.T @ (a / v[:, None])
    found = least_squares(levels, noise)
    w = ROWS.dense()
    assert np.allclose(found.variances(ROWS), np.diag(w @ np.linalg.inv(m) @ w.T))
    y = np.cos(np.arange(len(a)))
    parts = np.split(y, np.cumsum([len(level) for level in levels])[:-1])
    assert np.allclose(found.estimate(parts), np.linalg.solve(m, a.T @ (y / v)))
    weights = np.concatenate(found.weights(ROWS, 4))
    assert np.allclose(weights, w[4] @ np.linalg.solve(m, a.T / v))
    assert np.allclose(weights @ a, w[4]), "unbiased"


def test_what_is_not_told_has_no_variance() -> None:
    found = least_squares([PAIRS], [1.0]).variances(Runs.of_ends(9, [(0, 2), (0, 1), (8, 9)]))
    assert found[0] == pytest.approx(1)
    assert np.isinf(found[1:]).all()


@pytest.mark.parametrize(
    "levels",
    [
        [Level.leaves(9)],
        [Level.leaves(9), hats(9, 3, 1, 2), groups(9, 5)],
        [groups(9, 3), Level.leaves(9)],
        [groups(9, 3), hats(9, 1, 0, 0)],
    ],
)
def test_a_public_sum_is_a_row_without_noise(levels: list[Level]) -> None:
    noise = [3.0, 40.0, 5.0][: len(levels)]
    nothing = 1e-9
    a = np.concatenate([*(level.dense() for level in levels), np.ones((1, 9))])
    v = np.concatenate([np.full(len(l), x) for l, x in zip(levels, noise, strict=False)])
    v = np.concatenate([v, [nothing]])
    m = a.T @ (a / v[:, None])
    found = least_squares(levels, noise, sum_public=True)
    w = ROWS.dense()
    assert np.allclose(found.variances(ROWS), np.diag(w @ np.linalg.inv(m) @ w.T), atol=1e-6)
    assert found.variances(ROWS)[-1] == pytest.approx(0, abs=1e-9)
    y = np.cos(np.arange(len(a)))
    parts = np.split(y, np.cumsum([len(level) for level in levels]))
    assert np.allclose(found.estimate(parts), np.linalg.solve(m, a.T @ (y / v)), atol=1e-5)
    assert found.estimate(parts).sum() == pytest.approx(y[-1])
    weights = np.concatenate(found.weights(ROWS, 4))
    assert np.allclose(weights, (w[4] @ np.linalg.solve(m, a.T / v))[:-1], atol=1e-5)
    variance = found.variances(ROWS)[4]
    assert (weights**2 * v[:-1]).sum() == pytest.approx(variance), "weights are those of the error"


def test_a_public_sum_tells_what_no_level_tells() -> None:
    rows = Runs.of_ends(9, [(8, 9), (0, 1)])
    found = least_squares([PAIRS], [1.0], sum_public=True).variances(rows)
    assert found[0] == pytest.approx(4), "the rest of the sum"
    assert np.isinf(found[1])
