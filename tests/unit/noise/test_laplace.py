"""The yardstick law."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tenue.noise import DiscreteLaplace, Laplace, Seeded


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
