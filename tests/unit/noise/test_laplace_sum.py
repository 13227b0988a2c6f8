"""Weighted sums of discrete Laplace draws: exact where small, continuous where fine."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tenue.noise import DiscreteLaplace, Optimal, Seeded
from tenue.noise.laplace_sum import FineSum, LaplaceSum


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
