"""The yardstick: independent Laplace noise."""

from __future__ import annotations

import math
from typing import Any

import pytest
from mpmath import gammainc, mp, mpf

from tenue.errors import Refused
from tenue.noise import IndependentLaplace


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
