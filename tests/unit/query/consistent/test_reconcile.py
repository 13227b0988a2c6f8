"""Whole, not negative, adding up, and not further from the raw numbers than that needs."""

from __future__ import annotations

import itertools
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tenue.query.consistent.reconcile import reconciled, shared_out

NUMBERS = st.fractions(min_value=-30, max_value=30, max_denominator=8)


def test_a_number_alone_is_rounded_half_up_and_not_negative() -> None:
    raw = [Fraction(n, 2) for n in (-3, -1, 0, 1, 3, 5)]
    assert reconciled(raw, [1.0] * 6, {}) == [0, 0, 0, 1, 2, 3]


@given(st.integers(0, 60), st.lists(NUMBERS, min_size=1, max_size=7))
def test_a_total_is_shared_out_whole(total: int, wanted: list[Fraction]) -> None:
    found = shared_out(total, wanted)
    assert sum(found) == total
    assert min(found) >= 0


@given(st.integers(0, 8), st.lists(NUMBERS, min_size=3, max_size=3))
def test_it_is_nearly_the_nearest_way(total: int, wanted: list[Fraction]) -> None:
    """At most a step in each part from the best of all ways to share the total out."""
    ways = [w for w in itertools.product(range(total + 1), repeat=3) if sum(w) == total]

    def distance(way: tuple[int, ...] | list[int]) -> Fraction:
        return sum(((Fraction(a) - b) ** 2 for a, b in zip(way, wanted, strict=True)), Fraction(0))

    best = min(ways, key=distance)
    found = shared_out(total, wanted)
    assert all(abs(a - b) <= 1 for a, b in zip(best, found, strict=True))


@given(st.lists(NUMBERS, min_size=7, max_size=7))
def test_every_total_is_that_of_its_parts(raw: list[Fraction]) -> None:
    """0 = 1 + 2 = 3 + 4, and 2 = 5 + 6."""
    sums = {0: [[1, 2], [3, 4]], 2: [[5, 6]]}
    found = reconciled(raw, [1.0, 2.0, 2.0, 1.0, 1.0, 3.0, 3.0], sums)
    assert min(found) >= 0
    for total, ways in sums.items():
        for way in ways:
            assert found[total] == sum(found[place] for place in way)


def test_a_better_estimate_counts_for_more() -> None:
    """The total is 100 with a small variance, its parts say 160."""
    sums = {0: [[1, 2]]}
    sure = reconciled([Fraction(100), Fraction(80), Fraction(80)], [1.0, 50.0, 50.0], sums)
    unsure = reconciled([Fraction(100), Fraction(80), Fraction(80)], [10_000.0, 1.0, 1.0], sums)
    assert sure == [101, 51, 50]
    assert unsure == [160, 80, 80]
    known = reconciled([Fraction(100), Fraction(80), Fraction(80)], [0.0, 1.0, 1.0], sums)
    assert known == [100, 50, 50]


def test_what_is_consistent_already_stays() -> None:
    raw = [Fraction(n) for n in (7, 3, 4, 0, 4)]
    assert reconciled(raw, [1.0] * 5, {0: [[1, 2]], 2: [[3, 4]]}) == [7, 3, 4, 0, 4]
