from __future__ import annotations

import pytest

from exhibits import anew, assert_as_expected, cell
from tenue.papers.cell import Verdict
from tenue.papers.individual import errata as module

EXPECTED = {
    "err.exact": "corrected",
    "err.scales": "corrected",
    "err.truncated": "corrected",
    "err.rebuilt": "corrected",
    "err.ranks": "corrected",
    "err.halves": "corrected",
    "err.scale": "corrected",
}


def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(module.EXHIBITS, EXPECTED)


def test_less_epsilon_proves_a_bit_more_often() -> None:
    small, large = (cell("err.truncated", f"ε = {e}", "P(bit proved)").ours for e in ("0.1", "1"))
    assert small == pytest.approx(0.475, abs=5e-4)
    assert large == pytest.approx(0.26894142137)


def test_a_column_is_rebuilt() -> None:
    found = cell("err.rebuilt", "1,000 truncated prefix counts", "bits found, total ε = 1").ours
    assert isinstance(found, float)
    assert found > 0.99


def test_ranks_as_printed_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "local", lambda *_, **__: module.Fraction(1))
    assert anew("err.ranks") is Verdict.DIFFERENT
