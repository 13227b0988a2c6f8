"""Whether counts exist: against a flow through every single group."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest

from tenue.microdata.bucket.feasible import feasible, most_groups, rooms, sizes_of


def flow_exists(buckets: list[int], groups: int, t: Fraction) -> bool:
    """Maximum flow with lower bounds, augmented unit by unit; every group a node of its own."""
    units, sizes = sum(buckets), sizes_of(sum(buckets), groups).tolist()
    room, give, take = {}, list(sizes), list(buckets)
    for i, j in itertools.product(range(groups), range(len(buckets))):
        x = Fraction(sizes[i] * buckets[j], units)
        low, high = math.ceil(x / t), math.floor(x * t)
        if low > high:
            return False
        room[i, j] = high - low
        give[i] -= low
        take[j] -= low
    if min(give) < 0 or min(take) < 0:
        return False
    flow = dict.fromkeys(room, 0)

    def augment(i: int, seen: set[int]) -> bool:
        for j in range(len(take)):
            if j in seen or flow[i, j] == room[i, j]:
                continue
            seen.add(j)
            if take[j] > 0:
                take[j] -= 1
                flow[i, j] += 1
                return True
            for other in range(groups):
                if other != i and flow[other, j] > 0 and augment(other, seen):
                    flow[other, j] -= 1
                    flow[i, j] += 1
                    return True
        return False

    return all(augment(i, set()) for i in range(groups) for _ in range(give[i]))


def test_it_is_a_flow_through_every_group() -> None:
    rng = random.Random(3)
    seen = {True: 0, False: 0}
    for _ in range(600):
        buckets = [rng.randrange(1, 9) for _ in range(rng.randrange(2, 5))]
        groups = rng.randrange(1, min(6, sum(buckets)) + 1)
        t = Fraction(rng.randrange(10, 31), 10)
        expected = flow_exists(buckets, groups, t)
        assert feasible(buckets, groups, t) == expected, (buckets, groups, t)
        seen[expected] += 1
    assert min(seen.values()) > 50


def test_the_example_that_cannot_be_satisfied() -> None:
    assert sizes_of(9, 3).tolist() == [3, 3, 3]
    assert not feasible([5, 4], 3, Fraction(3, 2))
    assert most_groups([5, 4], 3, Fraction(3, 2)) < 3


def test_one_group_always_will_do() -> None:
    for buckets in ([1], [1, 1], [999, 1], [7, 5, 3]):
        assert feasible(buckets, 1, Fraction(1))
        assert most_groups(buckets, sum(buckets), Fraction(1)) == 1


def test_no_larger_number_of_groups_is_feasible() -> None:
    rng = random.Random(5)
    for _ in range(100):
        buckets = [rng.randrange(1, 30) for _ in range(rng.randrange(1, 4))]
        k = rng.randrange(1, sum(buckets) + 1)
        t = Fraction(rng.randrange(10, 50), 10)
        found = most_groups(buckets, k, t)
        assert sizes_of(sum(buckets), found).min() >= k
        larger = range(found + 1, sum(buckets) // k + 1)
        assert not any(feasible(buckets, groups, t) for groups in larger)


def test_sizes_differ_by_one_and_add_up() -> None:
    for units, groups in ((10, 3), (9, 3), (7, 7), (1000, 37)):
        found = sizes_of(units, groups)
        assert found.sum() == units
        assert found.max() - found.min() <= 1


@pytest.mark.parametrize("t", [Fraction(1), Fraction(11, 10), Fraction(2), Fraction(20)])
def test_the_ends_of_a_count_are_the_outermost_that_keep_the_ratio(t: Fraction) -> None:
    for room in rooms([17, 5, 40], 4, t):
        for bucket, low, high in zip([17, 5, 40], room.low, room.high, strict=True):
            x = Fraction(room.size * bucket, 62)
            assert low * t >= x
            assert not ((low - 1) * t >= x)
            assert high <= x * t
            assert not (high + 1 <= x * t)
