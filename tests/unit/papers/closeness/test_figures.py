from __future__ import annotations

from fractions import Fraction

import pytest

from exhibits import anew, assert_as_expected
from tenue.microdata.bucket import column
from tenue.papers.cell import Verdict
from tenue.papers.closeness import figures as module

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
    assert_as_expected(module.EXHIBITS, EXPECTED)


def test_three_generalisations_are_minimal() -> None:
    assert module.minimal() == [(0, 2), (1, 1), (2, 0)]
    assert module.least((0, 1)) == 2


def test_the_group_has_mass_one_and_two_thirds_in_the_middle() -> None:
    assert module.mass(Fraction(0), Fraction(1)) == 1
    assert module.mass(Fraction(1, 3), Fraction(2, 3)) == Fraction(2, 3)


def test_other_cuts_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = column.cut
    monkeypatch.setattr(column, "cut", lambda counts, buckets: right(counts, buckets - 1))
    assert anew("fig7.4") is Verdict.DIFFERENT
