from __future__ import annotations

import pytest

from exhibits import anew, assert_as_expected, cell
from tenue.papers.cell import Verdict
from tenue.papers.refinement import tables as module

EXPECTED = {
    "ex6": "equal",
    "ex8": "equal",
    "5.1": "equal",
    "5.2": "equal",
    "5.3": "equal",
    "5.4": "equal",
    "5.bool": "corrected",
    "passat.ex1": "equal",
    "passat.ex2": "corrected",
    "passat.ex3": "corrected",
    "passat.I": "equal",
    "passat.II": "equal",
}


def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected((*module.THESIS, *module.PASSAT), EXPECTED)


def test_both_texts_print_the_same_example_to_other_digits() -> None:
    one, other = cell("ex8", "P(1)", "bit 0"), cell("passat.ex3", "P(1)", "bit 0")
    assert one.ours == other.ours
    assert (one.verdict, other.verdict) == (Verdict.EQUAL, Verdict.CORRECTED)


def test_a_smaller_factor_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from tenue.mechanism.refinement import factor

    monkeypatch.setattr(factor, "power_below", lambda x: factor.power_above(-x) * 99 / 100)
    assert anew("5.2") is Verdict.DIFFERENT
    assert anew("5.bool") is Verdict.DIFFERENT
