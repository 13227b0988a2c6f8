from __future__ import annotations

import pytest

from exhibits import anew, assert_as_expected, cell
from tenue.noise import DiscreteLaplace, HeavyTail
from tenue.papers.cell import Verdict
from tenue.papers.individual import tables as module

EXPECTED = {
    "idp.1": "corrected",
    "idp.2": "corrected",
    "idp.fig1": "equal",
    "idp.fig2": "equal",
    "idp.ex1": "equal",
    "idp.ex2": "equal",
}


def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(module.EXHIBITS, EXPECTED)


def test_a_rounding_of_the_paper_is_corrected() -> None:
    assert cell("idp.1", "±", "smooth, γ = 2").verdict is Verdict.CORRECTED
    assert cell("idp.2", "ε = ln 2", "individual, cut to ±1").printed == "0.66"


def test_noise_for_half_the_sensitivity_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = HeavyTail.interval
    half = lambda self, level: tuple(end / 2 for end in right(self, level))  # noqa: E731
    monkeypatch.setattr(HeavyTail, "interval", half)
    assert anew("idp.1") is Verdict.DIFFERENT


def test_a_wrong_mass_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = DiscreteLaplace.mass
    monkeypatch.setattr(DiscreteLaplace, "mass", lambda self, i: right(self, i) * 1.0001)
    assert anew("idp.2") is Verdict.DIFFERENT
