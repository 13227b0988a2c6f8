"""The staircase for one answer: its best members, against searches that know nothing of them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from tenue.errors import Refused
from tenue.noise import Laplace, Optimal

EPSILONS = ["0.0001", "0.001", "0.03", "0.1", "0.5", "0.69", "1", "2", "3.7", "8", "15", "22", "30"]


def moments(d: mpf, epsilon: mpf, power: int) -> mpf:
    """E|Y|^power for Δ = 1 at many digits: core and shells, each shell's integral summed."""
    q = mp.exp(-epsilon)
    s0, s1 = q / (1 - q), (q / (1 - q)) ** 2
    s2 = q**2 * (1 + q) / (1 - q) ** 3
    if power == 1:
        shells = s0 * (2 * d + 1) / 2 + s1
        core = d**2 / 2
    else:
        shells = s0 * (3 * d**2 + 3 * d + 1) / 3 + s1 * (2 * d + 1) + s2
        core = d**3 / 3
    return (core + shells) / (d + s0)


def golden(cost: Any, low: mpf, high: mpf) -> mpf:
    ratio = (mp.sqrt(5) - 1) / 2
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    at_a, at_b = cost(a), cost(b)
    while high - low > mpf(10) ** -14 * high:
        if at_a < at_b:
            high, b, at_b = b, a, at_a
            a = high - ratio * (high - low)
            at_a = cost(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + ratio * (high - low)
            at_b = cost(b)
    return (low + high) / 2


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("minimise", "power"), [("variance", 2), ("absolute-error", 1)])
def test_best_core_equals_a_search_at_fifty_digits(epsilon: str, minimise: str, power: int) -> None:
    with mp.workdps(50):
        e = mpf(epsilon)
        coarse = min((mpf(n) / 200 for n in range(1, 200)), key=lambda d: moments(d, e, power))
        best = golden(
            lambda d: moments(d, e, power),
            max(coarse - mpf(1) / 100, mpf(10) ** -8),
            coarse + mpf(1) / 100,
        )
        least = float(moments(best, e, power))
    law = Optimal(sensitivity=1, epsilon=epsilon, minimise=minimise)
    assert law.d == pytest.approx(float(best), rel=1e-9)
    told = law.variance if power == 2 else law.mean_absolute_error
    assert told == pytest.approx(least, rel=1e-10)


@pytest.mark.parametrize("epsilon", ["0.5", "1", "4"])
@pytest.mark.parametrize("d", ["0", "0.1", "0.7", "1"])
def test_moments_equal_a_plain_sum_over_shells(epsilon: str, d: str) -> None:
    """The closed sums of the search above and of the law, against term by term."""
    e, core = float(epsilon), float(d)
    law = Optimal(sensitivity=1, epsilon=epsilon, d=d)
    edges = [0.0, core, *(core + i for i in range(1, 120))]
    density = [law.pdf(0.0) * math.exp(-e * i) for i in range(120)]
    for power, told in ((0, 0.5), (1, law.mean_absolute_error / 2), (2, law.variance / 2)):
        total = sum(
            m * (high ** (power + 1) - low ** (power + 1)) / (power + 1)
            for m, low, high in zip(density, edges, edges[1:], strict=False)
        )
        assert total == pytest.approx(told, rel=1e-11)


def half_width(d: float, epsilon: float, level: float) -> float:
    """Where the mass of |Y| reaches the level, walking outwards shell by shell (Δ = 1)."""
    q = math.exp(-epsilon)
    peak = 1 / (2 * (d + q / (1 - q)))
    left, density, edge = level, 2 * peak, d
    if left <= density * d:
        return left / density
    left -= density * d
    while True:
        density *= q
        if left <= density:
            return edge + left / density
        left -= density
        edge += 1


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "0.5", "1", "2", "5", "11", "30"])
@pytest.mark.parametrize("level", ["0.1", "0.5", "0.8", "0.95", "0.999"])
def test_no_core_has_a_shorter_interval(epsilon: str, level: str) -> None:
    law = Optimal(sensitivity=1, epsilon=epsilon, minimise=("interval", level))
    e, p = float(epsilon), float(level)
    told = law.interval(level)[1]
    assert told == pytest.approx(half_width(law.d, e, p), rel=1e-9)
    others = [n / 500 for n in range(501)] + [10**-n for n in range(3, 14)]
    others += [law.d * (1 + s) for s in (-1e-3, -1e-6, 1e-6, 1e-3) if law.d * (1 + s) < 1]
    assert told <= min(half_width(d, e, p) for d in others if d or e < 20) * (1 + 1e-9)


