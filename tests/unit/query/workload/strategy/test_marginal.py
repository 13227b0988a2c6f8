"""Marginals: variances, weights and estimates are those of least squares, written out."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from tenue.query.workload.strategy.marginal import Marginals, choose_marginals
from tenue.query.workload.strategy.runs import Reals

TABLE = Marginals((2, 3, 2))


def written(precisions: Reals) -> tuple[Reals, Reals]:
    rows, noise = [], []
    for columns, precision in zip(TABLE.sets, precisions, strict=True):
        for cell in product(*(range(TABLE.sizes[i]) for i in sorted(columns))):
            one = np.zeros(TABLE.sizes)
            place = dict(zip(sorted(columns), cell, strict=True))
            one[tuple(place.get(i, slice(None)) for i in range(3))] = 1
            if precision:
                rows.append(one.ravel())
                noise.append(1 / precision)
    return np.array(rows), np.array(noise)


@pytest.mark.parametrize("released", [(0, 1, 2, 3, 4, 5, 6, 7), (4, 5), (7,), (1, 6)])
def test_everything_is_least_squares(released: tuple[int, ...]) -> None:
    precisions = np.array([0.3 + i / 10 if i in released else 0.0 for i in range(8)])
    a, v = written(precisions)
    pseudo = np.linalg.pinv(a.T @ (a / v[:, None]))
    columns = frozenset({0, 1})
    w = np.zeros(TABLE.sizes)
    w[1, 2] = 1
    told = np.allclose(w.ravel() @ pseudo @ (a.T @ (a / v[:, None])), w.ravel())
    (variance,) = TABLE.variances([columns], precisions)
    assert np.isfinite(variance) == told
    if told:
        assert variance == pytest.approx(w.ravel() @ pseudo @ w.ravel())
        weights = TABLE.weights(columns, (1, 2), precisions)
        used = np.concatenate([x for x, p in zip(weights, precisions, strict=False) if p])
        assert np.allclose(used, w.ravel() @ pseudo @ (a.T / v))
    y = np.sin(np.arange(len(a)))
    tables, start = {}, 0
    for one, precision in zip(TABLE.sets, precisions, strict=True):
        if precision:
            tables[one] = y[start : start + TABLE.cells(one)]
            start += TABLE.cells(one)
    assert np.allclose(TABLE.estimate(tables, precisions).ravel(), pseudo @ a.T @ (y / v))


def test_two_tables_are_replaced_by_one_where_that_is_better() -> None:
    small = Marginals((2, 2, 2))
    asked = [frozenset(pair) for pair in combinations(range(3), 2)]
    prices = choose_marginals(small, asked, np.full(3, 18.0), np.full(3, 1 / 3), bounded=False)
    assert max(prices, key=lambda one: prices[one]) == frozenset({0, 1, 2})
    assert sum(prices.values()) == pytest.approx(1, abs=0.05)
