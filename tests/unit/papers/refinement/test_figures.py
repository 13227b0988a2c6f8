from __future__ import annotations

from fractions import Fraction

import pytest

from exhibits import assert_as_expected, shown
from tenue.papers.refinement import figures as module

EXPECTED = {
    "fig5.1": "equal",
    "fig5.2": "equal",
    "fig5.3": "equal",
    "fig5.4": "equal",
    "fig5.5": "equal",
    "fig5.6": "equal",
    "passat.fig1": "equal",
    "passat.fig2": "equal",
    "passat.fig3": "equal",
    "passat.fig4": "equal",
}


def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected((*module.THESIS, *module.PASSAT), EXPECTED)


def test_refined_densities_have_mass_one() -> None:
    figure = shown("fig5.1").figure
    assert figure is not None
    for panel in figure.panels:
        points = panel.series[0].points
        assert sum(y for _, y in points) / len(points) == pytest.approx(1, abs=0.01)


def test_the_printed_mass_costs_twice_the_delta() -> None:
    assert module.smallest_delta(Fraction(1, 5)) == pytest.approx(0.4)
    assert module.pair_delta(Fraction(1, 10)) == pytest.approx(0.3)
