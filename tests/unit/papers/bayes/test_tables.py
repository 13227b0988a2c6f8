from __future__ import annotations

import pytest

from exhibits import anew, assert_as_expected
from tenue.noise import Laplace
from tenue.papers.bayes import tables as module
from tenue.papers.cell import Verdict

EXPECTED = {
    "bayes.range": "equal",
    "bayes.width": "equal",
    "err.gain": "corrected",
    "err.growth": "corrected",
    "err.parity": "corrected",
    "err.median": "corrected",
}


def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected((*module.EXHIBITS, *module.ERRATA), EXPECTED)


def test_out_of_range_depends_on_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Laplace.cdf
    monkeypatch.setattr(Laplace, "cdf", lambda self, x: right(self, 1.001 * x))
    assert anew("bayes.range") is Verdict.DIFFERENT


def test_the_limit_is_what_is_known_without_asking() -> None:
    assert module.deviation(1000) == pytest.approx(11.558821605)
