from __future__ import annotations

import pytest

from tenue.papers.bayes import measure
from tenue.papers.cell import Verdict


def test_a_simulation_agrees_with_the_integral() -> None:
    assert measure.error_agrees(100, "0.5").verdict is Verdict.EQUAL
    assert measure.closer_agrees(100, "0.5").verdict is Verdict.EQUAL


def test_a_simulation_of_another_epsilon_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    other = measure.simulated(100, "0.45")
    monkeypatch.setattr(measure, "simulated", lambda *_: other)
    assert measure.error_agrees(100, "0.5").verdict is Verdict.DIFFERENT
