from __future__ import annotations

import pytest

from exhibits import anew, assert_as_expected, cell, needs_data
from tenue.papers.cell import Verdict
from tenue.papers.private_data import calibration
from tenue.papers.private_data import tables as module
from tenue.papers.private_data.calibration import COLUMNS

EXPECTED = {
    "6.1": "equal",
    "6.2": "equal",
    "6.5": "equal",
    "err.score": "corrected",
}


def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected((*module.EXHIBITS, *module.ERRATA), EXPECTED)


@needs_data
def test_groups_by_mdav_are_met_to_ten_digits() -> None:
    assert cell("6.1", "k = 30, MDAV", COLUMNS["SSE_f"]).ours == pytest.approx(4.0043e10, rel=1e-4)
    assert cell("6.1", "k = 30, MDAV", COLUMNS["RL_f"]).ours == pytest.approx(100 / 30)


@needs_data
@pytest.mark.parametrize("factor", [0.5, 2])
def test_another_noise_is_told_apart(factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    right = calibration.tops
    monkeypatch.setattr(calibration, "by_corners", calibration.by_mdav)
    monkeypatch.setattr(calibration, "tops", lambda columns: factor * right(columns))
    assert anew("6.1") is Verdict.DIFFERENT
