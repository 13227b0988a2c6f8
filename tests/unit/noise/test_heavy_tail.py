"""Noise with a polynomial tail, real and on whole steps."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import fsum, mp, mpf, quad, zeta

from tenue.errors import Refused
from tenue.noise import HeavyTail
from tenue.noise.heavy_tail import HeavyTailSteps, half_line, tail_integral


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


# The polynomial law on whole steps: its normaliser, tails and moments, and its exact sampler.

SCALES = [Fraction(1, 10), Fraction(1), Fraction(7, 3), Fraction(60), Fraction(255), Fraction(257)]
SCALES += [Fraction(5000), Fraction(10**6), Fraction(10**10)]


def law_of(gamma: int, scale: Fraction) -> HeavyTailSteps:
    return HeavyTailSteps(gamma=gamma, scale=scale, epsilon=Fraction(1), grid=Fraction(1))


def power_sum(gamma: int, tau: mpf, power: int) -> tuple[list[mpf], mpf]:
    """k^power/(1+(k/τ)^γ) term by term to 4τ and 1,000, and the rest by Hurwitz zeta functions."""
    cut = max(1001, int(4 * tau) + 2)
    terms = [mpf(k) ** power / (1 + (k / tau) ** gamma) for k in range(1, cut)]
    rest = mpf(0)
    for n in range(1, 16):  # (τ/k)^γ − (τ/k)^2γ + …, falling by 4^γ at least
        rest -= (-1) ** n * tau ** (n * gamma) * zeta(n * gamma - power, cut)
    return terms, rest


@pytest.mark.parametrize("gamma", range(2, 7))
@pytest.mark.parametrize("scale", [s for s in SCALES if s < 1000], ids=str)
def test_masses_tails_and_moments_against_zeta_functions(gamma: int, scale: Fraction) -> None:
    law = law_of(gamma, scale)
    with mp.workdps(25):
        tau = mpf(scale.numerator) / scale.denominator
        terms, rest = power_sum(gamma, tau, 0)
        total = 1 + 2 * (fsum(terms) + rest)
        for k in (0, 1, 2, 17, 400):
            expected = 1 / (1 + (k / tau) ** gamma) / total
            assert law.mass(k) == pytest.approx(float(expected), rel=1e-12)
        for k in (1, 2, 50, 255, 256, 257, 1000):
            expected = (fsum(terms[k - 1 :]) + rest) / total
            assert law.cdf(-k) == pytest.approx(float(expected), rel=1e-10)
        for power, told in ((1, law.mean_absolute_error), (2, law.variance)):
            if gamma > power + 1:
                near, far = power_sum(gamma, tau, power)
                moment = 2 * (fsum(near) + far) / total
                assert told == pytest.approx(float(moment), rel=1e-8)
            else:
                assert told == math.inf


@pytest.mark.parametrize("gamma", range(2, 7))
@pytest.mark.parametrize("scale", [s for s in SCALES if s > 1000], ids=str)
def test_many_steps_are_the_continuous_law(gamma: int, scale: Fraction) -> None:
    law, tau = law_of(gamma, scale), float(scale)
    half_line = math.pi / gamma / math.sin(math.pi / gamma)
    assert law.mass(0) == pytest.approx(1 / (2 * half_line * tau), rel=1e-6)
    if gamma > 3:
        expected = math.sin(math.pi / gamma) / math.sin(3 * math.pi / gamma) * tau**2
        assert law.variance == pytest.approx(expected, rel=1e-6)
    low, high = law.interval("0.9")
    assert low == -high
    assert law.cdf(high) - law.cdf(low - 1) >= 0.9 - 1e-9


@pytest.mark.parametrize("gamma", range(2, 7))
@pytest.mark.parametrize("scale", [Fraction(1, 10), Fraction(7, 3), Fraction(60)], ids=str)
def test_loss_is_the_largest_ratio_over_all_steps(gamma: int, scale: Fraction) -> None:
    law = law_of(gamma, scale)
    k = np.arange(-3000, 3001)
    logs = np.log(law.mass(k))
    for shift in (1, 2, 7, 100):
        seen = float(np.abs(logs[shift:] - logs[:-shift]).max())
        assert law.loss(shift) == pytest.approx(seen, rel=1e-9)


class Scripted:
    """Gives bytes in order; records whether all were used."""

    safe = False

    def __init__(self, *values: int) -> None:
        self.left = list(values)

    def words(self, count: int, bits: int = 64) -> Any:
        assert bits == 8
        taken, self.left = self.left[:count], self.left[count:]
        assert len(taken) == count, "more bytes were asked for than the script holds"
        return np.array(taken, dtype=np.uint8)


def proposal_probabilities(gamma: int, width: int, octaves: int) -> dict[int, Fraction]:
    """How often the sampler proposes |k|, from its description: core, or octave j evenly."""
    core = Fraction(2 ** (gamma - 1) - 1, 2**gamma - 1)
    result = dict.fromkeys(range(width), core / width)
    for j in range(octaves):
        weight = (1 - core) * (1 - Fraction(1, 2 ** (gamma - 1))) / 2 ** (j * (gamma - 1))
        for k in range(width << j, width << (j + 1)):
            result[k] = weight / (width << j)
    return result


@pytest.mark.parametrize("gamma", range(2, 7))
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(7, 3), Fraction(12)])
def test_proposal_times_acceptance_is_the_law_exactly(gamma: int, scale: Fraction) -> None:
    """In rationals: proposals × kept share ∝ 1/(1+(k/τ)^γ), with the sign and without −0."""
    width = math.ceil(scale)
    proposed = proposal_probabilities(gamma, width, 5)
    shares = {}
    for k, chance in proposed.items():
        octave = 0 if k < width else (k // width).bit_length() - 1
        kept = 1 / (1 + (k / scale) ** gamma) * 2 ** (octave * gamma)
        assert kept <= 1  # a probability
        shares[k] = chance * kept
    for k, share in shares.items():
        # sign and −0: k ≠ 0 is split over ±k, 0 is kept half of the time
        assert share / shares[0] == 1 / (1 + (k / scale) ** gamma)


def test_a_script_walks_through_the_sampler() -> None:
    """γ = 2, τ = 2: core or octaves, the octave, the place, the coin that keeps it, the sign."""
    law = law_of(2, Fraction(2))
    # 2 bits "00" → 0 < 1: core; 1 bit place "1" → 1; accept: below(4 + 1) 3 bits "011" = 3 < 4; +
    source = Scripted(0b00_000000, 0b1_0000000, 0b011_00000, 0b0_0000000)
    assert law.steps(1, source).tolist() == [1]
    assert source.left == []
    # 2 bits "01" → 1: octaves; byte 1… → octave 0; place: width 2, 1 bit "1" → 3; coin of 4 + 9:
    # 4 bits "0011" = 3 < 4 kept; sign bit 1 → −3
    source = Scripted(0b01_000000, 0b1_0000000, 0b1_0000000, 0b0011_0000, 0b1_0000000)
    assert law.steps(1, source).tolist() == [-3]
    assert source.left == []
    # core, place 0, kept, sign − → −0 is drawn again; then +1 as above
    source = Scripted(0, 0, 0, 0b1_0000000, 0, 0b1_0000000, 0, 0)
    assert law.steps(1, source).tolist() == [1]
    assert source.left == []


def test_the_representation_has_no_address() -> None:
    assert "0x" not in repr(law_of(2, Fraction(3)))


# -- Polynomial tails: moments, quantiles and the bound on γ ---------------------------------------


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
