"""∫ dz/(1+z^γ) in closed form, against quadrature at many digits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp, mpf, quad

from tenue.noise.heavy_tail.integral import half_line, tail_integral


@pytest.mark.parametrize("gamma", range(2, 7))
def test_the_half_line(gamma: int) -> None:
    with mp.workdps(25):
        expected = quad(lambda z: 1 / (1 + z**gamma), [0, 1, 10, mp.inf])
    assert half_line(gamma) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize("gamma", range(2, 7))
def test_the_tail_loses_no_digits(gamma: int) -> None:
    """On both sides of z = 2, where the two expressions meet, and far out."""
    points = [0.0, 1e-9, 0.5, 1.0, 1.9, 1.999999, 2.0, 2.000001, 2.1, 7.0, 1e3, 1e8]
    told = tail_integral(np.array(points), gamma)
    with mp.workdps(30):
        for z, mine in zip(points, told.tolist(), strict=True):
            low = mpf(z)
            # t = 1/z turns the far tail into a short piece near 0
            near = quad(lambda t: 1 / (1 + t**gamma), [low, low + 1]) if z < 10 else mpf(0)
            start = low + 1 if z < 10 else low
            far = quad(lambda u: u ** (gamma - 2) / (1 + u**gamma), [0, 1 / start])
            assert mine == pytest.approx(float(near + far), rel=1e-12)


def test_shapes_and_ends() -> None:
    assert tail_integral(np.array(0.0), 4) == pytest.approx(half_line(4))
    assert tail_integral(np.array(math.inf), 4) == 0
    assert tail_integral(np.zeros((2, 3)), 3).shape == (2, 3)
