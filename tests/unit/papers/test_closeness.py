"""t-closeness by buckets."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from exhibits import anew, assert_as_expected, cell
from tenue.publish.buckets import column
from tenue.publish.buckets.bucket_counts import emphasised, most_groups
from tenue.publish.buckets.column import value_buckets
from tenue_papers import closeness as module
from tenue_papers.cell import Verdict
from tenue_papers.closeness import BUCKETS, GROUPS, ratio, released


def test_a_release_has_the_counts_that_its_rule_gives() -> None:
    made = released(range(1, 19), 2, 6)
    assert made.sizes == np.bincount(value_buckets(np.ones(18, np.int64), 3)).tolist() == [6, 6, 6]
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
    assert BUCKETS.tolist() == value_buckets(np.ones(12, np.int64), 3).tolist()
    assert most_groups([4, 4, 4], 4, Fraction(3, 2)) == 3
    counts = [np.bincount(BUCKETS[group == GROUPS], minlength=3).tolist() for group in range(3)]
    assert counts == emphasised([4, 4, 4], 3, Fraction(3, 2)).tolist()
    assert counts == [[2, 1, 1], [1, 2, 1], [1, 1, 2]]


def test_a_group_without_a_bucket_is_infinitely_far() -> None:
    assert ratio([0, 0, 1, 1], [0, 0, 1, 1]) == math.inf


# -- tables ----------------------------------------------------------------------------------------

TABLES_EXPECTED = {
    "7.2": "equal",
    "7.3": "equal",
    "7.4": "equal",
    "7.5": "equal",
    "7.6": "equal",
}


def test_tables_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(module.TABLES, TABLES_EXPECTED)


def test_groups_that_are_less_close_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GROUPS", np.repeat([0, 1, 2], 4))
    assert anew("7.5") is Verdict.DIFFERENT


# -- errata ----------------------------------------------------------------------------------------

ERRATA_EXPECTED = {
    "err.ceiling": "corrected",
    "err.sums": "corrected",
    "err.last": "corrected",
}


def test_errata_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(module.ERRATA, ERRATA_EXPECTED)


def test_printed_ends_make_buckets_of_three_two_and_one() -> None:
    assert cell("err.ceiling", "6 values, t = 2", "sizes, as printed").ours == "3, 2, 1"
    assert cell("err.ceiling", "6 values, t = 2", "sizes, corrected").ours == "2, 2, 2"


def test_the_recipe_breaks_the_sums_of_columns() -> None:
    assert module.recipe([4, 4, 4], 2).sum(axis=0).tolist() == [4, 4, 4]
    assert module.recipe([6, 7, 6], 2).sum(axis=0).tolist() != [6, 7, 6]


# -- figures ---------------------------------------------------------------------------------------

EXPECTED = {
    "fig7.1": "equal",
    "fig7.2": "equal",
    "fig7.3": "equal",
    "fig7.4": "equal",
    "fig7.5": "equal",
    "fig7.6": "equal",
    "fig7.7": "equal",
}


def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(module.FIGURES, EXPECTED)


def test_three_generalisations_are_minimal() -> None:
    assert module.minimal() == [(0, 2), (1, 1), (2, 0)]
    assert module.least((0, 1)) == 2


def test_the_group_has_mass_one_and_two_thirds_in_the_middle() -> None:
    assert module.mass(Fraction(0), Fraction(1)) == 1
    assert module.mass(Fraction(1, 3), Fraction(2, 3)) == Fraction(2, 3)


def test_other_cuts_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = column.value_buckets
    monkeypatch.setattr(column, "value_buckets", lambda counts, buckets: right(counts, buckets - 1))
    assert anew("fig7.4") is Verdict.DIFFERENT
