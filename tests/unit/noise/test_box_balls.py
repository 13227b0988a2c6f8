"""Balls of vectors, counted and drawn, and the law seen ball by ball."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from tenue.noise import Seeded
from tenue.noise.box.ball import Box, differences, exact_series, log_product_series
from tenue.noise.box.marginals import AnyMargin, Levels, SameMargin, crossing
from tenue.noise.box.same_sign_ball import SameSign


def summed(offsets: list[float], epsilon: float) -> float:
    last = math.ceil((60 + 6 * len(offsets)) / epsilon)
    return math.fsum(
        math.exp(-epsilon * i) * math.prod(z + i for z in offsets) for i in range(last)
    )


@settings(max_examples=80, deadline=None)
@given(offsets=st.lists(st.floats(0, 3), min_size=0, max_size=12), epsilon=st.floats(0.05, 30))
def test_product_series_is_its_sum(offsets: list[float], epsilon: float) -> None:
    told = math.exp(log_product_series(offsets, epsilon))
    assert told == pytest.approx(summed(offsets, epsilon), rel=1e-11)


@pytest.mark.parametrize(
    ("dimension", "epsilon"), [(22, 1e-4), (40, 1e-3), (82, 1e-3), (150, 0.1), (200, 1.0)]
)
def test_ratios_of_product_series_in_many_dimensions(dimension: int, epsilon: float) -> None:
    """What variances are made of: E(ζ+i)² for weights q^i(ζ+i)^D, near D²/ε²."""
    z = 0.5
    wide = log_product_series([z] * (dimension + 2), epsilon)
    ratio = math.exp(wide - log_product_series([z] * dimension, epsilon))
    i = np.arange(math.ceil((dimension + 60 + 12 * math.sqrt(dimension)) / epsilon))
    logs = dimension * np.log(z + i) - epsilon * i
    weights = np.exp(logs - logs.max())
    assert ratio == pytest.approx(float((weights * (z + i) ** 2).sum() / weights.sum()), rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=10))
def test_differences_are_newton_coefficients(values: list[int]) -> None:
    coefficients = differences(values)
    assert len(coefficients) == len(values)
    for i, value in enumerate(values):
        assert sum(a * math.comb(i, k) for k, a in enumerate(coefficients)) == value


@settings(max_examples=40, deadline=None)
@given(
    coefficients=st.lists(st.integers(0, 10**6), min_size=1, max_size=8),
    epsilon=st.fractions(Fraction(1, 20), 20, max_denominator=1000),
)
def test_exact_series_is_the_normalised_sum(coefficients: list[int], epsilon: Fraction) -> None:
    def polynomial(i: int) -> int:
        return sum(a * math.comb(i, k) for k, a in enumerate(coefficients))

    with mp.workdps(50):
        q = mp.exp(-mpf(epsilon.numerator) / epsilon.denominator)
        total = mpf(0)
        for i in range(math.ceil(130 / epsilon) + 40):
            total += q**i * polynomial(i)
        expected = (1 - q) * total
        mine = exact_series(coefficients, epsilon)
        assert abs(mpf(mine.numerator) / mine.denominator - expected) <= expected * mpf(10) ** -30


# Balls of lattice points: membership, counts, and draws that reach every point equally.

Array = np.ndarray[Any, Any]


def ball_lattice(reach: int, dimension: int) -> list[tuple[int, ...]]:
    return list(itertools.product(range(-reach, reach + 1), repeat=dimension))


@pytest.mark.parametrize(("s", "core"), [((1, 1), (0, 0)), ((2, 3), (1, 4)), ((4,), (0,))])
def test_box_levels_are_those_of_the_largest_ratio(s: Any, core: Any) -> None:
    ball = Box(s, core)
    for x in ball_lattice(9, len(s)):
        beyond = max(-(-(abs(v) - c) // w) for v, w, c in zip(x, s, core, strict=True))
        assert ball.level(np.array(x)) == max(0, beyond)


@pytest.mark.parametrize(
    "ball",
    [
        Box((1, 2), (1, 0)),
        Box((3,), (2,)),
        SameSign((1, 1), 1, 1),
        SameSign((2, 3), 0, 6),
        SameSign((2, 3), 1, 2),
        SameSign((3, 5), 2, 4),
        SameSign((1, 2, 2), 0, 2),
        SameSign((4,), 1, 4),
    ],
    ids=lambda b: f"{type(b).__name__}{b.sensitivities}",
)
def test_draws_stay_inside_and_reach_every_point(ball: Any) -> None:
    dimension = len(ball.sensitivities)
    i = 1
    reach = 3 * max(ball.sensitivities) + 3
    points = {x for x in ball_lattice(reach, dimension) if int(ball.level(np.array(x))) <= i}
    assert len(points) == ball.count(i)
    drawn = ball.draw(np.full(60 * len(points), i), Seeded(1))
    assert {tuple(row) for row in drawn.tolist()} == points  # one is missed with chance e^-60


# -- Balls of answers that move all up or all down: levels, draws, shares --------------------------


def norm(x: tuple[int, ...], s: tuple[int, ...]) -> Fraction:
    up = max(Fraction(max(v, 0), w) for v, w in zip(x, s, strict=True))
    down = max(Fraction(max(-v, 0), w) for v, w in zip(x, s, strict=True))
    return up + down


def lattice(reach: int, dimension: int) -> list[tuple[int, ...]]:
    return list(itertools.product(range(-reach, reach + 1), repeat=dimension))


@pytest.mark.parametrize("s", [(1, 1), (2, 3), (2, 4), (1, 2, 3), (5,)])
def test_same_sign_levels_are_those_of_the_norm_where_ticks_divide(s: Any) -> None:
    ticks = math.lcm(*s)
    for core in (0, 1, ticks - 1, ticks):
        ball = SameSign(s, core, ticks)
        for x in lattice(6 if len(s) < 3 else 4, len(s)):
            beyond = math.ceil(norm(x, s) - Fraction(core, ticks))
            assert ball.level(np.array(x)) == max(0, beyond)


@pytest.mark.parametrize("ticks", [1, 2, 3, 7])
def test_uneven_ticks_stay_within_two_ticks_of_the_norm(ticks: int) -> None:
    s = (3, 5)
    ball = SameSign(s, 0, ticks)
    for x in lattice(9, 2):
        level = int(ball.level(np.array(x)))
        assert norm(x, s) <= level
        assert level <= math.ceil(norm(x, s) + Fraction(2, ticks))


def test_ticks_are_exact_where_they_are_few() -> None:
    assert SameSign.ticks_for([2, 3, 4], Fraction(1)) == 12
    assert SameSign.ticks_for([10**9] * 3, Fraction(1)) == 10**9
    many = SameSign.ticks_for([97, 89, 83], Fraction(1, 100))
    assert 4 <= many <= 256


@pytest.mark.parametrize(
    ("s", "ticks", "proposer"),
    [
        ((2, 3), 6, "_propose"),
        ((2, 2), 2, "_propose"),
        ((2, 2), 2, "_propose_range"),
        ((1, 1, 1), 1, "_propose_range"),
    ],
)
def test_every_proposal_of_the_same_sign_ball_leads_to_a_different_point(
    s: tuple[int, ...], ticks: int, proposer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All choices of whole numbers once each: kept ones are the points of the ball, once each."""
    core = ticks // 2
    ball = SameSign(s, core, ticks)
    radius = core + ticks
    widest = [radius * w // ticks for w in s]
    found: list[tuple[int, ...]] = []
    for choice in itertools.product(*[range(w + 1) for w in widest], range(len(s) + 1)):
        left = list(choice)

        def chosen(counts: Any, size: int, source: Any, left: list[int] = left) -> Array:
            taken = np.array([left.pop(0) for _ in range(size)])
            assert (taken < counts).all()
            return taken

        monkeypatch.setattr("tenue.noise.box.same_sign_ball.uniform", chosen)
        points, kept = getattr(ball, proposer)(np.array([[radius]]), np.array(s), Seeded(1))
        if kept[0]:
            found.append(tuple(points[0].tolist()))
    reach = 2 * max(s) + 1
    inside = {x for x in lattice(reach, len(s)) if int(ball.level(np.array(x))) <= 1}
    assert len(found) == len(set(found)) == len(inside)
    assert set(found) == inside


@pytest.mark.parametrize("s", [10**6, 10**9, 4 * 10**9, 10**12, 10**15])
def test_long_sensitivities_do_not_overflow_in_draws(s: int) -> None:
    ball = SameSign((s, s), 0, s)
    drawn = ball.draw(np.full(3000, 2), Seeded(2))
    span = np.maximum(drawn, 0).max(axis=1) + np.maximum(-drawn, 0).max(axis=1)
    assert (span <= 2 * s).all()
    assert (ball.level(drawn) <= 2).all()
    # a third of the ball each: both up, both down, mixed; the mean of |x| is 4/9 of the radius
    assert np.abs(drawn).mean() / (2 * s) == pytest.approx(4 / 9, rel=0.06)


@pytest.mark.parametrize("s", [10**3, 10**6, 10**9, 10**12, 10**15])
def test_shares_of_long_balls_keep_their_digits(s: int) -> None:
    """Continuous shares within t·radius: t on a line, (4t − t²)/3 in the plane."""
    i = np.array([1.0, 2.0, 30.0])
    line = SameSign((s,), 0, s)
    plane = SameSign((s, s), 0, s)
    for t in (0.1, 0.5, 0.9):
        for ball, expected in ((line, t), (plane, (2 * t + (2 * t - t * t)) / 3)):
            reach = int(t * 2 * s)
            share = ball.share_within(i[1:2], 0, reach)[0]
            assert share == pytest.approx(expected, rel=3 / s + 1e-9)


@pytest.mark.parametrize(
    ("s", "ticks", "core"), [((2, 3), 6, 3), ((1, 4, 6), 12, 0), ((5, 7), 9, 4)]
)
def test_margins_of_all_reaches_equal_those_of_one_reach_at_a_time(
    s: tuple[int, ...], ticks: int, core: int
) -> None:
    ball = SameSign(s, core, ticks)
    for i in (0, 1, 4):
        margins = ball.margins(i)
        for j, width in enumerate(s):
            for t, share in enumerate(margins[width].tolist()):
                one = float(ball.share_within(np.array([float(i)]), j, t * width // ticks)[0])
                assert share == pytest.approx(one, abs=1e-12)


# -- crossing --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("excess", "low", "high", "root"),
    [
        (lambda x: math.exp(-x) - 0.05, 0.0, 1e6, -math.log(0.05)),
        (lambda x: 1 / (1 + x) - 1e-4, 0.0, 1e9, 9999.0),
        (lambda x: 3.0 if x < 7 else -1e-9, 0.0, 100.0, 7.0),
        (lambda x: 1e-300 * (5 - x), 0.0, 6.0, 5.0),
        (lambda x: 2.0 - x, 0.0, 2.0, 2.0),
    ],
)
def test_the_first_place_that_is_not_above_zero(
    excess: Callable[[float], float], low: float, high: float, root: float
) -> None:
    found = crossing(excess, low, high)
    assert excess(found) <= 0
    assert found == pytest.approx(root, rel=1e-12)


def test_smooth_functions_take_few_calls() -> None:
    calls = []

    def excess(x: float) -> float:
        calls.append(x)
        return math.exp(-x) * (1 + x) - 0.01

    crossing(excess, 0.0, 100.0)
    assert len(calls) < 40


# Balls of the continuous vector law: weights, the smallest box, the joint distribution.


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
