"""Polynomial tails: moments, quantiles and the bound on γ."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf, quad

from tenue.errors import Refused
from tenue.noise import HeavyTail


@pytest.mark.parametrize("gamma", range(2, 7))
def test_moments_and_tails_against_quadrature(gamma: int) -> None:
    law = HeavyTail(gamma=gamma, smooth_sensitivity=2, epsilon=3)
    scale = 4 * gamma * 2 / 3
    assert law.scale == pytest.approx(scale)
    with mp.workdps(25):
        pieces = [0, 1, 4, 50, mp.inf]
        whole = quad(lambda z: 1 / (1 + z**gamma), pieces)
        for x in (0.0, 0.4, 3.0, 40.0, 5000.0):
            beyond = quad(lambda z: 1 / (1 + z**gamma), [x / scale, x / scale + 3, mp.inf])
            assert law.cdf(-x) == pytest.approx(float(beyond / whole / 2), rel=1e-8)
            expected = 1 / (1 + (mpf(x) / scale) ** gamma) / whole / 2 / scale
            assert law.pdf(x) == pytest.approx(float(expected), rel=1e-10)
        for power, told in ((1, law.mean_absolute_error), (2, law.variance)):
            if gamma <= power + 1:
                assert told == math.inf
            else:
                moment = quad(lambda z, p=power: z**p / (1 + z**gamma), pieces) / whole
                assert told == pytest.approx(float(moment) * scale**power, rel=1e-7)


def test_gamma_two_is_cauchy() -> None:
    law = HeavyTail(gamma=2, smooth_sensitivity=1, epsilon=1)
    for level in ("0.5", "0.95", "0.999999"):
        expected = 8 * math.tan(math.pi / 2 * float(level))
        assert law.interval(level)[1] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("gamma", range(2, 7))
def test_far_quantiles_follow_the_leading_term(gamma: int) -> None:
    """P(|Y| > x) ≈ (scale/x)^(γ−1) / ((γ−1)·∫): nothing may cancel out there."""
    law = HeavyTail(gamma=gamma, smooth_sensitivity=1, epsilon=1)
    half_line = math.pi / gamma / math.sin(math.pi / gamma)
    for n in (12, 16, 40):
        q = mpf(10) ** -n
        x = law.scale * float((2 * q * (gamma - 1) * half_line) ** (mpf(-1) / (gamma - 1)))
        assert -law.quantile(f"1e-{n}") == pytest.approx(x, rel=2e-2 if n < 16 else 1e-3)


@pytest.mark.parametrize("gamma", range(2, 7))
@pytest.mark.parametrize("moved", [1e-6, 0.01, 0.3, 1, 4, 60, 1e4])
def test_loss_is_the_highest_rise(gamma: int, moved: float) -> None:
    law = HeavyTail(gamma=gamma, smooth_sensitivity=1, epsilon=4 * gamma)  # scale 1
    z = np.concatenate([np.linspace(-moved - 5, 10, 200_001), -moved * np.linspace(0, 1, 1001)])
    rise = np.log1p(np.abs(z + moved) ** gamma) - np.log1p(np.abs(z) ** gamma)
    told = law.loss(str(moved))
    assert told >= float(rise.max()) * (1 - 1e-9)
    assert told == pytest.approx(float(rise.max()), rel=1e-4)


@pytest.mark.parametrize("gamma", [0, 1, 7, 100, -2, 2.5, "three", None, True])
def test_other_gammas_are_refused(gamma: Any) -> None:
    with pytest.raises(Refused) as refusal:
        HeavyTail(gamma=gamma, smooth_sensitivity=1, epsilon=1)
    assert "gamma" in str(refusal.value)
