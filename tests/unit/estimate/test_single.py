"""One noisy number."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from bayes_oracle import binomial, mean, median, posterior
from tenue.errors import InvalidArgument, InvalidPrior, NotPromised, Refused
from tenue.estimate import count, out_of_range, total
from tenue.noise import DiscreteLaplace, HeavyTail, Laplace, Optimal, OptimalBox
from tenue.prior import (
    BetaBinomial,
    Binomial,
    Categorical,
    Histogram,
    Normal,
    Points,
    Uniform,
    normalised,
)

ONE = DiscreteLaplace(sensitivity=1, epsilon="0.3")


@pytest.mark.parametrize("n", [1, 7, 60])
@pytest.mark.parametrize("p", ["0.3", "0.02", "0.999"])
@pytest.mark.parametrize("noisy", [-40, 0, 3, 25, 200])
def test_discrete_laplace(n: int, p: str, noisy: int) -> None:
    true = posterior(binomial(n, p), lambda k: Fraction(-3, 10) * abs(noisy - k) + Fraction(0))
    found = count(noisy, ONE, Binomial(n, p))
    assert [found.mass(k) for k in range(n + 1)] == pytest.approx(true, rel=1e-9, abs=1e-15)
    assert found.mean == pytest.approx(mean(true), rel=1e-11)
    assert found.median == median(true)


def test_the_law_actually_used() -> None:
    """Continuous Laplace at a fractional value, the staircase, and the staircase on its grid."""
    prior = binomial(60, "0.3")
    step = Optimal(sensitivity=5, epsilon=2).on_grid(1)
    smooth = Optimal(sensitivity=5, epsilon=2)
    cases = [
        (Laplace(sensitivity=2, epsilon=1), 21.7, lambda k: -abs(21.7 - k) / 2),
        (step, 22, lambda k: math.log(step.mass(22 - k))),
        (smooth, 22.4, lambda k: math.log(smooth.pdf(22.4 - k))),
        (DiscreteLaplace(sensitivity=1, epsilon=1, grid="0.5"), 22.5, lambda k: -abs(22.5 - k)),
    ]
    for law, noisy, log in cases:
        true = posterior(prior, log)
        found = count(noisy, law, Binomial(60, "0.3"))
        assert [found.mass(k) for k in range(61)] == pytest.approx(true, rel=1e-9, abs=1e-16)


def test_other_priors() -> None:
    uniform = posterior([Fraction(1)] * 21, lambda k: -0.3 * abs(5 - k))
    for prior in (Uniform(0, 20), BetaBinomial(20, 1, 1), Uniform(0, 20).on_grid(1)):
        found = count(5, ONE, prior)
        assert [found.mass(k) for k in range(21)] == pytest.approx(uniform, rel=1e-9)
    uneven = Points(normalised({0: 1, 3: 5, 20: 2}))
    found = count(5, ONE, uneven)
    weights = [1 * math.exp(-1.5), 5 * math.exp(-0.6), 2 * math.exp(-4.5)]
    assert [found.mass(k) for k in (0, 3, 20)] == pytest.approx([w / sum(weights) for w in weights])
    assert found.mass(4) == 0
    u_shaped = BetaBinomial(30, "0.5", "0.5")
    true = posterior([u_shaped.points.mass(k) for k in range(31)], lambda k: -0.3 * abs(5 - k))
    found = count(5, ONE, u_shaped)
    assert [found.mass(k) for k in range(31)] == pytest.approx(true, rel=1e-9)
    steps = count(5, ONE, Histogram([-0.5, 9.5, 20.5], [0.5, 0.5]))
    assert steps.mass(9) / steps.mass(10) == pytest.approx(11 / 10 * math.exp(0.3))


def test_a_window_of_ten_million_is_the_whole() -> None:
    """Against a normal prior with the same two moments, and far out of the prior's reach."""
    n, law = 10**7, DiscreteLaplace(sensitivity=1, epsilon="0.01")
    deviation = math.sqrt(n * 0.3 * 0.7)
    found = count(3_000_000 + 700, law, Binomial(n, 0.3))
    normal = Normal(n * 0.3, deviation, 3_000_000 - 10**5, 3_000_000 + 10**5)
    like = total(3_000_000 + 700, law, normal)
    assert found.mean == pytest.approx(like.mean, abs=0.5)
    assert found.interval(0.95)[0] == pytest.approx(like.interval(0.95)[0], abs=3)
    # far away the likelihood only tilts the prior: e^(εk) makes a binomial with other odds
    far = count(n * 2, law, Binomial(n, 0.3))
    tilted = 0.3 * math.exp(0.01) / (0.7 + 0.3 * math.exp(0.01))
    assert far.mean == pytest.approx(n * tilted, rel=1e-9)
    assert far.variance == pytest.approx(n * tilted * (1 - tilted), rel=1e-6)


