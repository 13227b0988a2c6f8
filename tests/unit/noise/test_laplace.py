"""The Laplace laws, one by one, independently, and summed."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import gammainc, mp, mpf

from tenue.errors import Refused
from tenue.noise import DiscreteLaplace, IndependentLaplace, Laplace, Optimal, Seeded
from tenue.noise.laplace_sum import FineSum, LaplaceSum


@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "1", "7"])
def test_formulas_equal_those_of_the_geometric(epsilon: str) -> None:
    """a = e^-ε: P(k) = (1−a)/(1+a)·a^|k|, E|k| = 2a/(1−a²), E k² = 2a/(1−a)²."""
    law = DiscreteLaplace(sensitivity=1, epsilon=epsilon)
    a = math.exp(-float(epsilon))
    k = np.arange(-8, 9)
    assert law.mass(k) == pytest.approx((1 - a) / (1 + a) * a ** np.abs(k), rel=1e-12)
    assert law.mean_absolute_error == pytest.approx(2 * a / (1 - a * a), rel=1e-11)
    assert law.variance == pytest.approx(2 * a / (1 - a) ** 2, rel=1e-11)
    assert 2 * law.cdf(-1) == pytest.approx(2 * a / (1 + a), rel=1e-12)


def test_the_scale_counts_steps_of_the_sensitivity() -> None:
    law = DiscreteLaplace(sensitivity="2.5", epsilon="0.5", grid="0.1")
    assert law.sensitivity == Fraction(5, 2)
    assert law.scale == 5
    assert law.loss("2.5") == 0.5
    assert law.loss("0.1") == pytest.approx(0.02)
    assert law.loss("0.05") == math.inf


def test_a_sensitivity_off_the_grid_is_rounded_up() -> None:
    law = DiscreteLaplace(sensitivity="2.51", epsilon="0.5", grid="0.1")
    assert law.sensitivity == Fraction(26, 10)
    assert law.loss("2.6") == 0.5


def test_another_grid_starts_again_from_the_sensitivity_given() -> None:
    """Rounding up twice would lose precision: 2.51 → 3 on grid 1, → 2.52 on grid 0.02."""
    law = DiscreteLaplace(sensitivity="2.51", epsilon=1)
    assert law.sensitivity == 3
    assert law.on_grid("0.02").sensitivity == Fraction(252, 100)


def test_large_and_small_scales_have_their_moments() -> None:
    for sensitivity, epsilon in ((10**15, 1), (1, "1e-12"), (10**6, 50), (1, 40)):
        law = DiscreteLaplace(sensitivity=sensitivity, epsilon=epsilon)
        scale = law.scale
        if scale > 10:
            assert law.variance == pytest.approx(2 * scale**2 - 1 / 6, rel=1e-6)
            drawn = law.steps(4000, Seeded(1))
            assert np.mean(np.abs(drawn)) == pytest.approx(scale, rel=0.15)
        else:
            assert law.variance == pytest.approx(2 * math.exp(-1 / scale), rel=1e-6)


@pytest.mark.parametrize("epsilon", [800, 5000, 10**4])
def test_huge_epsilons_draw_zero(epsilon: int) -> None:
    law = DiscreteLaplace(sensitivity=1, epsilon=epsilon)
    assert law.steps(5, Seeded(1)).tolist() == [0] * 5
    assert law.mass(0) == 1
    assert law.variance == pytest.approx(0, abs=1e-300)
    assert law.interval("0.99") == (0, 0)


@pytest.mark.parametrize("epsilon", ["1e-13", "10000.1", 10**6, "1e300", "1e-300"])
def test_epsilons_that_promise_nothing_or_everything_are_refused(epsilon: Any) -> None:
    with pytest.raises(Refused, match="epsilon"):
        DiscreteLaplace(sensitivity=1, epsilon=epsilon)


# -- Weighted sums of discrete Laplace draws: exact where small, continuous where fine -------------


def convolved(weights: list[int], laws: list[DiscreteLaplace]) -> dict[int, float]:
    """Masses of the sum by plain convolution."""
    masses = {0: 1.0}
    for weight, law in zip(weights, laws, strict=True):
        steps = np.arange(-60, 61)
        each = law.mass(steps)
        grown: dict[int, float] = {}
        for value, mass in masses.items():
            for k, m in zip(steps.tolist(), each.tolist(), strict=True):
                grown[value + weight * k] = grown.get(value + weight * k, 0.0) + mass * m
        masses = grown
    return masses


@pytest.mark.parametrize("weights", [[1, 1], [1, -1], [2, 3], [0, 1], [5, 1]])
def test_small_sums_equal_plain_convolution(weights: list[int]) -> None:
    laws = [DiscreteLaplace(sensitivity=1, epsilon=1), DiscreteLaplace(sensitivity=2, epsilon=1.5)]
    total = LaplaceSum([(Fraction(w), law) for w, law in zip(weights, laws, strict=True)])
    masses = convolved(weights, laws)
    assert total.variance == pytest.approx(sum(v * v * m for v, m in masses.items()), rel=1e-9)
    assert total.mean_absolute_error == pytest.approx(
        sum(abs(v) * m for v, m in masses.items()), rel=1e-7
    )
    for level in (0.5, 0.9, 0.99):
        half = total.interval(level)[1]
        inside = sum(m for v, m in masses.items() if abs(v) <= half)
        narrower = sum(m for v, m in masses.items() if abs(v) < half)
        assert inside >= level - 1e-9
        assert narrower < level + 1e-9


def test_fine_grids_agree_with_the_exact_sum() -> None:
    law = DiscreteLaplace(sensitivity=400, epsilon=1)
    both = LaplaceSum([(Fraction(1), law), (Fraction(1), law)])
    assert both._masses is not None
    assert both.continuous_half_width(0.05) == pytest.approx(both.interval(0.95)[1], rel=2e-3)
    assert both.continuous_mean_absolute_error == pytest.approx(both.mean_absolute_error, rel=2e-3)
    huge = DiscreteLaplace(sensitivity=10**9, epsilon=1)
    far = LaplaceSum([(Fraction(1), huge), (Fraction(1), huge)])
    assert far._masses is None
    assert far.interval(0.95)[1] / 10**9 == pytest.approx(both.interval(0.95)[1] / 400, rel=5e-3)


def test_the_sum_is_not_the_sum_of_intervals() -> None:
    """Mutant: adding half-widths would be far too wide."""
    law = DiscreteLaplace(sensitivity=100, epsilon=1)
    both = LaplaceSum([(Fraction(1), law), (Fraction(1), law)])
    assert both.interval(0.95)[1] < 0.75 * 2 * law.interval(0.95)[1]


@pytest.mark.parametrize("terms", [2, 6, 8, 12, 40])
def test_many_alike_terms_do_not_cancel(terms: int) -> None:
    """By simulation; the sum of exponentials alone loses all digits from about eight terms on."""
    law = DiscreteLaplace(sensitivity=10**9, epsilon=1)
    total = LaplaceSum([(Fraction(1), law)] * terms)
    drawn = law.steps(20_000 * terms, Seeded(3)).reshape(-1, terms).sum(axis=1)
    told = total.interval(0.9)[1]
    assert (np.abs(drawn) <= told).mean() == pytest.approx(0.9, abs=0.015)
    assert total.mean_absolute_error == pytest.approx(np.abs(drawn).mean(), rel=0.03)


def test_a_tiny_term_beside_many_wide_ones_changes_nothing() -> None:
    wide, tiny = (DiscreteLaplace(sensitivity=s, epsilon=1) for s in (10**9, 1))
    alone = LaplaceSum([(Fraction(1), wide)] * 12)
    both = LaplaceSum([*([(Fraction(1), wide)] * 12), (Fraction(1), tiny)])
    assert both.interval(0.95)[1] == pytest.approx(alone.interval(0.95)[1], rel=1e-3)


def test_only_discrete_laplace_terms_have_a_sum() -> None:
    law = DiscreteLaplace(sensitivity=3, epsilon=1)
    step = Optimal(sensitivity=30, epsilon=1).on_grid(1)
    both = LaplaceSum.of([(Fraction(1), law), (Fraction(-2), law)])
    assert both is not None
    assert both.variance == pytest.approx(5 * law.variance)
    assert LaplaceSum.of([(Fraction(1), law), (Fraction(1), step)]) is None
    assert LaplaceSum.of([(Fraction(1), law), (Fraction(1), None)]) is None


def test_a_fine_sum_is_told_by_formulas_of_the_continuous_law() -> None:
    law = DiscreteLaplace(sensitivity=400, epsilon=1)
    both = LaplaceSum([(Fraction(1), law), (Fraction(1), law)])
    fine = FineSum(both)
    assert fine.variance == both.variance
    assert fine.mean_absolute_error == both.continuous_mean_absolute_error
    assert fine.half_width(0.05) == both.continuous_half_width(0.05)


def test_a_sum_tells_its_error_as_parts_do() -> None:
    law = DiscreteLaplace(sensitivity=3, epsilon=1)
    both = LaplaceSum([(Fraction(1), law), (Fraction(2), law)])
    level = Fraction(9, 10)
    assert both.half_width(level) == both.quick_half_width(level) == both.interval(level)[1]
    assert both.quick_mean_absolute_error == both.mean_absolute_error


def test_noise_that_floats_cannot_hold_is_none() -> None:
    """At the largest prices a variance is 0 in floats, and so would be the scale."""
    law = DiscreteLaplace(sensitivity=1, epsilon=2_000)
    assert law.variance == 0
    both = FineSum(LaplaceSum([(Fraction(1), law), (Fraction(1, 3), law)]))
    assert 0 <= both.half_width(0.05) < 1e-100


# -- The yardstick law -----------------------------------------------------------------------------


def test_formulas() -> None:
    law = Laplace(sensitivity=3, epsilon="1.5")
    assert law.scale == 2
    assert law.variance == 8
    assert law.mean_absolute_error == 2
    assert law.pdf(0) == 0.25
    assert law.pdf([-2, 2]) == pytest.approx([math.exp(-1) / 4] * 2)
    assert law.cdf([-2, 0, 2]) == pytest.approx([math.exp(-1) / 2, 0.5, 1 - math.exp(-1) / 2])
    assert law.quantile("0.5") == 0
    assert law.quantile("0.25") == pytest.approx(-2 * math.log(2))
    assert law.quantile("0.75") == pytest.approx(2 * math.log(2))
    assert law.interval("0.95")[1] == pytest.approx(2 * math.log(20))
    assert law.loss(1) == 0.5
    assert law.loss("-4.5") == 2.25


def test_the_scale_is_sensitivity_over_epsilon_and_not_its_inverse() -> None:
    """One printed proposition inverts it (soundness §3)."""
    assert Laplace(sensitivity=10, epsilon="0.1").scale == 100


def test_quantiles_far_out_mirror_each_other() -> None:
    law = Laplace(sensitivity=1, epsilon=1)
    for n in (5, 15, 17, 20, 100, 300):
        q = Fraction(1, 10**n)
        assert law.quantile(q) == pytest.approx(math.log(2) - n * math.log(10))
        assert law.quantile(1 - q) == pytest.approx(-law.quantile(q))
        assert law.interval(1 - q)[1] == pytest.approx(n * math.log(10))


def test_what_is_drawn_is_discrete_laplace_on_a_power_of_two() -> None:
    law = Laplace(sensitivity=5, epsilon=2)
    assert law.sampling_grid == Fraction(4, 1 << 20)
    steps = law.on_grid(law.sampling_grid)
    assert isinstance(steps, DiscreteLaplace)
    assert np.array_equal(law.sample(50, Seeded(1)), steps.sample(50, Seeded(1)))


def test_the_representation_is_a_call() -> None:
    assert repr(Laplace(sensitivity=1, epsilon="0.5")) == "Laplace(sensitivity=1, epsilon=0.5)"


# -- The yardstick: independent Laplace noise ------------------------------------------------------


@pytest.mark.parametrize("dimension", [1, 2, 3, 5, 20, 60])
@pytest.mark.parametrize("level", ["0.1", "0.5", "0.95", "0.999999"])
def test_radius_is_the_quantile_of_a_gamma(dimension: int, level: str) -> None:
    """Σ|x_j|/b_j is a sum of D exponential numbers."""
    law = IndependentLaplace(scales=range(1, dimension + 1))
    with mp.workdps(40):
        inside = gammainc(dimension, 0, mpf(law.radius(level)), regularized=True)
        assert float(inside) == pytest.approx(float(level), rel=1e-12)


@pytest.mark.parametrize("dimension", [1, 2, 3, 6])
def test_volume_is_that_of_a_cross_polytope(dimension: int) -> None:
    law = IndependentLaplace(scales=[2] * dimension)
    half = 2 * law.radius("0.9")
    assert law.volume("0.9") == pytest.approx(
        (2 * half) ** dimension / math.factorial(dimension), rel=1e-12
    )


def test_losses_add_over_the_components() -> None:
    law = IndependentLaplace(scales=[2, 20])
    assert law.loss([1, 10]) == 1
    assert law.loss([-1, 10]) == 1
    assert law.loss([0, 0]) == 0
    assert law.loss(["0.1", 0]) == pytest.approx(0.05)


def test_one_component_is_laplace() -> None:
    law = IndependentLaplace(scales=["0.5"])
    assert law.radius("0.95") == pytest.approx(math.log(20))
    assert law.volume("0.95") == pytest.approx(math.log(20))


@pytest.mark.parametrize(
    "shift", [1, "11", None, [1], [1, 2, 3], [1, "x"], [1, float("nan")], [[1], [2]]], ids=repr
)
def test_shifts_of_a_wrong_shape_are_refused(shift: Any) -> None:
    with pytest.raises(Refused):
        IndependentLaplace(scales=[1, 2]).loss(shift)