@pytest.mark.parametrize("delta", ["1e-90", "1e-12", "0.37", "10", "123456789", "1e90"])
@pytest.mark.parametrize("minimise", ["variance", "absolute-error", ("interval", "0.9")])
def test_everything_scales_with_the_sensitivity(delta: str, minimise: Any) -> None:
    one = Optimal(sensitivity=1, epsilon=1, minimise=minimise)
    law = Optimal(sensitivity=delta, epsilon=1, minimise=minimise)
    scale = float(delta)
    assert law.d == pytest.approx(one.d * scale)
    assert law.mean_absolute_error == pytest.approx(one.mean_absolute_error * scale)
    assert law.interval("0.95")[1] == pytest.approx(one.interval("0.95")[1] * scale)
    assert law.variance == pytest.approx(one.variance * scale**2)


@pytest.mark.parametrize("d", ["0.001", "0.3", "0.5", "0.99"])
@pytest.mark.parametrize("epsilon", ["0.05", "1", "6"])
def test_density_repeats_with_the_sensitivity_and_tails_are_powers(d: str, epsilon: str) -> None:
    """p(x+Δ) = q·p(x) for x ≥ 0; P(|Y| > iΔ) = q^i for every d."""
    law = Optimal(sensitivity=1, epsilon=epsilon, d=d)
    q = math.exp(-float(epsilon))
    x = np.linspace(0.0004, 5, 977)
    assert law.pdf(x + 1) == pytest.approx(q * law.pdf(x), rel=1e-12)
    for i in range(1, 12):
        assert 2 * law.cdf(-float(i)) == pytest.approx(q**i, rel=1e-11)


def test_both_ends_are_one_law_and_inner_cores_beat_it_nearer_zero() -> None:
    zero, full = (Optimal(sensitivity=1, epsilon=1, d=d) for d in (0, 1))
    assert zero.variance == pytest.approx(full.variance)
    assert zero.dominated
    assert full.dominated
    x = np.linspace(0.01, 6, 400)
    for d in ("0.01", "0.4", "0.9"):
        inner = Optimal(sensitivity=1, epsilon=1, d=d)
        assert not inner.dominated
        assert (2 * inner.cdf(x) - 2 * zero.cdf(x) > -1e-12).all()


def test_optimal_beats_laplace_whatever_epsilon() -> None:
    for epsilon in EPSILONS:
        laplace = Laplace(sensitivity=1, epsilon=epsilon)
        assert Optimal(sensitivity=1, epsilon=epsilon).variance < laplace.variance
        best = Optimal(sensitivity=1, epsilon=epsilon, minimise="absolute-error")
        assert best.mean_absolute_error < laplace.mean_absolute_error


@pytest.mark.parametrize("epsilon", ["1e-6", "1e-9", "1e-10", "1e-11", "1e-12"])
def test_tiny_epsilons_keep_the_core_inside_its_range(epsilon: str) -> None:
    """d → Δ/2 as ε → 0; cancellation must not push it out of (0, Δ)."""
    for minimise in ("variance", "absolute-error"):
        law = Optimal(sensitivity=1, epsilon=epsilon, minimise=minimise)
        assert law.d == pytest.approx(0.5, rel=1e-5)
        assert law.variance == pytest.approx(2 / float(epsilon) ** 2, rel=1e-5)


@pytest.mark.parametrize("epsilon", [100, 500, 699, 701, 800, 5000, 10**4])
def test_huge_epsilons_give_a_law(epsilon: int) -> None:
    for shape in ({"minimise": "variance"}, {"d": 1}, {"d": "0.25"}):
        law = Optimal(sensitivity=1, epsilon=epsilon, **shape)  # type: ignore[arg-type]
        assert 0 <= law.d <= 1
        assert law.cdf(0) == 0.5
        assert law.variance >= 0
        assert law.interval("0.95")[1] <= 1


def test_an_empty_core_at_a_huge_epsilon_is_the_full_core_or_refused() -> None:
    """d = 0 is the law of d = Δ; its highest density e^ε/2 does not fit a double."""
    for epsilon in (100, 800, 5000):
        try:
            law = Optimal(sensitivity=1, epsilon=epsilon, d=0)
        except Refused:
            continue
        assert law.variance == pytest.approx(1 / 3)
        assert law.interval("0.5")[1] == pytest.approx(0.5)


def test_the_loss_is_a_staircase() -> None:
    law = Optimal(sensitivity=Fraction(3, 2), epsilon="0.3")
    for shift, steps in (("1e-9", 1), ("1.5", 1), ("1.500001", 2), (3, 2), ("-4.5", 3), (0, 0)):
        assert law.loss(shift) == pytest.approx(0.3 * steps)


def test_the_representation_says_what_decides() -> None:
    assert repr(Optimal(sensitivity=1, epsilon=1, d="0.25")) == (
        "Optimal(sensitivity=1, epsilon=1, d=0.25)"
    )
