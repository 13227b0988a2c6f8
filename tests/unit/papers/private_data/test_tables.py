from __future__ import annotations

import zlib
from types import SimpleNamespace
from typing import Any

import pytest

from exhibits import anew, assert_as_expected, cell, needs_data
from tenue.noise import Laplace
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


@pytest.mark.slow
def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected((*module.EXHIBITS, *module.ERRATA), EXPECTED)


@needs_data
def test_groups_by_mdav_are_met_to_ten_digits() -> None:
    assert cell("6.1", "k = 30, MDAV", COLUMNS["SSE_f"]).ours == pytest.approx(4.0043e10, rel=1e-4)
    assert cell("6.1", "k = 30, MDAV", COLUMNS["RL_f"]).ours == pytest.approx(100 / 30)


@needs_data
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_noise_a_tenth_off_turns_red(factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Power: a tenth too little or too much noise; a twentieth is not seen by ten runs."""
    right = Laplace.sample

    def wrong(law: Laplace, *given: Any, **more: Any) -> Any:
        return factor * right(law, *given, **more)

    monkeypatch.setattr(Laplace, "sample", wrong)
    assert anew("6.2") is Verdict.DIFFERENT


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("stream", [b"1", b"2", b"3"])
def test_other_seeds_are_not_red(stream: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def other(name: bytes) -> int:
        return zlib.crc32(name + stream)

    monkeypatch.setattr(calibration, "zlib", SimpleNamespace(crc32=other))
    for name in ("6.1", "6.2", "6.5"):
        assert anew(name) is not Verdict.DIFFERENT
