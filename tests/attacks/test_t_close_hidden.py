"""What hidden groups tell whoever knows the method: exact posteriors over all small tables.

The intruder knows everybody's quasi-identifiers, how many people have each bucket, and the method;
any assignment of buckets to people is equally likely to him. He sees the release, in which the
buckets of each group changed places, and not the groups. He weighs every table by how likely it
leads to this release.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import tenue as tn
from tenue.publish.buckets.assign_groups import filled
from tenue.publish.buckets.bucket_counts import counts_for
from tenue.publish.methods.t_close import FORMED_HIDDEN
from unit.publish.census import people, schema

Table = tuple[int, ...]
Orders = Callable[[list[int]], Iterator[tuple[int, ...]]]


@dataclass(frozen=True)
class Found:
    """What the intruder reaches, over all tables of these sizes.

    right: how often his best guess of a bucket is right; `shares` is that of one who sees groups
        and takes the most frequent bucket of each, `own` how often a row shows its own bucket.
    worst: the largest quotient of a posterior and the share in the table.
    certain: how often he is certain.
    """

    right: Fraction
    shares: Fraction
    own: Fraction
    worst: Fraction
    certain: Fraction


def every_order(values: list[int]) -> Iterator[tuple[int, ...]]:
    return iter(sorted(set(itertools.permutations(values))))


def as_it_was(values: list[int]) -> Iterator[tuple[int, ...]]:
    """The mutant that forgets to permute."""
    return iter([tuple(values)])


def attacked(
    places: Sequence[int],
    sizes: Sequence[int],
    k: int,
    t: Fraction,
    orders: Orders = every_order,
    shuffles: Sequence[Sequence[int]] = (),
) -> Found:
    """The method on every table, and Bayes' rule.

    Parameters
        places: where people lie.
        shuffles: orders in which the method may see the rows; those that differ among people at
            one place matter.
    """
    people_ = len(places)
    ways = shuffles or [range(people_)]
    tables = every_order(np.repeat(np.arange(len(sizes)), sizes).tolist())
    weights: dict[Table, Counter[Table]] = defaultdict(Counter)
    shares, many = Fraction(0), 0
    for table, way in itertools.product(tables, ways):
        many += 1
        order = np.array(way)
        where, buckets = np.array(places)[order, np.newaxis] * 100, np.array(table)[order]
        labels = filled(where, buckets, counts_for([buckets], buckets, k, t))
        groups = []
        for group in range(int(labels.max()) + 1):
            inside = np.flatnonzero(labels == group)
            shares += int(np.bincount(buckets[inside]).max())
            groups.append((order[inside], list(orders(buckets[inside].tolist()))))
        total = 1
        for _, some in groups:
            total *= len(some)
        for drawn in itertools.product(*(some for _, some in groups)):
            shown = [0] * people_
            for (inside, _), values in zip(groups, drawn, strict=True):
                for person, value in zip(inside, values, strict=True):
                    shown[person] = value
            weights[tuple(shown)][table] += Fraction(1, total)  # type: ignore[assignment]
    right = own = worst = certain = Fraction(0)
    for release, fitting in weights.items():
        whole = Fraction(sum(fitting.values()))
        for person in range(people_):
            masses = [Fraction(0)] * len(sizes)
            for table, weight in fitting.items():
                masses[table[person]] += weight
            right += max(masses)
            own += masses[release[person]]
            certain += whole * (max(masses) == whole)
            for mass, size in zip(masses, sizes, strict=True):
                worst = max(worst, mass / whole * people_ / size)
    all_ = many * people_
    return Found(right / all_, shares / all_, own / all_, worst, certain / all_)


def small_tables() -> Iterator[tuple[int, tuple[int, ...], int, Fraction]]:
    for many in (4, 5, 6, 7):
        for first in range(2, many // 2 + 1):
            for k, t in itertools.product(
                range(2, many // 2 + 1), map(Fraction, ("1", "3/2", "2"))
            ):
                yield many, (first, many - first), k, t
    yield 6, (2, 2, 2), 3, Fraction(2)
    yield 8, (4, 4), 4, Fraction(3, 2)
    yield 10, (5, 5), 5, Fraction(3, 2)


def test_on_every_small_table_he_learns_little_but_not_nothing() -> None:
    """He guesses hardly better than one who sees the groups and nothing else, and mostly worse. But
    he may become certain of few, at most one in thirty, which is beyond t: so the certificate must
    say that nothing is promised against whoever knows the method."""
    silent = beyond = worse = 0
    for many, sizes, k, t in small_tables():
        found = attacked(range(many), sizes, k, t)
        assert found.right <= found.shares + Fraction(4, 100)
        assert found.certain <= Fraction(1, 30)
        assert (found.certain == 0) == (found.worst == 1)
        silent += found.worst == 1
        beyond += found.worst > t
        worse += found.right <= found.shares
    assert (silent, beyond, worse) == (14, 18, 18)
    release = tn.publish(
        people(90), schema=schema(), method="t-close", t=2, k=10, groups="hidden", preview=True
    )
    assert FORMED_HIDDEN in release.certificate.does_not_promise


def test_a_row_shows_its_own_bucket_as_often_as_its_group_has_it() -> None:
    """Groups of 2 and 1: (2/3)² + (1/3)² if every order of a group is equally likely. Buckets that
    stay where they are show all."""
    found = attacked(range(6), (3, 3), 3, Fraction(3, 2))
    assert found.own == Fraction(5, 9)
    assert found.right < found.shares == Fraction(2, 3)
    mutant = attacked(range(6), (3, 3), 3, Fraction(3, 2), as_it_was)
    assert mutant.own == mutant.right == mutant.certain == 1


@pytest.mark.parametrize("shuffled", [True, False])
def test_people_at_one_place_are_told_apart_only_by_an_order_that_means_something(
    shuffled: bool,
) -> None:
    """Three pairs, each at one place. Rows are shuffled before; whoever knew their order (the
    mutant) would guess better."""
    pairs = [(0, 1), (1, 0)]
    ways = [
        tuple(2 * pair + side for pair, sides in enumerate(three) for side in sides)
        for three in itertools.product(pairs, repeat=3)
    ]
    given = ways if shuffled else ways[:1]
    found = attacked([0, 0, 1, 1, 2, 2], (3, 3), 3, Fraction(3, 2), shuffles=given)
    known = attacked([0, 0, 1, 1, 2, 2], (3, 3), 3, Fraction(3, 2), shuffles=ways[:1])
    assert (found.right < known.right) == shuffled
