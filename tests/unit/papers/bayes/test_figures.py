from __future__ import annotations

import pytest

from exhibits import anew, shown
from tenue.estimate.laplace_integral import LaplaceIntegral
from tenue.papers.bayes import figures as module
from tenue.papers.cell import Verdict

SLOW = {"bayes.fig2", "bayes.fig4", "bayes.fig5", "bayes.fig6", "bayes.fig7", "bayes.fig8"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(one.id, marks=[pytest.mark.slow] if one.id in SLOW else [])
        for one in module.EXHIBITS
    ],
)
def test_the_figure_is_as_the_paper_says(name: str) -> None:
    assert shown(name).verdict is Verdict.EQUAL
    assert shown(name).figure is not None


def test_another_estimate_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = LaplaceIntegral.__init__

    def rougher(self: LaplaceIntegral, *facts: object) -> None:
        right(self, *facts)  # type: ignore[arg-type]
        self.rate *= 1.01

    monkeypatch.setattr(LaplaceIntegral, "__init__", rougher)
    assert anew("bayes.fig1") is Verdict.DIFFERENT
