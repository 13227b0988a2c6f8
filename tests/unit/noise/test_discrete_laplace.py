"""The two-sided geometric law."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.errors import Refused
from tenue.noise import DiscreteLaplace, Seeded


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