def test_sums_live_on_the_laws_grid() -> None:
    law = DiscreteLaplace(sensitivity=10, epsilon=1, grid="0.5")
    found = total("101.5", law, Uniform(0, 1000))
    assert found.mode == 101.5
    assert found.mass("101.5") == pytest.approx(math.tanh(1 / 40), rel=1e-3)
    assert found.mass("101.25") == 0
    with pytest.raises(InvalidPrior, match="grid"):
        total(100, law, Points({0: "0.5", "0.25": "0.5"}))
    with pytest.raises(InvalidArgument, match="grid"):
        total("101.3", law, Uniform(0, 1000))


def test_no_estimate_where_the_scale_is_a_secret() -> None:
    heavy = HeavyTail(gamma=4, smooth_sensitivity=1, epsilon=1)
    for law in (heavy, heavy.on_grid(1)):
        with pytest.raises(NotPromised):
            count(3, law, Binomial(10, 0.5))


@pytest.mark.parametrize(
    "ask",
    [
        lambda: count("x", ONE, Binomial(10, 0.5)),
        lambda: count(float("nan"), ONE, Binomial(10, 0.5)),
        lambda: count(1.5, ONE, Binomial(10, 0.5)),
        lambda: count("1e200", Laplace(sensitivity=1, epsilon=1), Binomial(10, 0.5)),
        lambda: count(1, "laplace", Binomial(10, 0.5)),
        lambda: count(1, OptimalBox(sensitivities=[1, 1], epsilon=1), Binomial(10, 0.5)),
        lambda: count(1, ONE, Categorical({"a": 1})),
        lambda: count(1, ONE, 0.3),
        lambda: count(1, ONE, None),
        lambda: count(1, ONE, Points({"0.5": 1})),
        lambda: count(
            1,
            ONE,
            Points({1: "1/2", 10**30: "1/2"}),
        ),
        lambda: count(1, ONE, Uniform("0.1", "0.2")),
        lambda: count(1, ONE, BetaBinomial(10**9, "0.5", 2)),
        lambda: count(1, ONE),  # type: ignore[call-arg]
    ],
)
def test_what_cannot_be_estimated_is_refused(ask: object) -> None:
    with pytest.raises(Refused):
        ask()  # type: ignore[operator]


@pytest.mark.parametrize("true", [0, 3, 10])
def test_on_a_grid_it_is_the_sum_of_masses(true: int) -> None:
    for law in (
        DiscreteLaplace(sensitivity=1, epsilon="0.4"),
        DiscreteLaplace(sensitivity=1, epsilon="0.4", grid="0.5"),
        Optimal(sensitivity=4, epsilon=1).on_grid(1),
    ):
        steps = np.arange(-4000, 4001)
        noisy = true + steps * float(law.grid)
        wrong = float(law.mass(steps)[(noisy < 0) | (noisy > 10)].sum())
        assert out_of_range(true, 10, law) == pytest.approx(wrong, rel=1e-9)


def test_the_ends_are_worst_and_the_middle_best() -> None:
    law = Laplace(sensitivity=1, epsilon="0.1")
    at = [out_of_range(a, 50, law) for a in range(51)]
    assert max(at) == at[0] == at[50] == pytest.approx((1 + math.exp(-5)) / 2)
    assert min(at) == at[25] == pytest.approx(math.exp(-2.5))


def test_wrong_parameters_are_refused() -> None:
    law = Laplace(sensitivity=1, epsilon=1)
    heavy = HeavyTail(gamma=2, smooth_sensitivity=1, epsilon=1)
    for true, n, used in ((5, 4, law), (-1, 4, law), (1.5, 4, law), (1, 4, "x"), (1, 4, heavy)):
        with pytest.raises(Refused):
            out_of_range(true, n, used)
