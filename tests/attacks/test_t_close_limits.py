"""What t-closeness does not hold against, measured: the certificate says each of these."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np

import tenue as tn
from tenue.publish.buckets.assign_groups import filled
from tenue.publish.buckets.bucket_counts import counts_for, farthest_group, right_guess
from tenue.publish.methods.t_close import ENDS, FORMED
from unit.publish.census import people, schema


def test_whoever_knows_all_members_but_one_knows_the_last() -> None:
    release = tn.publish(people(90), schema=schema(ill=None), method="t-close", t=2, k=10)
    groups: dict[int, Counter[str]] = defaultdict(Counter)
    for row in release.tables["confidential"].to_pylist():
        groups[row["group"]][row["income"]] += 1
    # any member's bucket is what is left when those of the others are taken away
    for inside in groups.values():
        for bucket in inside:
            others = inside - Counter([bucket])
            assert list((inside - others).elements()) == [bucket]
    counts = farthest_group(10, Fraction(2))
    assert right_guess(counts, sum(counts) - 1) == 1
    limits = " ".join(release.certificate.does_not_promise)
    assert "all but one with 1" in limits


def test_an_end_of_an_interval_tells_one_value_from_its_neighbour() -> None:
    """Values a < b beside a cut, grid 0.01: the end is half-way, so that b = 2 * end - a."""
    rows = people(90)
    release = tn.publish(rows, schema=schema(ill=None), method="t-close", t=2, k=10)
    texts = set(release.tables["confidential"].column("income").to_pylist())
    ends = sorted(Fraction(text[1:-1].split(", ")[1]) for text in texts)[:-1]
    values = sorted(Fraction(str(value)) for value in rows.column("income").to_pylist())
    assert len(ends) == 2
    for end in ends:
        known = max(value for value in values if value <= end)
        other = min(value for value in values if value > end)
        assert abs(2 * end - known - other) <= Fraction(1, 100)
    assert ENDS.format(names="`income`") in release.certificate.does_not_promise


def test_where_no_column_has_intervals_nothing_is_said_of_their_ends() -> None:
    release = tn.publish(people(90), schema=schema(income=None), method="t-close", t=2, k=10)
    assert "half-way" not in " ".join(release.certificate.does_not_promise)


def test_whoever_knows_the_method_is_certain_of_some() -> None:
    """Twelve people on a line, six in each of two buckets, any six equally likely; two groups of
    six within t = 3/2. The exact posterior of one who runs the method on every such table."""
    people_, k, t = 12, 6, Fraction(3, 2)
    where = np.arange(people_)[:, np.newaxis] * 1000
    seen: dict[object, list[np.ndarray]] = defaultdict(list)
    blind = Fraction(0)
    for ones in itertools.combinations(range(people_), people_ // 2):
        buckets = np.isin(np.arange(people_), ones).astype(np.int64)
        labels = filled(where, buckets, counts_for([buckets], buckets, k, t))
        shown = []
        for group in range(int(labels.max()) + 1):
            inside = np.flatnonzero(labels == group)
            share = Fraction(int(buckets[inside].sum()), inside.size)
            blind += max(share, 1 - share) * inside.size
            shown.append((tuple(inside.tolist()), share))
        seen[tuple(sorted(shown))].append(buckets)
    total = people_ * sum(map(len, seen.values()))
    right = certain = 0
    for tables in seen.values():
        ones = np.sum(tables, axis=0)
        most = np.maximum(ones, len(tables) - ones)
        right += int(most.sum())
        certain += int((most == len(tables)).sum()) * len(tables)
    assert blind / total == Fraction(2, 3)  # what the shares of a group tell
    assert Fraction(right, total) > Fraction(69, 100)
    assert 0.08 < certain / total < 0.09
    release = tn.publish(people(90), schema=schema(), method="t-close", t=2, k=10)
    assert FORMED in release.certificate.does_not_promise
