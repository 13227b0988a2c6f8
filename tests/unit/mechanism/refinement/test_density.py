"""The refined law over a density."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.errors import InvalidPrior
from tenue.mechanism import RefinedDensity, refine
from tenue.noise import Seeded
from tenue.prior import Histogram, Normal, Uniform, normalised


@st.composite
def histograms(draw: st.DrawFn) -> Histogram:
    widths = draw(st.lists(st.sampled_from([1, 1, 2, 5]), min_size=1, max_size=6))
    size = len(widths)
    weights = draw(st.lists(st.sampled_from([0, 1, 3]), min_size=size, max_size=size).filter(any))
    edges = [Fraction(sum(widths[:k]), 2) for k in range(size + 1)]
    return Histogram(edges, normalised(weights))


@settings(max_examples=150)
@given(histograms(), st.integers(-4, 30), st.sampled_from(["0.1", "1", "3"]))
def test_the_ball_has_exactly_the_wanted_mass(prior: Histogram, thirds: int, epsilon: str) -> None:
    truth = Fraction(thirds, 3)
    law = refine(prior, truth, epsilon, kind="individual")
    assert isinstance(law, RefinedDensity)
    low, high = law._ball or (0, 0)
    inside = prior.cdf(high) - prior.cdf(low)
    assert inside == 1 / (1 + law.factor_up)
    assert law.cdf(high) - law.cdf(low) == law.factor_up * inside
    assert law.cdf(prior.high) == 1
    for x in (truth, low, high, *prior.edges):
        assert law.density(x) in (
            law.factor_up * prior.density(x),
            law.factor_down * prior.density(x),
        )
    # a ball: nothing nearer to the truth is left out, where the prior has mass
    radius = max(truth - low, high - truth)
    for end in (truth - radius, truth + radius):
        assert low <= max(end, prior.low) or prior.cdf(low) == prior.cdf(end)
        assert high >= min(end, prior.high) or prior.cdf(high) == prior.cdf(end)


@settings(max_examples=100)
@given(histograms(), st.integers(-2, 20), st.integers(-2, 20))
def test_losses(prior: Histogram, f: int, g: int) -> None:
    for kind, most in (("individual", 2), ("statistical", 1)):
        law = refine(prior, f, 1, kind=kind)
        assert law.loss_against(None) <= 1
        assert law.loss_against(g) <= most
        assert law.divergence_against(g, most) == 0
        assert (law.divergence_against(g, "0.5") > 0) == (law.loss_against(g) > 0.5)


def test_on_a_grid_it_is_the_law_over_points() -> None:
    """The density of cells around grid points, refined and rounded, against the points refined."""
    fine: Any = Histogram.of_weights([Fraction(-1, 2), Fraction(19, 2)], [1], Fraction(1), True)
    points = Uniform(0, 9).on_grid(1)
    for truth in (0, 2, 7, 9, 30):
        for kind in ("individual", "statistical"):
            one, two = (refine(prior, truth, 1, kind=kind) for prior in (fine, points))
            assert [one.mass(k) for k in range(-1, 11)] == [two.mass(k) for k in range(-1, 11)]


def test_masses_of_a_fine_grid_add_up() -> None:
    prior = Normal(3000, 800, 0, 6000).on_grid(1)
    law = refine(prior, 1234, 1, kind="individual")
    assert sum(law.mass(k) for k in range(6001)) == 1
    assert law.mass("0.5") == law.mass(6001) == 0
    drawn = law.sample(300, Seeded(9))
    inside = np.mean([(law.core[0] <= x <= law.core[1]) for x in drawn.tolist()])
    assert inside == pytest.approx(0.731, abs=0.1)


def test_rounding_outside_the_grid_is_seen() -> None:
    """A histogram whose ends are no multiples of the grid gives their mass to the last point."""
    prior = Histogram([0, 4999, "4999.4"], ["1/2", "1/2"]).on_grid(1)
    law = refine(prior, 0, 1, kind="individual")
    assert sum(law.mass(k) for k in range(5000)) == 1


def test_a_density_has_no_masses_and_no_delta() -> None:
    law = refine(Uniform(0, 1), 0, 1, kind="individual")
    with pytest.raises(InvalidPrior, match="grid"):
        law.mass(0)
    with pytest.raises(InvalidPrior, match="on_grid"):
        refine(Uniform(0, 1), 0, 1, kind="individual", delta=0.1)
    with pytest.raises(InvalidPrior, match="absolute"):
        refine(Uniform(0, 1), 0, 1, kind="individual", distance="equal")


def test_no_refinement_at_the_ends_of_alpha() -> None:
    prior = Histogram([0, 1, 3], [0.5, 0.5])
    for alpha in (1, refine(prior, 0, 1, kind="individual").factor_up):
        for truth in (-1, 0, 1, 2.5):
            law = refine(prior, truth, 1, kind="statistical", alpha_up=alpha)
            assert [law.cdf(x) for x in (0.5, 1, 2, 3)] == [
                prior.cdf(Fraction(x)) for x in (0.5, 1, 2, 3)
            ]


def test_moments() -> None:
    law = refine(Uniform(0, 1), "0.25", 2, kind="individual")
    assert isinstance(law, RefinedDensity)
    x = (np.arange(200_000) + 0.5) / 200_000
    up, down = float(law.factor_up), float(law.factor_down)
    height = np.where((x >= law.core[0]) & (x <= law.core[1]), up, down) / 200_000
    mean = float(height @ x)
    assert law.variance == pytest.approx(float(height @ (x - mean) ** 2), abs=1e-4)
    assert law.mean_absolute_error == pytest.approx(float(height @ np.abs(x - 0.25)), abs=1e-4)
    assert repr(law) == "Refined(Uniform(0, 1), epsilon=2, kind='individual')"
    assert math.isclose(law.loss_against(0), 4)


def test_a_draw_is_exact() -> None:
    law = refine(Uniform(0, 3), 1, 1, kind="statistical")
    assert isinstance(law, RefinedDensity)
    for seed in range(20):
        drawn = law.draw(Seeded(seed))
        assert (drawn / Uniform(0, 3).sampling_grid).denominator == 1
        assert float(drawn) == law.sample(source=Seeded(seed))
