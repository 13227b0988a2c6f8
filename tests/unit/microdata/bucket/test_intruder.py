"""What an informed intruder guesses: against every way of knowing members."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from tenue.microdata.bucket.intruder import farthest_group, right_guess


def by_enumeration(counts: tuple[int, ...], known: int) -> Fraction:
    members = [bucket for bucket, many in enumerate(counts) for _ in range(many)]
    size = len(members)
    total, ways = Fraction(0), 0
    for unknown in itertools.combinations(range(size), size - known):
        rest = [members[i] for i in unknown]
        total += Fraction(max(rest.count(bucket) for bucket in set(rest)), len(rest))
        ways += 1
    return total / ways


@pytest.mark.parametrize("counts", [(4, 1, 1), (2, 2), (3, 2, 1, 1), (1, 1, 1)])
def test_it_is_the_mean_over_every_set_of_members(counts: tuple[int, ...]) -> None:
    size = sum(counts)
    for known in (0, size - 2, size - 1):
        assert right_guess(counts, known) == by_enumeration(counts, known)
    with pytest.raises(ValueError, match="all but"):
        right_guess((4, 1, 1), 2)


def test_whoever_knows_all_but_one_knows_the_last() -> None:
    counts = farthest_group(30, Fraction(2))
    guesses = [round(float(right_guess(counts, known)), 2) for known in (0, 28, 29)]
    assert guesses == [0.67, 0.74, 1.0]


@pytest.mark.parametrize(("k", "t"), [(1, 20), (3, 1), (10, 1), (5, 1.1), (10, 1.5), (30, 2)])
def test_the_farthest_group_is_within_t(k: int, t: float) -> None:
    ratio = Fraction(str(t))
    counts = farthest_group(k, ratio)
    size, many = sum(counts), len(counts)
    assert size >= k
    for count in counts:
        quotient = Fraction(count * many, size)
        assert max(quotient, 1 / quotient) <= ratio
    # one more of the first bucket is too many of it, or too few of whichever it is taken from
    too_many = Fraction((counts[0] + 1) * many, size) > ratio
    too_few = all(Fraction((count - 1) * many, size) * ratio < 1 for count in counts[1:])
    assert too_many or too_few
