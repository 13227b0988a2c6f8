from __future__ import annotations

from fractions import Fraction

import pytest

from exhibits import anew, assert_as_expected
from tenue.mechanism.refinement.factor import Factors
from tenue.papers.cell import Verdict
from tenue.papers.refinement import quality as module

EXPECTED = {
    "5.5": "corrected",
    "fig5.7": "equal",
    "5.alpha": "equal",
}


def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(module.EXHIBITS, EXPECTED)


def test_the_printed_masses_of_algorithm_5_1_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def printed(self: Factors) -> Fraction:
        return (self.up - 1) / (self.up - self.down)

    monkeypatch.setattr(Factors, "core_mass", property(printed))
    assert anew("5.5") is Verdict.DIFFERENT
