from __future__ import annotations

import numpy as np
import pytest

from exhibits import anew, assert_as_expected
from tenue.papers.cell import Verdict
from tenue.papers.closeness import tables as module

EXPECTED = {
    "7.2": "equal",
    "7.3": "equal",
    "7.4": "equal",
    "7.5": "equal",
    "7.6": "equal",
}


def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(module.EXHIBITS, EXPECTED)


def test_groups_that_are_less_close_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GROUPS", np.repeat([0, 1, 2], 4))
    assert anew("7.5") is Verdict.DIFFERENT
