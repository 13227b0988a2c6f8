"""Exchanges: counts stay, errors only shrink, and none is left that would help."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from filling_bound import at_random, squared_errors
from tenue.microdata.bucket import exchange
from tenue.microdata.bucket.exchange import exchanged, likeness, sums_of


def table(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    groups, kinds = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    counts = rng.integers(0, 3, (groups, kinds)) + 1
    buckets = rng.permutation(np.repeat(np.arange(kinds), counts.sum(axis=0)))
    return rng.integers(0, rng.choice([3, 65536]), (buckets.size, 2)), buckets, counts


def test_counts_stay_and_no_exchange_is_left_that_helps() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        where, buckets, counts = table(rng)
        begin = at_random(buckets, counts, rng)
        found = exchanged(where, buckets, begin)
        kinds = counts.shape[1]
        many = np.bincount(found * kinds + buckets, minlength=counts.size)
        assert many.reshape(counts.shape).tolist() == counts.tolist()
        least = squared_errors(where, found)
        assert least <= squared_errors(where, begin) * (1 + 1e-12)
        for i, j in itertools.combinations(range(buckets.size), 2):
            if buckets[i] == buckets[j]:
                other = found.copy()
                other[[i, j]] = found[[j, i]]
                assert least <= squared_errors(where, other) * (1 + 1e-12)


def test_what_was_given_stays_as_it_is() -> None:
    where, groups = np.array([[1], [9], [2], [8]]), np.array([0, 1, 1, 0])
    exchanged(where, np.array([0, 0, 1, 1]), groups)
    assert groups.tolist() == [0, 1, 1, 0]


def test_likeness_and_squared_errors_add_up_to_all_squares() -> None:
    rng = np.random.default_rng(2)
    where, buckets, counts = table(rng)
    groups = at_random(buckets, counts, rng)
    sizes, sums = sums_of(where, groups)
    assert sizes.tolist() == counts.sum(axis=1).tolist()
    assert sums.sum(axis=0).tolist() == where.sum(axis=0).tolist()
    squares = float((where.astype(float) ** 2).sum())
    assert likeness(where, groups) + squared_errors(where, groups) == pytest.approx(squares)


def test_people_at_the_ends_of_wide_groups_do_not_overflow() -> None:
    """Two groups of 1,500 at opposite ends, wrongly mixed: exact although numbers are large."""
    where = np.repeat([[0], [65535]], 1500, axis=0)
    groups = np.arange(3000) % 2
    found = exchanged(where, np.zeros(3000, np.int64), groups)
    assert squared_errors(where, found) == 0


def test_large_tables_are_left_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    where, buckets = np.array([[1], [9], [2], [8]]), np.array([0, 0, 1, 1])
    monkeypatch.setattr(exchange, "MOST", 3)
    assert exchanged(where, buckets, np.array([0, 1, 1, 0])).tolist() == [0, 1, 1, 0]
