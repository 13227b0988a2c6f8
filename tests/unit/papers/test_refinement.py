"""Refined beliefs."""

from __future__ import annotations

from fractions import Fraction

import pytest

from exhibits import anew, assert_as_expected, cell, shown
from tenue.mechanism.refinement.update_factors import Factors
from tenue_papers import refinement as module
from tenue_papers.cell import Verdict

THESIS_EXPECTED = {
    "ex6": "equal",
    "ex8": "equal",
    **dict.fromkeys(("5.1", "5.2", "5.3", "5.4"), "equal"),
    "5.bool": "corrected",
    **{f"fig5.{i}": "equal" for i in range(1, 7)},
    "5.5": "corrected",
    "fig5.7": "equal",
    "5.alpha": "equal",
}
PASSAT_EXPECTED = {
    "passat.ex1": "equal",
    "passat.ex2": "corrected",
    "passat.ex3": "corrected",
    "passat.I": "equal",
    "passat.II": "equal",
    **{f"passat.fig{i}": "equal" for i in range(1, 5)},
}


def test_every_exhibit_of_the_thesis_has_its_verdict() -> None:
    assert_as_expected(module.THESIS, THESIS_EXPECTED)


def test_every_exhibit_of_passat_has_its_verdict() -> None:
    assert_as_expected(module.PASSAT, PASSAT_EXPECTED)


def test_refined_densities_have_mass_one() -> None:
    figure = shown("fig5.1").figure
    assert figure is not None
    for panel in figure.panels:
        points = panel.series[0].points
        assert sum(y for _, y in points) / len(points) == pytest.approx(1, abs=0.01)


def test_the_printed_mass_costs_twice_the_delta() -> None:
    assert module.smallest_delta(Fraction(1, 5)) == pytest.approx(0.4)
    assert module.pair_delta(Fraction(1, 10)) == pytest.approx(0.3)


# -- quality ---------------------------------------------------------------------------------------


def test_the_printed_masses_of_algorithm_5_1_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def printed(self: Factors) -> Fraction:
        return (self.up - 1) / (self.up - self.down)

    monkeypatch.setattr(Factors, "core_mass", property(printed))
    assert anew("5.5") is Verdict.DIFFERENT


# -- tables ----------------------------------------------------------------------------------------


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
    assert_as_expected(module.ERRATA, EXPECTED)


def test_parts_by_value_cost_twice_under_replace() -> None:
    found = cell("err.parallel", "counts of x < ½ and x ≥ ½", "loss, one record replaced")
    assert found.ours == 2


def test_the_swapped_masses_add_up_to_more_than_one() -> None:
    row = "P(U_u) = (α_u − 1)/(α_u − α_d)"
    found = cell("err.masses", row, "total mass, ε = 1").ours
    assert found == pytest.approx(2.0861612696304874)  # e^ε + e^-ε − 1
