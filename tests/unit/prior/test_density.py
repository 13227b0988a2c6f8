"""Densities: uniform, normal, histogram."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.errors import InvalidPrior, Refused
from tenue.noise import Seeded
from tenue.prior import Histogram, Normal, Points, Uniform
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
        singles = [lattice.log_weight(k) for k in range(lattice.first, lattice.last + 1)]
        assert np.diff(logs) == pytest.approx(np.diff(singles), abs=1e-12)
        inner = slice(1, -1) if isinstance(belief, Histogram) else slice(None)
        if not isinstance(belief, Histogram):
            assert np.diff(logs[inner]) == pytest.approx(np.diff(np.log(masses[inner])), abs=1e-9)


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
