"""Groups: the counts hold whatever people are like, and people who are close stay together."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from tenue.microdata.bucket import fill
from tenue.microdata.bucket.emphasis import emphasised
from tenue.microdata.bucket.fill import filled, positions
from tenue.microdata.table.original import read_original
from unit.microdata.census import people, schema


def squared_errors(where: np.ndarray, labels: np.ndarray) -> float:
    """Inside the groups, from their means."""
    sizes = np.bincount(labels)
    total = 0.0
    for line in where.T:
        means = np.bincount(labels, weights=line) / sizes
        total += float(((line - means[labels]) ** 2).sum())
    return total


def at_random(buckets: np.ndarray, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    labels = np.empty(buckets.size, np.int64)
    for j in range(counts.shape[1]):
        groups = np.repeat(np.arange(counts.shape[0]), counts[:, j])
        labels[buckets == j] = rng.permutation(groups)
    return labels


def test_every_group_has_its_counts() -> None:
    rng = np.random.default_rng(1)
    for _ in range(100):
        groups, kinds = int(rng.integers(1, 12)), int(rng.integers(1, 5))
        counts = rng.integers(0, 5, (groups, kinds)) + 1
        buckets = rng.permutation(np.repeat(np.arange(kinds), counts.sum(axis=0)))
        where = rng.integers(0, rng.choice([1, 3, 65536]), (buckets.size, 2))
        labels = filled(where, buckets, counts)
        found = np.bincount(labels * kinds + buckets, minlength=groups * kinds)
        assert found.reshape(groups, kinds).tolist() == counts.tolist()


def test_similar_people_share_a_group() -> None:
    rng = np.random.default_rng(2)
    where = rng.integers(0, 65536, (1200, 2))
    buckets = rng.permutation(np.repeat([0, 1, 2], 400))
    counts = emphasised([400, 400, 400], 120, Fraction(2))
    ours = squared_errors(where, filled(where, buckets, counts))
    assert ours * 10 < squared_errors(where, at_random(buckets, counts, rng))


def test_groups_that_emphasise_a_bucket_lie_where_it_is_frequent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A column that goes with the buckets: groups in any order would cost twice the error."""
    rng = np.random.default_rng(3)
    line = np.sort(rng.integers(0, 65536, 900))
    buckets = np.clip(np.arange(900) + rng.integers(-200, 200, 900), 0, 899) // 300
    sizes = np.bincount(buckets).tolist()
    counts = emphasised(sizes, 90, Fraction(2))
    where = line[:, np.newaxis]
    ours = squared_errors(where, filled(where, buckets, counts))

    def anywhere(counts, part, favourite, left, ahead):  # type: ignore[no-untyped-def]
        return np.zeros_like(ahead)

    monkeypatch.setattr(fill, "_wish", anywhere)
    assert ours * 1.5 < squared_errors(where, filled(where, buckets, counts))


def test_keys_that_do_not_fit_into_a_word_are_sorted_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = random.Random(4)
    where = np.array([[rng.randrange(65536), rng.randrange(9)] for _ in range(60)])
    buckets = np.repeat([0, 1], 30)
    counts = np.full((10, 2), 3)
    expected = filled(where, buckets, counts).tolist()
    monkeypatch.setattr(fill, "_WORD", 0)
    assert filled(where, buckets, counts).tolist() == expected


def test_columns_lie_on_their_declared_domain() -> None:
    table = people(4, age=[0, 60, 120, 30], job=["clerk", "writer", "farmer", "miner"])
    cells = read_original(table, schema()).cells
    found = positions([cells["age"], cells["job"]])
    assert found[:, 0].tolist() == [0, 32767, 65535, 16383]
    clerk, writer, farmer, miner = found[:, 1].tolist()
    assert clerk == 0
    assert miner == 65535
    assert writer - clerk < farmer - writer  # two desks are closer than a desk and a field


def test_a_person_lies_at_the_mean_of_his_rows() -> None:
    cells = read_original(people(4, age=[0, 60, 120, 120]), schema()).cells
    job = read_original(people(4, job=["clerk", "clerk", "miner", "clerk"]), schema()).cells["job"]
    found = positions([cells["age"], job], np.array([0, 0, 1, 1]))
    assert found.tolist() == [[0, 0], [65535, 43690]]  # 0.25 and 1; 0 and half of the line


def test_wide_bounds_leave_people_apart() -> None:
    """Bounds a million times wider than the values: they would all lie at 0."""
    wide = schema(age={"bounds": [0, 10**9]})
    cells = read_original(people(4, age=[20, 30, 40, 41]), wide).cells
    assert positions([cells["age"]])[:, 0].tolist() == [0, 31207, 62414, 65535]
