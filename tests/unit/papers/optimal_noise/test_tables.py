from __future__ import annotations

import pytest

from exhibits import anew, assert_as_expected, cell
from tenue.noise import IndependentLaplace, OptimalBox
from tenue.papers.cell import Verdict
from tenue.papers.optimal_noise import tables as module

EXPECTED = {
    "4.1": "equal",
    "4.2": "corrected",
    "4.3": "corrected",
    "4.4": "corrected",
    "ex4": "equal",
    "ex5": "equal",
    "4.dimensions": "equal",
}


def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(module.EXHIBITS, EXPECTED)


def test_the_honest_baseline_stands_beside_the_printed_one() -> None:
    assert cell("ex5", "Laplace, scale 11", "Var(Y1)").ours == 242
    assert cell("ex5", "Laplace, scales 2 and 20", "Var(Y1)").ours == 8


@pytest.mark.parametrize(("law", "name"), [(OptimalBox, "4.4"), (IndependentLaplace, "4.3")])
def test_a_volume_one_in_a_thousand_off_is_seen(
    law: type, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = law.volume
    monkeypatch.setattr(law, "volume", lambda self, level: 1.001 * right(self, level))
    assert anew(name) is Verdict.DIFFERENT
