"""Refined beliefs."""

from __future__ import annotations

from fractions import Fraction

import pytest

from exhibits import anew, assert_as_expected, cell, shown
from tenue.mechanism.refinement.update_factors import Factors
from tenue_papers import refinement_figures as figures_module
from tenue_papers import refinement_figures as quality_module
from tenue_papers import refinement_tables as module
from tenue_papers.cell import Verdict

FIGURES_EXPECTED = {
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


def test_figures_every_exhibit_has_its_verdict() -> None:
    assert_as_expected((*figures_module.THESIS, *figures_module.PASSAT), FIGURES_EXPECTED)


def test_refined_densities_have_mass_one() -> None:
    figure = shown("fig5.1").figure
    assert figure is not None
    for panel in figure.panels:
        points = panel.series[0].points
        assert sum(y for _, y in points) / len(points) == pytest.approx(1, abs=0.01)


def test_the_printed_mass_costs_twice_the_delta() -> None:
    assert figures_module.smallest_delta(Fraction(1, 5)) == pytest.approx(0.4)
    assert figures_module.pair_delta(Fraction(1, 10)) == pytest.approx(0.3)


# -- quality ---------------------------------------------------------------------------------------

QUALITY_EXPECTED = {
    "5.5": "corrected",
    "fig5.7": "equal",
    "5.alpha": "equal",
}


def test_quality_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(quality_module.EXHIBITS, QUALITY_EXPECTED)


def test_the_printed_masses_of_algorithm_5_1_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def printed(self: Factors) -> Fraction:
        return (self.up - 1) / (self.up - self.down)

    monkeypatch.setattr(Factors, "core_mass", property(printed))
    assert anew("5.5") is Verdict.DIFFERENT


# -- tables ----------------------------------------------------------------------------------------

TABLES_EXPECTED = {
    "ex6": "equal",
    "ex8": "equal",
    "5.1": "equal",
    "5.2": "equal",
    "5.3": "equal",
    "5.4": "equal",
    "5.bool": "corrected",
    "passat.ex1": "equal",
    "passat.ex2": "corrected",
    "passat.ex3": "corrected",
    "passat.I": "equal",
    "passat.II": "equal",
}


def test_tables_every_exhibit_has_its_verdict() -> None:
    assert_as_expected((*module.THESIS, *module.PASSAT), TABLES_EXPECTED)


def test_both_texts_print_the_same_example_to_other_digits() -> None:
    one, other = cell("ex8", "P(1)", "bit 0"), cell("passat.ex3", "P(1)", "bit 0")
    assert one.ours == other.ours
    assert (one.verdict, other.verdict) == (Verdict.EQUAL, Verdict.CORRECTED)


def test_a_smaller_factor_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from tenue.mechanism.refinement import update_factors

    monkeypatch.setattr(
        update_factors, "power_below", lambda x: update_factors.power_above(-x) * 99 / 100
    )
    assert anew("5.2") is Verdict.DIFFERENT
    assert anew("5.bool") is Verdict.DIFFERENT


# -- errata ----------------------------------------------------------------------------------------

EXPECTED = {
    "err.masses": "corrected",
    "err.between": "corrected",
    "err.delta": "corrected",
    "err.parallel": "corrected",
}


def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(module.EXHIBITS, EXPECTED)


def test_parts_by_value_cost_twice_under_replace() -> None:
    found = cell("err.parallel", "counts of x < ½ and x ≥ ½", "loss, one record replaced")
    assert found.ours == 2


def test_the_swapped_masses_add_up_to_more_than_one() -> None:
    row = "P(U_u) = (α_u − 1)/(α_u − α_d)"
    found = cell("err.masses", row, "total mass, ε = 1").ours
    assert found == pytest.approx(2.0861612696304874)  # e^ε + e^-ε − 1
