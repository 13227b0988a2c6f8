"""How close the people of groups can be at best, given how many of each bucket every group has.

The squared errors of a group from its mean are (1/size) times the sum of |x - y|² over its pairs.
Of these only pairs of different buckets are counted. Between buckets a and b, put 1/size on every
pair of people who share a group: a person of a then has the share of b in his group, which lies
between the least and the largest such share of all groups, and all together have a sum that the
counts fix. Any filling is such a plan of transport, so the cheapest plan costs no more. That one is
bounded from below by its dual: for any potentials u, v and any price p with u + v + p <= |x - y|²,
the value of these is a bound, however they were found. They are found by scaling rows and columns
in turn (Sinkhorn), on every third person; those of the others follow.
"""

from __future__ import annotations

import itertools

import numpy as np

ROUNDS, LEVELS = 100, 6


def squared_errors(where: np.ndarray, labels: np.ndarray) -> float:
    """Inside the groups, from their means."""
    sizes, total = np.bincount(labels), 0.0
    for line in where.T:
        means = np.bincount(labels, weights=line) / sizes
        total += float(((line - means[labels]) ** 2).sum())
    return total


def at_random(buckets: np.ndarray, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The group of each person in a random filling with these counts."""
    labels = np.empty(buckets.size, np.int64)
    for j in range(counts.shape[1]):
        groups = np.repeat(np.arange(counts.shape[0]), counts[:, j])
        labels[buckets == j] = rng.permutation(groups)
    return labels


def least_errors(
    where: np.ndarray, buckets: np.ndarray, counts: np.ndarray, thin: int = 3
) -> float:
    """No filling with these counts has smaller squared errors."""
    scale = float(np.ptp(where)) or 1.0
    places, sizes = where / scale, counts.sum(axis=1)
    shares = counts / sizes[:, np.newaxis]
    total = 0.0
    for a, b in itertools.combinations(range(counts.shape[1]), 2):
        total += _cheapest(
            places[buckets == a],
            places[buckets == b],
            (shares[:, b].min(), shares[:, b].max()),
            (shares[:, a].min(), shares[:, a].max()),
            float((counts[:, a] * counts[:, b] / sizes).sum()),
            thin,
        )
    return total * scale**2


def _cheapest(
    first: np.ndarray,
    second: np.ndarray,
    rows: tuple[float, float],
    columns: tuple[float, float],
    total: float,
    thin: int,
) -> float:
    """A bound on plans that have so much in each row and column, and in all."""
    some, others = _some(first, thin), _some(second, thin)
    of_row = np.log(np.array(rows) * len(first) / len(some))
    of_column = np.log(np.array(columns) * len(second) / len(others))
    costs = _costs(some, others)
    u, v, price = np.zeros(len(some)), np.zeros(len(others)), 0.0
    for soft in np.geomspace(costs.max() / 20, costs.max() / 3000, LEVELS):
        for _ in range(ROUNDS):
            mass = _log_sum((v + price - costs) / soft, 1)
            u = soft * (np.clip(mass, *of_row) - mass)
            mass = _log_sum((u[:, np.newaxis] + price - costs) / soft, 0)
            v = soft * (np.clip(mass, *of_column) - mass)
            mass = _log_sum((u[:, np.newaxis] + v + price - costs) / soft, None)
            price += soft * float(np.log(total) - mass)
    u = (_costs(first, others) - v - price).min(axis=1)
    v = (_costs(first, second) - u[:, np.newaxis] - price).min(axis=0)  # now u + v + p <= costs
    return _worth(u, rows) + _worth(v, columns) + price * total


def _worth(potential: np.ndarray, between: tuple[float, float]) -> float:
    low, high = between
    return float((np.where(potential >= 0, low, high) * potential).sum())


def _some(places: np.ndarray, thin: int) -> np.ndarray:
    widest = int(places.var(axis=0).argmax())
    return places[np.argsort(places[:, widest], kind="stable")][thin // 2 :: thin]


def _costs(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return ((first[:, np.newaxis] - second) ** 2).sum(axis=2)


def _log_sum(values: np.ndarray, axis: int | None) -> np.ndarray:
    top = values.max(axis=axis, keepdims=True)
    return np.squeeze(top + np.log(np.exp(values - top).sum(axis=axis, keepdims=True)), axis)
