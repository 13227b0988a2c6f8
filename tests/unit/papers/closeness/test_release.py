from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from tenue.microdata.bucket.cut import cut
from tenue.microdata.bucket.emphasis import emphasised
from tenue.microdata.bucket.feasible import most_groups
from tenue.papers.closeness.release import ratio, released
from tenue.papers.closeness.tables import BUCKETS, GROUPS


def test_a_release_has_the_counts_that_its_rule_gives() -> None:
    made = released(range(1, 19), 2, 6)
    assert made.sizes == np.bincount(cut(np.ones(18, np.int64), 3)).tolist() == [6, 6, 6]
    wanted = emphasised([6, 6, 6], 3, Fraction(2)).tolist()
    assert sorted(made.counts.tolist()) == sorted(wanted)
    assert made.ratio == 2


def test_buckets_are_numbered_in_the_order_of_values() -> None:
    made = released([9, 1, 5, 2, 8, 6], 2, 6)
    assert made.sizes == [2, 2, 2]
    ties = released([1] * 5 + [2] * 4, Fraction(3, 2), 3)
    assert ties.sizes == [5, 4]
    assert len(ties.counts) == most_groups([5, 4], 3, Fraction(3, 2)) == 2


def test_the_printed_groups_are_those_of_the_rule() -> None:
    """Table 7.5: twelve values, three buckets and three groups of four, exactly 1.5-close."""
    assert ratio(GROUPS.tolist(), BUCKETS.tolist()) == 1.5
    assert BUCKETS.tolist() == cut(np.ones(12, np.int64), 3).tolist()
    assert most_groups([4, 4, 4], 4, Fraction(3, 2)) == 3
    counts = [np.bincount(BUCKETS[group == GROUPS], minlength=3).tolist() for group in range(3)]
    assert counts == emphasised([4, 4, 4], 3, Fraction(3, 2)).tolist()
    assert counts == [[2, 1, 1], [1, 2, 1], [1, 1, 2]]


def test_a_group_without_a_bucket_is_infinitely_far() -> None:
    assert ratio([0, 0, 1, 1], [0, 0, 1, 1]) == math.inf
