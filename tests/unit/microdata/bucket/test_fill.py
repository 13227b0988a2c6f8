"""Groups: the counts hold whatever people are like, and people who are close stay together."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest

from filling_bound import at_random, least_errors, squared_errors
from tenue.microdata.bucket import exchange, fill
from tenue.microdata.bucket.emphasis import emphasised
from tenue.microdata.bucket.fill import filled, positions
from tenue.microdata.table.original import read_original
from unit.microdata.census import people, schema


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
    ours = squared_errors(where, fill._divided(where, buckets, counts))

    def anywhere(counts, part, favourite, left, ahead):  # type: ignore[no-untyped-def]
        return np.zeros_like(ahead)

    monkeypatch.setattr(fill, "_wish", anywhere)
    assert ours * 1.5 < squared_errors(where, fill._divided(where, buckets, counts))


def dependent(seed: int, blur: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two columns; buckets are thirds of the first one, more or less."""
    rng = np.random.default_rng(seed)
    first, second = rng.gamma(2, 8000, 600).clip(0, 65535), rng.integers(0, 65536, 600) // 4
    value = first + rng.normal(0, blur, 600)
    buckets = np.empty(600, np.int64)
    buckets[np.argsort(value)] = np.arange(600) // 200
    counts = emphasised([200, 200, 200], 60, Fraction(2))
    return np.stack([first.astype(np.int64), second], axis=1), buckets, counts


@pytest.mark.parametrize("blur", [0, 4000, 12_000])
def test_hardly_any_filling_is_closer(blur: float) -> None:
    """Where the buckets follow from a column, no filling has a third of the error of a random one:
    the bound says so. Ours stays near the bound, and its first halves alone would not."""
    where, buckets, counts = dependent(7, blur)
    ours = squared_errors(where, filled(where, buckets, counts))
    rng = np.random.default_rng(8)
    random_ones = [squared_errors(where, at_random(buckets, counts, rng)) for _ in range(5)]
    bound = least_errors(where, buckets, counts)
    assert bound <= ours
    assert ours <= max(min(random_ones) / 3, 1.35 * bound)
    if blur == 0:
        assert bound > min(random_ones) / 3
        first = squared_errors(where, fill._divided(where, buckets, counts))
        assert first > 1.05 * ours


def test_groups_filled_again_are_closer_in_large_tables_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without exchanges, as in tables that are too large for them."""
    where, buckets, counts = dependent(7, 0)
    monkeypatch.setattr(exchange, "MOST", 0)
    again = squared_errors(where, filled(where, buckets, counts))
    first = squared_errors(where, fill._divided(where, buckets, counts))
    assert again * 1.03 < first


def test_no_filling_of_a_small_table_is_below_the_bound() -> None:
    """Every filling of two groups; half of the bound's pairs counted twice would be above some."""
    rng = np.random.default_rng(9)
    tight = 0
    for _ in range(40):
        counts = np.array([[2, 1], [1, 2]]) if rng.random() < 0.5 else np.array([[1, 2], [1, 1]])
        buckets = np.repeat([0, 1], counts.sum(axis=0))
        where = rng.integers(0, 100, (buckets.size, 2))
        where[buckets == 1] += rng.integers(0, 200)
        every = []
        for ones in itertools.product([0, 1], repeat=buckets.size):
            labels = np.array(ones)
            many = np.bincount(labels * 2 + buckets, minlength=4).reshape(2, 2)
            if (many == counts).all():
                every.append(squared_errors(where, labels))
        bound = least_errors(where, buckets, counts, thin=1)
        assert bound <= min(every) * (1 + 1e-9)
        tight += 2 * bound > min(every)
    assert tight > 10


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
