"""Buckets: equal mass where values allow, no value in two of them, ends rounded down."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from tenue.microdata.bucket.cut import buckets_for, cut


def sizes(counts: list[int], buckets: int) -> list[int]:
    found = cut(np.array(counts), buckets)
    return np.bincount(found, weights=counts).astype(int).tolist()


@pytest.mark.parametrize(
    ("t", "many"), [("1", 2), ("1.1", 2), ("1.99", 2), ("2", 3), ("2.5", 3), ("20", 21)]
)
def test_their_number_is_the_whole_part_of_t_and_one(t: str, many: int) -> None:
    assert buckets_for(Fraction(t)) == many


def test_they_have_equal_mass_where_all_values_differ() -> None:
    assert sizes([1] * 12, 3) == [4, 4, 4]
    assert sizes([1] * 10, 3) == [3, 4, 3]
    for units in range(5, 60):
        for many in range(2, 6):
            found = sizes([1] * units, many)
            assert len(found) == min(many, units)
            assert max(found) - min(found) <= 1


def test_the_printed_ceiling_would_make_the_first_bucket_too_large() -> None:
    """Thesis, section 7.2.2: ends at ⌈j·N/b + 1/2⌉; its own Figure 7.4 has four points in each."""
    ends = [-((-(2 * j * 12 + 3)) // 6) for j in (1, 2)]
    assert np.diff([0, *ends, 12]).tolist() == [5, 4, 3]
    assert sizes([1] * 12, 3) == [4, 4, 4]


def test_no_value_lies_in_two_buckets_and_none_is_empty() -> None:
    rng = random.Random(1)
    torn = 0
    for _ in range(500):
        counts = [rng.choice([1, 1, 2, 30]) for _ in range(rng.randrange(1, 20))]
        many = rng.randrange(2, 8)
        found = cut(np.array(counts), many)
        assert found[0] == 0
        assert set(np.diff(found).tolist()) <= {0, 1}  # in order, without a gap
        assert found.max() + 1 <= many
        # a mutant that cuts ranks instead of values parts equal ones
        values = np.repeat(np.arange(len(counts)), counts)
        ranked = np.arange(values.size) * many // values.size
        torn += len(set(zip(values.tolist(), ranked.tolist(), strict=True))) > len(counts)
    assert torn > 400


def test_a_frequent_value_leaves_two_buckets_if_there_are_two_values() -> None:
    assert sizes([99, 1], 3) == [99, 1]
    assert sizes([1, 99, 1], 2) == [100, 1]
    assert sizes([7], 3) == [7]
