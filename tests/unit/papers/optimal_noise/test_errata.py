from __future__ import annotations

import math

import pytest

from exhibits import anew, assert_as_expected, cell
from tenue.noise import Optimal
from tenue.papers.cell import Verdict
from tenue.papers.optimal_noise import errata as module

EXPECTED = {
    "err.exponent": "corrected",
    "err.criteria": "corrected",
    "err.shells": "corrected",
}


def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(module.EXHIBITS, EXPECTED)


def test_the_printed_exponent_has_too_much_mass() -> None:
    found = cell("err.exponent", "exponent −iε", "total mass").ours
    assert isinstance(found, float)
    assert found > 1.5
    right = cell("err.exponent", "exponent −(i + 1)ε", "first step / core").ours
    assert right == pytest.approx(math.exp(-1))


def test_a_library_with_the_printed_exponent_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Optimal, "_level", lambda self, size: (size > self.d + 1).astype(float))
    assert anew("err.exponent") is Verdict.DIFFERENT
