"""Counts: exact sums, every ratio within t, and one bucket as often as may be."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest

from tenue.errors import Fault
from tenue.microdata.bucket.cut import buckets_for, cut
from tenue.microdata.bucket.emphasis import dealt, emphasised, in_turn, most_preferred
from tenue.microdata.bucket.feasible import most_groups, sizes_of


def as_printed(buckets: list[int], groups: int, t: Fraction) -> np.ndarray:
    """Thesis, end of section 7.2.2: ⌈k·p/t⌉ of every bucket but one, the rest from that one."""
    units = sum(buckets)
    counts = np.zeros((groups, len(buckets)), np.int64)
    for i, size in enumerate(sizes_of(units, groups).tolist()):
        own = i % len(buckets)
        counts[i] = [
            -(-size * bucket * t.denominator // (units * t.numerator)) for bucket in buckets
        ]
        counts[i, own] = size - (counts[i].sum() - counts[i, own])
    return counts


def test_a_thousand_random_cases_keep_sums_ratio_and_k() -> None:
    """Ties, N no multiple of k, t from 1.1 to 20."""
    rng = random.Random(1)
    broken = 0
    for _ in range(1000):
        units = rng.randrange(2, 300)
        k = rng.randrange(1, min(units, 25) + 1)
        t = Fraction(rng.randrange(110, 2001), 100)
        wide = rng.choice([2, 5, 50, 1000])
        values = [rng.randrange(wide) for _ in range(units)]
        many = np.unique(values, return_counts=True)[1]
        of_value = cut(many, buckets_for(t))
        buckets = np.bincount(of_value, weights=many).astype(int).tolist()
        groups = most_groups(buckets, k, t)
        counts = emphasised(buckets, groups, t)
        assert counts.sum(axis=0).tolist() == buckets
        assert counts.sum(axis=1).tolist() == sizes_of(units, groups).tolist()
        assert counts.sum(axis=1).min() >= k
        for row in counts.tolist():
            for count, bucket in zip(row, buckets, strict=True):
                x = Fraction(sum(row) * bucket, units)
                assert count > 0
                assert max(count / x, x / count) <= t
        broken += as_printed(buckets, groups, t).sum(axis=0).tolist() != buckets
    assert broken > 300, "the printed recipe breaks the sums of columns"


def test_the_printed_recipe_breaks_the_sums_of_columns() -> None:
    buckets, t = [10, 10, 10], Fraction(2)
    printed = as_printed(buckets, 7, t)
    assert printed.sum(axis=1).tolist() == sizes_of(30, 7).tolist()
    assert printed.sum(axis=0).tolist() != buckets
    assert emphasised(buckets, 7, t).sum(axis=0).tolist() == buckets


@pytest.mark.parametrize("t", [2, 3, 4])
def test_whole_t_has_the_masses_of_table_7_6(t: int) -> None:
    size = t * (t + 1)
    counts = emphasised([size] * (t + 1), t + 1, Fraction(t))
    own, other = Fraction(t, t + 1), Fraction(1, t * (t + 1))
    expected = [[own if i == j else other for j in range(t + 1)] for i in range(t + 1)]
    assert [[Fraction(int(n), size) for n in row] for row in counts] == expected


def test_which_bucket_is_emphasised_goes_round() -> None:
    assert in_turn(np.array([4, 4, 4]), 6).tolist() == [0, 1, 2, 0, 1, 2]
    assert sorted(in_turn(np.array([3, 0, 1]), 8).tolist()) == [0] * 6 + [2] * 2
    assert in_turn(np.array([0, 0]), 3).tolist() == [0, 1, 0]


def best(
    supply: list[int], demand: list[int], room: np.ndarray, preferred: list[int]
) -> int | None:
    """Over every flow: how much goes where rows prefer it, at most."""
    rows, columns = room.shape
    found = None
    each = [
        [row for row in itertools.product(*(range(top + 1) for top in room[i])) if sum(row) == give]
        for i, give in enumerate(supply)
    ]
    for flow in itertools.product(*each):
        if all(sum(flow[i][j] for i in range(rows)) == demand[j] for j in range(columns)):
            value = sum(flow[i][preferred[i]] for i in range(rows))
            found = value if found is None else max(found, value)
    return found


def test_no_flow_has_more_where_rows_prefer_it() -> None:
    rng = random.Random(2)
    solved = refused = 0
    for _ in range(400):
        rows, columns = rng.randrange(1, 4), rng.randrange(1, 4)
        room = np.array([[rng.randrange(4) for _ in range(columns)] for _ in range(rows)])
        flow = np.array([[rng.randrange(top + 1) for top in row] for row in room.tolist()])
        supply, demand = flow.sum(axis=1), flow.sum(axis=0)
        if rng.random() < 0.2:
            supply, demand = supply + 2, demand + (2 * rows if columns == 1 else 2)
        preferred = np.array([rng.randrange(columns) for _ in range(rows)])
        expected = best(supply.tolist(), demand.tolist(), room, preferred.tolist())
        if expected is None:
            if supply.sum() == demand.sum():
                with pytest.raises(Fault):
                    most_preferred(supply, demand, room, preferred)
                refused += 1
            continue
        found = most_preferred(supply, demand, room, preferred)
        assert (found >= 0).all()
        assert (found <= room).all()
        assert found.sum(axis=1).tolist() == supply.tolist()
        assert found.sum(axis=0).tolist() == demand.tolist()
        assert found[np.arange(rows), preferred].sum() == expected
        solved += 1
    assert solved > 200
    assert refused > 0


def test_totals_are_shared_out_evenly() -> None:
    rng = random.Random(4)
    for _ in range(200):
        groups, many = rng.randrange(1, 9), rng.randrange(1, 6)
        totals = np.array([rng.randrange(20) for _ in range(many)])
        totals[-1] += -totals.sum() % groups
        found = dealt(totals, groups)
        assert found.sum(axis=0).tolist() == totals.tolist()
        assert len(set(found.sum(axis=1).tolist())) == 1
        assert (found.max(axis=0) - found.min(axis=0) <= 1).all()
