from __future__ import annotations

from exhibits import assert_as_expected, cell
from tenue.papers.closeness import errata as module

EXPECTED = {
    "err.ceiling": "corrected",
    "err.sums": "corrected",
    "err.last": "corrected",
}


def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(module.EXHIBITS, EXPECTED)


def test_printed_ends_make_buckets_of_three_two_and_one() -> None:
    assert cell("err.ceiling", "6 values, t = 2", "sizes, as printed").ours == "3, 2, 1"
    assert cell("err.ceiling", "6 values, t = 2", "sizes, corrected").ours == "2, 2, 2"


def test_the_recipe_breaks_the_sums_of_columns() -> None:
    assert module.recipe([4, 4, 4], 2).sum(axis=0).tolist() == [4, 4, 4]
    assert module.recipe([6, 7, 6], 2).sum(axis=0).tolist() != [6, 7, 6]
