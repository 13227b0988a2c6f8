"""Beliefs about a real number."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.errors import InvalidPrior, Refused
from tenue.noise import Seeded
from tenue.prior import Histogram, Normal, Points, Uniform, from_json, normalised
from tenue.prior.density import Density
from tenue.prior.histogram import two_ends
from tenue.prior.normal import bell_weights


def test_uniform_on_a_grid_gives_every_point_the_same_mass() -> None:
    belief = Uniform("0.3", "2.2").on_grid("0.5")
    assert isinstance(belief, Points)
    assert belief.masses == {Fraction(k, 2): Fraction(1, 4) for k in range(1, 5)}


def test_a_histogram_is_rounded_to_the_nearest_point() -> None:
    belief = Histogram([0, 2, 4], [0.5, 0.5]).on_grid(1)
    assert isinstance(belief, Points)
    assert list(belief.masses.values()) == [Fraction(n, 8) for n in (1, 2, 2, 2, 1)]
    hole = Histogram([0, 1, 9, 10], [0.5, 0, 0.5]).on_grid(1)
    assert isinstance(hole, Points)
    assert 5 not in hole.masses


def test_cdf_and_density_are_exact() -> None:
    belief = Histogram([0, 1, 3], ["1/3", "2/3"])
    points = [Fraction(x) for x in (-1, 0, "1/2", 1, 2, 3, 4)]
    cdf = [belief.cdf(x) for x in points]
    assert cdf == [0, 0, Fraction(1, 6), Fraction(1, 3), Fraction(2, 3), 1, 1]
    assert [belief.density(Fraction(x)) for x in (-1, 0, 2, 3)] == [0, *[Fraction(1, 3)] * 2, 0]


@pytest.mark.parametrize(("mean", "sd", "low", "high"), [(0, 1, -5, 5), (3, 2, 0, 4), (9, 1, 0, 2)])
def test_the_bell_is_the_bell(mean: int, sd: int, low: int, high: int) -> None:
    belief = Normal(mean, sd, low, high)

    def below(x: float) -> float:
        return math.erfc((mean - x) / (sd * math.sqrt(2))) / 2

    inside = below(high) - below(low)
    assert belief.cdf(Fraction(high)) == 1
    for share in (0.1, 0.4, 0.8):
        x = low + share * (high - low)
        true = (below(x) - below(low)) / inside
        assert float(belief.cdf(Fraction(x))) == pytest.approx(true, abs=2e-6)


def test_a_narrow_bell_in_a_wide_range() -> None:
    belief = Normal(30_000, 100, 0, 10**9)
    assert len(belief.weights) == 4096
    assert float(belief.cdf(Fraction(30_100))) == pytest.approx(0.8413447, abs=1e-6)
    assert 0 < 1 - belief.cdf(Fraction(10**8)) < Fraction(1, 2**100)
    far = Normal(-1000, 1, 0, 10)  # falls by e^-1000 for each unit
    assert float(far.cdf(Fraction(1, 1000))) == pytest.approx(1 - math.exp(-1), abs=0.01)


def test_bell_weights_are_right_to_thirty_digits() -> None:
    from mpmath import mp, mpf

    mp.dps = 50
    weights = bell_weights(Fraction(1, 3), Fraction(2), Fraction(-20), Fraction(1, 2), 81)
    peak = max(weights)
    at = [mp.exp(-((mpf(k) / 2 - 20 - mpf(1) / 3) ** 2) / 8) for k in range(81)]
    largest = max(at)
    for weight, true in zip(weights, at, strict=True):
        assert abs(mpf(weight) / peak - true / largest) < mpf(2) ** -110


def test_far_tails_are_unlikely_and_not_impossible() -> None:
    weights = bell_weights(Fraction(0), Fraction(1), Fraction(0), Fraction(1), 500)
    assert weights[499] == weights[100] == 1
    assert weights[0] == 1 << 128


def test_fine_grids_keep_the_density_and_round_it() -> None:
    """More than 4,096 points: every point has a mass all the same, and they add up."""
    for belief in (Uniform(0, 5000), Normal(2500, 500, 0, 5000), Histogram([0, 5000], [1])):
        fine = belief.on_grid(1)
        assert fine.grid == 1  # type: ignore[union-attr]
        assert fine.on_grid(1) == fine
        drawn = fine.sample(300, Seeded(1))
        assert drawn.dtype == np.int64
        assert drawn.min() >= 0
        assert drawn.max() <= 5000


def test_the_lattice_is_the_same_belief() -> None:
    beliefs: list[Any] = [Uniform(-3, 8), Normal(2, 3, -5, 9), Histogram([-3, 0, 9], [0.25, 0.75])]
    for belief in beliefs:
        points = belief.on_grid(1)
        lattice = belief.lattice(Fraction(1))
        logs = lattice.log_weights(lattice.first, lattice.last)
        masses = np.array([float(points.mass(k)) for k in range(lattice.first, lattice.last + 1)])
        inside = slice(1, 3) if isinstance(belief, Histogram) else slice(None)
        rises = np.diff(np.log(masses[inside]))
        assert np.diff(logs[inside]) == pytest.approx(rises, abs=1e-9)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Uniform(1, 1),
        lambda: Uniform(2, 1),
        lambda: Uniform(0, math.inf),
        lambda: Uniform(0, 1e200),
        lambda: Uniform(0),  # type: ignore[call-arg]
        lambda: Uniform("a", 1),
        lambda: Uniform("0.1", "0.2").on_grid(1),
        lambda: Uniform(0, 1).on_grid(0),
        lambda: Normal(0, 0, -1, 1),
        lambda: Normal(0, 1e-101, -1, 1),
        lambda: Normal(1e101, 1, -1, 1),
        lambda: Normal(math.nan, 1, -1, 1),
        lambda: Normal(0, 1, 1, -1),
        lambda: Histogram([0, 1], [0.5, 0.5]),
        lambda: Histogram([0, 0], [1]),
        lambda: Histogram([1, 0], [1]),
        lambda: Histogram([0, 1], [0.9]),
        lambda: Histogram([0, 10**101], [1]),
        lambda: Histogram(7, [1]),  # type: ignore[arg-type]
    ],
)
def test_wrong_parameters_are_refused(make: object) -> None:
    with pytest.raises(Refused):
        make()  # type: ignore[operator]


def test_a_belief_is_frozen() -> None:
    with pytest.raises(InvalidPrior):
        Uniform(0, 1).grid = Fraction(1)


def test_quantiles_are_the_inverse_of_the_cdf() -> None:
    gap = Histogram([0, 1, 5, 7], ["0.5", 0, "0.5"])
    assert gap.quantile(Fraction(1, 4)) == Fraction(1, 2)
    assert gap.quantile(Fraction(1, 2)) == 1  # the first, not the end of the gap
    assert gap.quantile(Fraction(3, 4)) == 6
    for belief in (gap, Uniform(-3, 5), Normal(3, 2, 0, 9)):
        for k in range(1, 20):
            share = Fraction(k, 20)
            assert belief.cdf(belief.quantile(share)) == share


def test_exact_draws_are_what_samples_show() -> None:
    belief = Uniform(0, 1)
    exact = belief.draws(50, Seeded(3))
    assert belief.sample(50, Seeded(3)).tolist() == [float(x) for x in exact]
    assert all((x / belief.sampling_grid).denominator == 1 for x in exact)


# Masses of intervals: evenly spread, rounded to the nearest point, the same on a lattice.


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


def test_the_window_holds_all_that_matters() -> None:
    """Every step outside lies more than `deep` e-folds below the best."""
    belief = Histogram([0, 10, 20, 1000], ["0.001", "0.9", "0.099"])
    lattice = belief.lattice(Fraction(1))
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


# -- No more is known than the two ends ------------------------------------------------------------


def test_every_number_between_the_ends_is_as_likely() -> None:
    belief = Uniform(-2, 6)
    assert (belief.low, belief.high, belief.total) == (-2, 6, 1)
    assert [belief.density(x) for x in (-2, 0, "5.9")] == [Fraction(1, 8)] * 3
    assert belief.density(6) == belief.density(-3) == 0
    assert [belief.cdf(x) for x in (-3, 0, 6)] == [0, Fraction(1, 4), 1]
    assert belief.quantile(Fraction(3, 4)) == 4


def test_on_a_grid_every_multiple_has_the_same_mass_ends_included() -> None:
    found = Uniform("0.5", 3).on_grid(1)
    assert isinstance(found, Points)
    assert found.masses == {1: Fraction(1, 3), 2: Fraction(1, 3), 3: Fraction(1, 3)}
    ends = Uniform(0, 120).on_grid(1)
    assert isinstance(ends, Points)
    assert ends.mass(0) == ends.mass(120) == Fraction(1, 121)


def test_many_points_stay_a_density_whose_outer_points_weigh_no_less() -> None:
    found = Uniform(0, 10_000).on_grid(1)
    assert isinstance(found, Density)
    assert not isinstance(found, Points)
    assert (found.low, found.high) == (Fraction(-1, 2), Fraction(20_001, 2))
    assert found.limits == (0, 10_000)
    drawn = found.sample(2000, Seeded(4))
    assert (min(drawn), max(drawn)) >= (0, 0)
    assert max(drawn) <= 10_000
    assert np.mean(drawn) == pytest.approx(5000, abs=500)


def test_a_lattice_is_flat() -> None:
    lattice = Uniform(1, 9).lattice(Fraction(2))
    assert (lattice.first, lattice.last) == (1, 4)
    assert lattice.near(2.2, 1.0, 0.9) == (2, 3)
    assert lattice.log_weights(1, 4).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("ends", [(1, 1), (2, 1), (0, "1e-101"), ("x", 1), (0, float("nan"))])
def test_ends_that_are_no_range_are_refused(ends: tuple[object, object]) -> None:
    with pytest.raises(InvalidPrior):
        two_ends(*ends)


def test_it_is_written_and_read_exactly() -> None:
    belief = Uniform("1/3", 2)
    assert belief.to_dict() == {"prior": "uniform", "low": "1/3", "high": 2}
    assert from_json(belief.to_json()) == belief
    assert repr(Uniform(0, 120)) == "Uniform(0, 120)"


# The bell curve: against the error function, on grids, on a lattice, and where it is cut.


def phi(z: float) -> float:
    return (1 + math.erf(z / math.sqrt(2))) / 2


@pytest.mark.parametrize(
    ("mean", "sd", "low", "high"),
    [(0, 1, -4, 4), (170, 10, 100, 250), (0, 5, 0, 40), (-20, 10, 0, 10), (3, 1000, 0, 6)],
)
def test_the_cdf_is_the_cut_bell(mean: int, sd: int, low: int, high: int) -> None:
    belief = Normal(mean, sd, low, high)
    below, above = phi((low - mean) / sd), phi((high - mean) / sd)
    for k in range(1, 10):
        x = low + (high - low) * Fraction(k, 10)
        wanted = (phi((float(x) - mean) / sd) - below) / (above - below)
        assert float(belief.cdf(x)) == pytest.approx(wanted, abs=2e-6)
    assert belief.cdf(low) == 0
    assert belief.cdf(high) == 1
    assert len(belief.weights) == 4096
    assert all(weight > 0 for weight in belief.weights)


def test_a_grid_of_few_points_takes_the_height_at_each() -> None:
    belief = Normal(50, 10, 0, 100).on_grid(5)
    assert isinstance(belief, Points)
    assert [int(v) for v in belief.values] == list(range(0, 101, 5))
    for value in (40, 45, 60, 80):
        ratio = belief.mass(value) / belief.mass(50)
        assert float(ratio) == pytest.approx(math.exp(-(((value - 50) / 10) ** 2) / 2), rel=1e-12)
    assert belief.mass(30) == belief.mass(70)
    assert belief.mass(47) == 0


def test_a_fine_grid_reaches_half_a_step_beyond_its_outer_points() -> None:
    belief = Normal(50, 10, 0, 100).on_grid("0.01")
    assert isinstance(belief, Histogram)
    assert (belief.low, belief.high) == (Fraction(-1, 200), Fraction(20001, 200))
    assert belief.limits == (0, 10_000)
    drawn = belief.sample(2000)
    assert drawn.min() >= 0
    assert drawn.max() <= 100
    assert drawn.mean() == pytest.approx(50, abs=2)


def test_the_lattice_rises_as_the_curve_does() -> None:
    lattice = Normal(7, 3, 0, 20).lattice(Fraction(1, 2))
    assert (lattice.first, lattice.last) == (0, 40)
    logs = lattice.log_weights(0, 40)
    wanted = np.array([-(((k / 2 - 7) / 3) ** 2) / 2 for k in range(41)])
    assert np.allclose(logs - logs[14], wanted - wanted[14])


def test_weights_never_vanish_and_never_rise_away_from_the_mean() -> None:
    weights = bell_weights(Fraction(0), Fraction(1), Fraction(-100), Fraction(1), 201)
    assert weights[0] == weights[-1] == 1
    assert weights[100] == 1 << 128
    assert weights[:101] == sorted(weights[:101])
    assert weights == weights[::-1]


def test_a_mean_outside_the_ends_is_highest_at_the_nearer_one() -> None:
    belief = Normal(-50, 10, 0, 100).on_grid(10)
    assert isinstance(belief, Points)
    assert max(belief.values, key=belief.mass) == 0
    ratio = float(belief.mass(10) / belief.mass(0))
    assert ratio == pytest.approx(math.exp((25 - 36) / 2), rel=1e-9)


@pytest.mark.parametrize(
    "facts", [(0, 0, 0, 1), (0, -1, 0, 1), (0, 1, 1, 1), (0, "nan", 0, 1), (0, "1e-101", 0, 1)]
)
def test_what_is_no_bell_is_refused(facts: tuple[object, ...]) -> None:
    with pytest.raises(InvalidPrior):
        Normal(*facts)


def test_it_is_written_and_shown_by_its_numbers() -> None:
    belief = Normal("0.5", 2, -3, 4)
    assert belief.to_dict() == {"prior": "normal", "mean": "1/2", "sd": 2, "low": -3, "high": 4}
    assert repr(belief) == "Normal(0.5, 2, -3, 4)"
