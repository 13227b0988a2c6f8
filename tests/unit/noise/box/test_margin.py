"""Balls of the continuous vector law: weights, the smallest box, the joint distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tenue.noise.box.margin import AnyMargin, Levels, SameMargin


def draw(signs: str, offsets: list[float], epsilon: float, size: int, seed: int) -> Any:
    """A plain Monte Carlo of the description, in doubles: choose a ball, then a point of it."""
    rng = np.random.default_rng(seed)
    d = len(offsets)
    i = np.arange(math.ceil((d + 60) / epsilon))
    weights = np.exp(-epsilon * i) * np.prod([z + i for z in offsets], axis=0)
    ball = rng.choice(i, size, p=weights / weights.sum())
    radius = ball[:, None] + np.array(offsets)
    if signs == "any":
        return radius * rng.uniform(-1, 1, (size, d))
    # (0, x) is the range of D+1 numbers of [0, r], one of which is 0: shift a random one there
    base = rng.uniform(0, 1, (size, d + 1))
    least = rng.integers(0, d + 1, size)
    base[np.arange(size), least] = 0.0
    return radius * (base[:, 1:] - base[:, :1])


CASES = [
    ("any", [0.3, 0.3], 1.0),
    ("any", [0.1, 0.8, 2.0], 2.0),
    ("any", [0.0, 0.0], 1.0),
    ("same", [0.3, 0.3], 1.0),
    ("same", [0.5, 0.5, 0.5], 2.0),
    ("same", [0.0, 0.0], 1.0),
    ("same", [0.4], 1.5),
]
DRAWS = 40_000
WITHIN = 0.022  # Hoeffding, 1e-16 each


@pytest.mark.parametrize(("signs", "offsets", "epsilon"), CASES)
def test_box_joint_and_margins_against_a_plain_simulation(
    signs: str, offsets: list[float], epsilon: float
) -> None:
    levels = Levels(offsets, epsilon)
    x = draw(signs, offsets, epsilon, DRAWS, 3)
    for level in (0.2, 0.7, 0.95):
        beta = levels.box(signs, level)
        inside = (np.abs(x) <= np.array(offsets) + beta).all(axis=1).mean()
        assert inside == pytest.approx(level, abs=WITHIN)
    d = len(offsets)
    for point in ([0.0] * d, [0.7] * d, [-0.4] * d, [1.5, -0.6, 0.2][:d], [-1.1, 2.2, 0.0][:d]):
        below = (x <= np.array(point)).all(axis=1).mean()
        assert levels.joint(signs, np.array(point)) == pytest.approx(below, abs=WITHIN)
    kind = AnyMargin if signs == "any" else SameMargin
    for j in range(d):
        margin = kind(levels, j, 10.0)
        for t in (-1.5, -0.3, 0.0, 0.4, 2.0):
            assert margin.cdf(10 * t) == pytest.approx((x[:, j] <= t).mean(), abs=WITHIN)
        for q in ("0.05", "0.5", "0.9"):
            assert margin.cdf(margin.quantile(q)) == pytest.approx(float(q), rel=1e-9)
        low, high = margin.interval("0.8")
        assert low == -high
        assert margin.cdf(high) - margin.cdf(low) == pytest.approx(0.8, rel=1e-9)


def test_weights_are_a_distribution_and_leave_nothing_out() -> None:
    for d in (1, 3, 20, 100):
        for epsilon in (0.05, 1.0, 20.0):
            levels = Levels([0.5] * d, epsilon)
            assert levels.weights.sum() == pytest.approx(1, abs=1e-12)
            assert levels.weights[-1] < 1e-14
            assert (levels.weights >= 0).all()


@pytest.mark.parametrize("signs", ["any", "same"])
@pytest.mark.parametrize("q", ["0.999999999999", "0.99999999999999999999", "1e-20"])
def test_extreme_levels_end(signs: str, q: str) -> None:
    """Sums that stay a hair below 1 must not be chased for ever."""
    levels = Levels([0.5, 0.5], 1.0)
    margin = (AnyMargin if signs == "any" else SameMargin)(levels, 0, 1.0)
    assert math.isfinite(margin.quantile(q))
    assert math.isfinite(levels.box(signs, float(q)))


def test_far_quantiles_mirror_each_other() -> None:
    margin = AnyMargin(Levels([0.5, 0.5], 1.0), 0, 1.0)
    assert margin.quantile("1e-12") == pytest.approx(-margin.quantile("0.999999999999"), rel=1e-3)


@pytest.mark.parametrize("signs", ["any", "same"])
@pytest.mark.parametrize("epsilon", [0.01, 0.003, 0.001, 0.0001])
@pytest.mark.parametrize("core", [0.0, 0.5, 0.9, 10.0, 2000.0])
def test_small_epsilons_keep_their_margins_also_with_wide_cores(
    signs: str, epsilon: float, core: float
) -> None:
    """However few balls stand for many, the margin is that of the sum over all of them."""
    d = 2
    margin = (AnyMargin if signs == "any" else SameMargin)(Levels([core] * d, epsilon), 0, 1.0)
    i = np.arange(math.ceil((d + 60 + 12 * math.sqrt(d)) / epsilon), dtype=float)
    with np.errstate(divide="ignore"):
        logs = d * np.log(core + i) - epsilon * i
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    for q in ("0.6", "0.95"):
        x = margin.quantile(q)
        share = x / np.maximum(core + i, x)
        below = (1 + share) / 2
        if signs == "same":  # a third each: one-sided up, one-sided down, a triangle
            below = (share + 1 + 1 - (1 - share) ** 2 / 2) / 3
        assert float((weights * below).sum()) == pytest.approx(float(q), rel=1e-5)
