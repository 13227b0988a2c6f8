"""Bayes estimates, optimal noise, individual privacy."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from exhibits import anew, assert_as_expected, cell, data, shown
from tenue.estimate.comparison import LaplaceIntegral
from tenue.mechanism import rank_score
from tenue.noise import DiscreteLaplace, HeavyTail, IndependentLaplace, Laplace, Optimal, OptimalBox
from tenue_papers import bayes
from tenue_papers import bayes as bayes_figures_module
from tenue_papers import bayes as bayes_tables_module
from tenue_papers import individual as module
from tenue_papers import optimal_noise as optimal_noise_errata_module
from tenue_papers import optimal_noise as optimal_noise_figures_module
from tenue_papers import optimal_noise as optimal_noise_tables_module
from tenue_papers.cell import Verdict


def test_a_simulation_agrees_with_the_integral() -> None:
    assert bayes.error_agrees(100, "0.5").verdict is Verdict.EQUAL
    assert bayes.closer_agrees(100, "0.5").verdict is Verdict.EQUAL


def test_a_simulation_of_another_epsilon_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    other = bayes.simulated(100, "0.45")
    monkeypatch.setattr(bayes, "simulated", lambda *_: other)
    assert bayes.error_agrees(100, "0.5").verdict is Verdict.DIFFERENT


# -- figures ---------------------------------------------------------------------------------------

SLOW = {"bayes.fig2", "bayes.fig4", "bayes.fig5", "bayes.fig6", "bayes.fig7", "bayes.fig8"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(one.id, marks=[pytest.mark.slow] if one.id in SLOW else [])
        for one in bayes_figures_module.FIGURES
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


# -- tables ----------------------------------------------------------------------------------------

BAYES_TABLES_EXPECTED = {
    "bayes.range": "equal",
    "bayes.width": "equal",
    "err.gain": "corrected",
    "err.growth": "corrected",
    "err.parity": "corrected",
    "err.median": "corrected",
}


def test_bayes_tables_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(
        (*bayes_tables_module.TABLES, *bayes_tables_module.ERRATA), BAYES_TABLES_EXPECTED
    )


def test_out_of_range_depends_on_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Laplace.cdf
    monkeypatch.setattr(Laplace, "cdf", lambda self, x: right(self, 1.001 * x))
    assert anew("bayes.range") is Verdict.DIFFERENT


def test_the_limit_is_what_is_known_without_asking() -> None:
    assert bayes_tables_module.deviation(1000) == pytest.approx(11.558821605)


# -- figures ---------------------------------------------------------------------------------------

OPTIMAL_NOISE_FIGURES_EXPECTED = {
    "fig4.1": "equal",
    "fig4.2": "equal",
    "fig4.3": "equal",
    "fig4.4": "equal",
    "fig4.5": "equal",
    "fig4.6": "equal",
    "fig4.7": "equal",
}


def test_optimal_noise_figures_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(optimal_noise_figures_module.FIGURES, OPTIMAL_NOISE_FIGURES_EXPECTED)


def test_densities_have_mass_one() -> None:
    for panel in optimal_noise_figures_module.components(data()).panels:
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


# -- tables ----------------------------------------------------------------------------------------

OPTIMAL_NOISE_TABLES_EXPECTED = {
    "4.1": "equal",
    "4.2": "corrected",
    "4.3": "corrected",
    "4.4": "corrected",
    "ex4": "equal",
    "ex5": "equal",
    "4.dimensions": "equal",
}


def test_optimal_noise_tables_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(optimal_noise_tables_module.TABLES, OPTIMAL_NOISE_TABLES_EXPECTED)


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


# -- errata ----------------------------------------------------------------------------------------

OPTIMAL_NOISE_ERRATA_EXPECTED = {
    "err.exponent": "corrected",
    "err.criteria": "corrected",
    "err.shells": "corrected",
}


def test_optimal_noise_errata_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(optimal_noise_errata_module.ERRATA, OPTIMAL_NOISE_ERRATA_EXPECTED)


def test_the_printed_exponent_has_too_much_mass() -> None:
    found = cell("err.exponent", "exponent −iε", "total mass").ours
    assert isinstance(found, float)
    assert found > 1.5
    right = cell("err.exponent", "exponent −(i + 1)ε", "first step / core").ours
    assert right == pytest.approx(math.exp(-1))


def test_a_library_with_the_printed_exponent_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Optimal, "_level", lambda self, size: (size > self.d + 1).astype(float))
    assert anew("err.exponent") is Verdict.DIFFERENT


# -- tables ----------------------------------------------------------------------------------------

INDIVIDUAL_TABLES_EXPECTED = {
    "idp.1": "corrected",
    "idp.2": "corrected",
    "idp.fig1": "equal",
    "idp.fig2": "equal",
    "idp.ex1": "equal",
    "idp.ex2": "equal",
}


def test_individual_tables_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(module.TABLES, INDIVIDUAL_TABLES_EXPECTED)


def test_a_rounding_of_the_paper_is_corrected() -> None:
    assert cell("idp.1", "±", "smooth, γ = 2").verdict is Verdict.CORRECTED
    assert cell("idp.2", "ε = ln 2", "individual, truncated to ±1").printed == "0.66"


def test_noise_for_half_the_sensitivity_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = HeavyTail.interval
    half = lambda self, level: tuple(end / 2 for end in right(self, level))  # noqa: E731
    monkeypatch.setattr(HeavyTail, "interval", half)
    assert anew("idp.1") is Verdict.DIFFERENT


def test_a_wrong_mass_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = DiscreteLaplace.mass
    monkeypatch.setattr(DiscreteLaplace, "mass", lambda self, i: right(self, i) * 1.0001)
    assert anew("idp.2") is Verdict.DIFFERENT


# -- census ----------------------------------------------------------------------------------------

CENSUS_EXPECTED = {
    "idp.median": "equal",
    "idp.maximum": "equal",
    "idp.range": "equal",
}


def test_census_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(module.ON_CENSUS, CENSUS_EXPECTED)


def test_selection_is_as_far_off_as_its_probabilities_say() -> None:
    values = np.arange(0, 1000, 10)
    score = rank_score.quantile(Fraction(1, 2), "replace")
    near = module.selected(score, values, 2**18, 495.0)
    assert 5 < near < 60
    weights = np.exp(-0.5 * np.maximum(0, np.abs(np.arange(0, 1001) / 10 - 50) - 0.5))
    places = np.abs(np.arange(0, 1001) - 495.0)
    order = np.argsort(places)
    half = places[order][np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)]
    assert near == pytest.approx(half, abs=4)


def test_bounds_are_above_all_values() -> None:
    assert module.upper(np.array([3])) == 2**18
    assert module.upper(np.array([2**18])) == 2**19


# -- errata ----------------------------------------------------------------------------------------

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
    assert_as_expected(module.ERRATA, EXPECTED)


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
