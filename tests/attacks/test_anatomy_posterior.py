"""What Anatomy tells whoever knows the method and finds every assignment equally likely, exactly.

Groups of similar confidential values depend on these values. Rows are shuffled first, so that equal
ones are taken in an order that means nothing: then the groups tell no more than what they hold.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest

from tenue.publish.methods.anatomy import from_both_ends

Release = frozenset[tuple[frozenset[int], tuple[int, ...]]]


def released(values: tuple[int, ...], order: tuple[int, ...], k: int) -> Release:
    """Who is in which group, and what each group holds; numbers of groups are drawn."""
    labels = from_both_ends(np.array([values[person] for person in order]), k)
    groups: dict[int, list[int]] = defaultdict(list)
    for person, label in zip(order, labels.tolist(), strict=True):
        groups[label].append(person)
    return frozenset(
        (frozenset(group), tuple(sorted(values[person] for person in group)))
        for group in groups.values()
    )


def beyond_the_shares(
    multiset: tuple[int, ...], k: int, orders: Iterable[tuple[int, ...]]
) -> Fraction:
    """How far the probability that a person has a value is from its share in the group, at most."""
    seen: dict[Release, Counter[tuple[int, ...]]] = defaultdict(Counter)
    every = list(orders)
    for values in set(itertools.permutations(multiset)):
        for order in every:
            seen[released(values, order, k)][values] += 1
    worst = Fraction(0)
    for release, tables in seen.items():
        for people, held in release:
            assert len(people) >= k
            for person, value in itertools.product(people, set(held)):
                fit = sum(times for values, times in tables.items() if values[person] == value)
                share = Fraction(held.count(value), len(held))
                worst = max(worst, abs(Fraction(fit, tables.total()) - share))
    return worst


@pytest.mark.parametrize("size", [4, 5])
def test_groups_of_values_tell_what_they_hold_and_no_more(size: int) -> None:
    for multiset in itertools.combinations_with_replacement(range(3), size):
        orders = itertools.permutations(range(size))
        assert beyond_the_shares(multiset, 2, orders) == 0


def test_in_the_order_of_the_file_equal_values_would_tell() -> None:
    """The mutant that does not shuffle: who is first among equals is in the first group."""
    assert beyond_the_shares((0, 1, 1, 2), 2, [(0, 1, 2, 3)]) >= Fraction(1, 6)
