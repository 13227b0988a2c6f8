from __future__ import annotations

import pytest

from exhibits import anew, assert_as_expected, data, shown
from tenue.noise import Laplace
from tenue.papers.cell import Verdict
from tenue.papers.optimal_noise import figures as module

EXPECTED = {
    "fig4.1": "equal",
    "fig4.2": "equal",
    "fig4.3": "equal",
    "fig4.4": "equal",
    "fig4.5": "equal",
    "fig4.6": "equal",
    "fig4.7": "equal",
}


def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(module.EXHIBITS, EXPECTED)


def test_densities_have_mass_one() -> None:
    for panel in module.components(data()).panels:
        points = panel.series[0].points
        step = points[1][0] - points[0][0]
        assert sum(y for _, y in points) * step == pytest.approx(1, abs=0.03)


def test_the_best_point_lies_on_its_curve() -> None:
    figure = shown("fig4.2").figure
    assert figure is not None
    line, best = figure.panels[0].series
    assert best.points[0][1] <= min(y for _, y in line.points)


def test_a_wrong_laplace_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Laplace.interval
    monkeypatch.setattr(Laplace, "interval", lambda self, level: right(self, 0.9 * float(level)))
    assert anew("fig4.1") is Verdict.DIFFERENT
