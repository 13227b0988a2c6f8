"""Masses of intervals: evenly spread, rounded to the nearest point, the same on a lattice."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.errors import InvalidPrior
from tenue.prior import Histogram, Points, normalised
from tenue.prior.density import Density


def histograms() -> Any:
    edges = st.lists(st.integers(-30, 30), min_size=2, max_size=7, unique=True).map(sorted)

    def with_masses(ends: list[int]) -> Any:
        weights = st.lists(st.integers(0, 5), min_size=len(ends) - 1, max_size=len(ends) - 1)
        return weights.filter(any).map(lambda given: Histogram(ends, normalised(given)))

    return edges.flatmap(with_masses)


@given(histograms(), st.integers(-31, 31), st.sampled_from([1, 2, 3]))
def test_the_cdf_adds_up_the_intervals(belief: Histogram, place: int, third: int) -> None:
    x = Fraction(place * 3 + third, 3)
    expected = Fraction(0)
    for (low, high), weight in zip(pairwise(belief.edges), belief.weights, strict=True):
        share = min(max((x - low) / (high - low), Fraction(0)), Fraction(1))
        expected += share * Fraction(weight, belief.total)
    assert belief.cdf(x) == expected


@settings(max_examples=60)
@given(histograms(), st.sampled_from(["1", "0.5", "3"]))
def test_points_hold_what_is_nearest_to_them(belief: Histogram, grid: str) -> None:
    step = Fraction(grid)
    try:
        points = belief.on_grid(grid)
    except InvalidPrior:  # no multiple of the grid lies between the ends
        assert not any(
            (Fraction(k) / step).denominator == 1 for k in range(int(belief.low), int(belief.high))
        )
        return
    assert isinstance(points, Points)
    assert sum(points.masses.values()) == 1
    inner = points.values[1:-1]
    for value in inner:
        between = belief.cdf(value + step / 2) - belief.cdf(value - step / 2)
        assert points.mass(value) == between
    # what lies beyond the outer points belongs to them: no mass is lost at the ends
    if len(points.values) > 1:
        assert points.mass(points.values[0]) == belief.cdf(points.values[0] + step / 2)


def test_empty_intervals_have_no_points() -> None:
    belief = Histogram([0, 10, 20, 30], ["0.5", 0, "0.5"]).on_grid(1)
    assert isinstance(belief, Points)
    assert belief.mass(15) == 0
    assert 15 not in belief.values
    assert belief.mass(10) == Fraction(1, 40)  # half of a step, from below


def test_a_fine_grid_is_kept_and_written() -> None:
    belief = Histogram([0, 10, 100], [0.9, 0.1]).on_grid("0.01")
    assert isinstance(belief, Density)
    assert belief.grid == Fraction(1, 100)
    assert belief.on_grid("0.01") is belief
    facts = belief.to_dict()
    assert (facts["grid"], facts["beyond"]) == ("1/100", False)
    assert repr(belief) == "Histogram(2 intervals)"


@settings(max_examples=40)
@given(histograms())
def test_the_lattice_has_the_heights_of_the_density(belief: Histogram) -> None:
    lattice = belief.lattice(Fraction(1, 2))
    logs = lattice.log_weights(lattice.first, lattice.last - 1)
    heights = np.array(
        [float(belief.density(Fraction(k, 2))) for k in range(lattice.first, lattice.last)]
    )
    with np.errstate(divide="ignore"):
        assert np.allclose(logs, np.log(heights))
    for k in (lattice.first, lattice.last - 1):
        assert lattice.log_weight(k) == pytest.approx(logs[k - lattice.first])


def test_the_window_holds_all_that_matters() -> None:
    """Every step outside lies more than `deep` e-folds below the best."""
    belief = Histogram([0, 10, 20, 1000], ["0.001", "0.9", "0.099"])
    lattice = belief.lattice(Fraction(1))
    assert lattice.near is not None
    for middle, rate in ((15.0, 0.5), (500.0, 0.5), (-40.0, 1.0), (5.0, 3.0)):
        low, high = lattice.near(middle, rate, 20.0)
        steps = np.arange(lattice.first, lattice.last + 1)
        heights = lattice.log_weights(lattice.first, lattice.last) - rate * np.abs(steps - middle)
        outside = (steps < low) | (steps > high)
        assert outside.any()
        assert (heights[outside] < heights.max() - 20).all()


@pytest.mark.parametrize(
    ("edges", "masses"),
    [([0, 1], [0.5, 0.5]), ([1, 0], [1]), ([0, 0], [1]), ([0], []), ([0, 1, 2], [0.5, 0.6])],
)
def test_what_is_no_histogram_is_refused(edges: list[int], masses: list[float]) -> None:
    with pytest.raises(InvalidPrior):
        Histogram(edges, masses)
