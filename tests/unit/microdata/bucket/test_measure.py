"""The ratio of shares: an exact fraction, the same from units and from counts."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np

from tenue.evaluate import check
from tenue.microdata.bucket.measure import ratio_of, ratio_of_counts


def by_hand(groups: list[int], buckets: list[int]) -> Fraction | None:
    found = Fraction(1)
    for group in set(groups):
        inside = [b for g, b in zip(groups, buckets, strict=True) if g == group]
        for bucket in set(buckets):
            p = Fraction(inside.count(bucket), len(inside))
            q = Fraction(buckets.count(bucket), len(buckets))
            if p == 0:
                return None
            found = max(found, p / q, q / p)
    return found


def test_it_is_the_definition_and_what_check_measures() -> None:
    rng = random.Random(8)
    finite = 0
    for _ in range(200):
        units = rng.randrange(2, 30)
        groups = np.unique([rng.randrange(3) for _ in range(units)], return_inverse=True)[1]
        buckets = np.unique([rng.randrange(3) for _ in range(units)], return_inverse=True)[1]
        expected = by_hand(groups.tolist(), buckets.tolist())
        assert ratio_of(groups, buckets) == expected
        counts = np.zeros((groups.max() + 1, buckets.max() + 1), np.int64)
        np.add.at(counts, (groups, buckets), 1)
        assert ratio_of_counts(counts) == expected
        rows = np.stack([groups, buckets], axis=1).tolist()
        found = check(rows, quasi_identifiers=["0"], confidential=["1"])
        assert found.confidential[0].exact_t_ratio == expected
        finite += expected is not None
    assert 20 < finite < 190
