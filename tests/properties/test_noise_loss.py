"""The privacy loss of every sampled law, from whole-number masses, over hundreds of random cases.

A staircase or a shell law puts weight e^(-ε·level) on a point, level a whole number. The loss of a
shift is then ε times the largest change of level, which integers decide exactly. Levels are read
back from `mass`, so that it is the law's own mass function that is judged. The mutants at the end
are plausible mistakes; each must be caught by the same measure.
"""

from __future__ import annotations

import itertools
import math
import random
import resource
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tenue.errors import Refused
from tenue.noise import DiscreteLaplace, HeavyTail, Optimal, OptimalBox, Seeded
from tenue.noise.box.ball import Box, differences
from tenue.noise.box.same_sign_ball import SameSign
from tenue.noise.optimal_steps import OptimalSteps

Array = np.ndarray[Any, Any]
GRIDS = [Fraction(1), Fraction(1, 10), Fraction(7, 100), Fraction(1, 64), Fraction(3), Fraction(25)]


def random_epsilon(rng: random.Random, least: float = -3, most: float = 1) -> Fraction:
    return Fraction(f"{10 ** rng.uniform(least, most):.4g}")


def levels_from_masses(mass: Array, peak: float, epsilon: float) -> Array:
    """The whole numbers n with mass = peak·e^(-εn); fails if they are not whole."""
    levels = (math.log(peak) - np.log(mass)) / epsilon
    rounded = np.rint(levels)
    assert np.abs(levels - rounded).max() * epsilon < 1e-9
    return rounded.astype(np.int64)


def worst_rise(levels: Array, shift: int) -> int:
    """The largest change of level that a shift causes, along one axis."""
    return int(np.abs(levels[shift:] - levels[:-shift]).max())


# -- one answer ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(100))
def test_optimal_pays_exactly_epsilon_for_every_shift_within_its_sensitivity(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(4):
        epsilon, grid = random_epsilon(rng), rng.choice(GRIDS)
        delta = rng.choice([1, 2, 3, rng.randint(1, 12), rng.randint(1, 90)])
        sensitivity = (delta - Fraction(rng.randint(0, 9), 10)) * grid
        shape: Any = rng.choice(
            [
                {"minimise": "variance"},
                {"minimise": "absolute-error"},
                {"minimise": ("interval", Fraction(rng.randint(1, 99), 100))},
                {"d": sensitivity * Fraction(rng.randint(0, 20), 20)},
            ]
        )
        law = Optimal(sensitivity=sensitivity, epsilon=epsilon, **shape).on_grid(grid)
        assert law.sensitivity == delta * grid  # rounded up to the grid, and nothing more
        assert 1 <= law.d_steps <= delta
        k = np.arange(-6 * delta, 6 * delta + 1)
        levels = levels_from_masses(law.mass(k), law.mass(0), float(epsilon))
        for shift in range(1, 3 * delta + 1):
            assert worst_rise(levels, shift) == -(-shift // delta)  # ε for all 0 < s ≤ Δ, then 2ε
        for shift in (1, delta, rng.randint(1, delta)):
            assert law.loss(shift * grid) == float(epsilon)


@pytest.mark.parametrize("seed", range(20))
def test_discrete_laplace_pays_in_proportion_and_adds_up_over_coordinates(seed: int) -> None:
    """The joint loss of a vector with L1 move Δ is exactly ε, however the move is divided."""
    rng = random.Random(seed)
    epsilon, grid, delta = random_epsilon(rng), rng.choice(GRIDS), rng.randint(1, 60)
    law = DiscreteLaplace(sensitivity=delta * grid, epsilon=epsilon, grid=grid)
    logs = np.log(law.mass(np.arange(-3 * delta, 3 * delta + 1)))
    for shift in range(1, delta + 1):
        seen = np.abs(logs[shift:] - logs[:-shift]).max()
        assert seen <= float(epsilon) * (1 + 1e-9)
        assert law.loss(shift * grid) == pytest.approx(float(seen), rel=1e-9)
    cuts = sorted(rng.choices(range(delta + 1), k=4))
    moves = [b - a for a, b in itertools.pairwise([0, *cuts, delta])]
    assert sum(law.loss(move * grid) for move in moves) == pytest.approx(float(epsilon), rel=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_heavy_tail_slides_and_dilates_within_epsilon(seed: int) -> None:
    """Neighbours have S and S' within e^±β of each other, β = ε/γ, and values min(S, S') apart."""
    rng = random.Random(seed)
    gamma = 2 + seed % 5
    epsilon = random_epsilon(rng, -1, 1.5)
    smooth = Fraction(rng.choice([20, 30, 40, rng.randint(1, 400)]), 20)
    law: Any = HeavyTail(gamma=gamma, smooth_sensitivity=smooth, epsilon=epsilon).on_grid(1)
    beta = float(epsilon) / gamma
    near = np.arange(-1000, 1001)
    far = np.array([sign * 10**n for n in range(4, 12) for sign in (-1, 1)])
    k = np.concatenate([near, far])
    for exponent in (-1, -0.6, -0.2, 0, 0.2, 0.6, 1):
        other_smooth = Fraction(float(smooth) * math.exp(exponent * beta))
        other: Any = HeavyTail(gamma=gamma, smooth_sensitivity=other_smooth, epsilon=epsilon)
        other = other.on_grid(1)
        furthest = math.floor(min(smooth, other_smooth))
        for shift in {0, min(1, furthest), furthest // 2, furthest}:
            ratio = np.log(law.mass(k)) - np.log(other.mass(k + shift))
            # the dilation alone approaches γβ = ε in the far tail, from below
            assert np.abs(ratio).max() <= float(epsilon) * (1 + 1e-9)


def test_the_bound_on_sliding_plus_dilation_ends_at_gamma_six() -> None:
    """Soundness §3: 0.625ε, 0.799ε … and 1.023ε at γ = 7, which is therefore refused."""

    def bound(gamma: int) -> float:
        z = np.linspace(0, 5, 200_001)
        slide = float((z ** (gamma - 1) / (1 + z**gamma)).max()) / 4
        return slide + (gamma - 1) / gamma

    assert bound(2) == pytest.approx(0.625, abs=5e-4)
    assert bound(3) == pytest.approx(0.799, abs=5e-4)
    assert bound(7) == pytest.approx(1.023, abs=5e-4)
    for gamma in range(1, 10):
        if 2 <= gamma <= 6:
            assert bound(gamma) <= 1
            HeavyTail(gamma=gamma, smooth_sensitivity=1, epsilon=1)
        else:
            with pytest.raises(Refused):
                HeavyTail(gamma=gamma, smooth_sensitivity=1, epsilon=1)


# -- vectors ---------------------------------------------------------------------------------------


def lattice(reach: int, dimension: int) -> Array:
    side = np.arange(-reach, reach + 1)
    axes = np.meshgrid(*[side] * dimension, indexing="ij")
    return np.stack(axes, axis=-1).reshape(-1, dimension)


def moves(s: tuple[int, ...], signs: str) -> list[tuple[int, ...]]:
    """S_f: all differences between neighbours."""
    if signs == "any":
        return list(itertools.product(*[range(-w, w + 1) for w in s]))
    up = list(itertools.product(*[range(w + 1) for w in s]))
    return up + [tuple(-t for t in move) for move in up]


def random_box(rng: random.Random) -> tuple[Any, str]:
    dimension = rng.choice([1, 2, 2, 2, 3])
    largest = {1: 9, 2: 5, 3: 2}[dimension]
    signs = rng.choice(["any", "same"])
    s = [rng.randint(1, largest) for _ in range(dimension)]
    grids = [rng.choice(GRIDS) for _ in s]
    given = [(w - Fraction(rng.randint(0, 9), 10)) * g for w, g in zip(s, grids, strict=True)]
    shape: Any = {"minimise": rng.choice(["variance", "absolute-error", ("interval", "0.9")])}
    if rng.random() < 0.7:
        ratios = [Fraction(rng.choice([0, 2, 5, 9, 10, 14]), 10) for _ in s]
        if signs == "same":
            ratios = ratios[:1] * dimension
        shape = {"core": [r * w for r, w in zip(ratios, given, strict=True)]}
    law = OptimalBox(
        sensitivities=given, epsilon=random_epsilon(rng, -1.5, 0.7), signs=signs, **shape
    ).on_grid(grids)
    assert law.ball.sensitivities == tuple(s)
    return law, signs


@pytest.mark.parametrize("seed", range(120))
def test_a_vector_law_pays_at_most_epsilon_for_every_move_of_its_shape(seed: int) -> None:
    """Every point of a window, every move of S_f: levels differ by at most one, and by one."""
    law, signs = random_box(random.Random(seed))
    s, epsilon = law.ball.sensitivities, float(law.epsilon)
    reach = 3 * max(s) + max(getattr(law.ball, "core", (0,)))
    points = lattice(reach, law.dimension)
    peak = law.mass([0] * law.dimension)
    levels = levels_from_masses(law.mass(points), peak, epsilon)
    assert np.array_equal(levels, law.level(points))
    for move in moves(s, signs):
        if not any(move):
            continue
        moved = law.level(points + np.array(move))
        assert np.abs(moved - levels).max() == 1, (move, law)
        shift = [t * g for t, g in zip(move, law.grids, strict=True)]
        assert law.loss(shift) == pytest.approx(epsilon, rel=1e-12)


def test_a_core_wider_than_the_sensitivities_still_pays() -> None:
    """The step down lies far from 0 then; whoever looks only near 0 sees no loss at all."""
    for signs in ("any", "same"):
        law: Any = OptimalBox(
            sensitivities=[2, 3],
            epsilon=1,
            core=[200, 300],
            signs=signs,  # type: ignore[arg-type]
        ).on_grid(1)
        points = lattice(320, 2)
        for move in ([1, 0], [0, 1], [2, 3], [-2, -3]):
            seen = np.abs(law.level(points + np.array(move)) - law.level(points)).max()
            assert seen == 1
            assert law.loss(move) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(60))
def test_balls_hold_as_many_points_and_moments_as_enumeration(seed: int) -> None:
    rng = random.Random(seed)
    dimension = rng.choice([1, 2, 3])
    s = [rng.randint(1, {1: 12, 2: 7, 3: 3}[dimension]) for _ in range(dimension)]
    ball: Any
    if seed % 2:
        ball = Box(s, [rng.randint(0, 2 * w) for w in s])
    else:
        ticks = rng.choice([math.lcm(*s), rng.randint(1, 9)])
        ball = SameSign(s, rng.randint(0, 2 * ticks), ticks)
    for i in range(3):
        points = lattice((i + 3) * max(s) + 1, dimension)
        inside = points[ball.level(points) <= i]
        assert ball.count(i) == len(inside)
        for j in range(dimension):
            column = inside[:, j]
            assert ball.moments(i, j) == (int(np.abs(column).sum()), int((column**2).sum()))
            for reach in (0, 1, s[j], 3 * s[j]):
                share = ball.share_within(np.array([float(i)]), j, reach)[0]
                assert share == pytest.approx((np.abs(column) <= reach).mean(), rel=1e-12)


def window_count(m: int, dimension: int) -> int:
    return int((m + 1) ** (dimension + 1) - m ** (dimension + 1))


def test_counts_of_equal_same_sign_balls_are_the_closed_form_of_soundness() -> None:
    for dimension in range(1, 8):
        for radius in range(6):
            ball = SameSign([1] * dimension, radius, 1)
            assert ball.count(0) == window_count(radius, dimension)


@pytest.mark.parametrize("seed", range(40))
def test_counts_are_polynomials_with_newton_coefficients_at_least_zero(seed: int) -> None:
    """What the sampler's mixture rests on; searched widely, also where ticks divide unevenly."""
    rng = random.Random(seed)
    for _ in range(12):
        dimension = rng.randint(1, 6)
        s = [rng.choice([rng.randint(1, 4), rng.randint(1, 30)]) for _ in range(dimension)]
        ticks = rng.choice([1, 2, 3, 5, rng.randint(1, 25), math.gcd(*s)])
        same = SameSign(s, rng.choice([0, rng.randint(0, 3 * ticks)]), ticks)
        box = Box(s, [rng.randint(0, 2 * w) for w in s])
        for ball in (same, box):
            coefficients = differences([ball.count(i) for i in range(dimension + 4)])
            assert min(coefficients[: dimension + 1]) >= 0
            assert coefficients[0] >= 1
            assert coefficients[dimension] >= 1
            assert not any(coefficients[dimension + 1 :])
            for power in (0, 1):  # moments have degree D + 2 at most
                sums = [ball.moments(i, 0)[power] for i in range(dimension + 5)]
                assert not any(differences(sums)[dimension + 3 :])


def test_forward_differences_rebuild_the_polynomial() -> None:
    values = [3 + 2 * i + 5 * i**3 for i in range(8)]
    coefficients = differences(values)
    assert not any(coefficients[4:])
    for i in range(20):
        rebuilt = sum(a * math.comb(i, k) for k, a in enumerate(coefficients))
        assert rebuilt == 3 + 2 * i + 5 * i**3


@pytest.mark.parametrize("s", [10**9, 3 * 10**9, 10**10, 10**12, 10**15])
@pytest.mark.parametrize("signs", ["any", "same"])
def test_levels_of_long_sensitivities_do_not_overflow(s: int, signs: Any) -> None:
    """A sum of incomes in cents has such sensitivities. Whole numbers wrap silently."""
    law = OptimalBox(sensitivities=[s, s], epsilon=1, core=[0, 0], signs=signs).on_grid(1)
    rng = random.Random(s)
    for _ in range(200):
        x = [rng.randint(-5 * s, 5 * s) for _ in range(2)]
        up, down = max(0, *x), max(0, *(-v for v in x))
        norm = up + down if signs == "same" else max(up, down)
        assert law.level(x) == -(-norm // s)
    # draws of a finer copy of the same law look like those of the coarse one
    drawn = law.steps(2000, Seeded(1))
    assert (law.level(drawn) <= 60).all()
    assert np.mean(np.abs(drawn) / s) == pytest.approx(law.mean_absolute_error[0] / s, rel=0.15)


@pytest.fixture
def two_gigabytes() -> Iterator[None]:
    """No more memory than this, so that a test of frugality cannot harm the machine."""
    old = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (2 << 30), old[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, old)


@pytest.mark.parametrize("s", [10**3, 10**9, 10**12])
@pytest.mark.parametrize("signs", ["any", "same"])
def test_loss_of_long_sensitivities_needs_no_memory(
    s: int, signs: Any, two_gigabytes: None
) -> None:
    law = OptimalBox(sensitivities=[s, s], epsilon=1, core=[0, 0], signs=signs).on_grid(1)
    for move, cost in (([1, 1], 1), ([s, s], 1), ([s + 1, s], 2), ([0, 3 * s], 3), ([0, 0], 0)):
        assert law.loss(move) == cost
    crossing = [s, -s]
    assert law.loss(crossing) == (1 if signs == "any" else 2)


# -- mutants ---------------------------------------------------------------------------------------


def staircase_levels(delta: int, d: int, level: Callable[[int], int]) -> Array:
    return np.array([level(abs(k)) for k in range(-8 * delta, 8 * delta + 1)])


def test_mutant_exponent_off_by_one_is_caught() -> None:
    """As printed: the first ring keeps the core's density, so the law is no longer normalised and
    the second sensitivity costs nothing; normalised anew it is the law of core d + Δ."""
    delta, d = 10, 4
    right = staircase_levels(delta, d, lambda k: max(0, -(-(k - d + 1) // delta)))
    printed = staircase_levels(delta, d, lambda k: max(0, -(-(k - d + 1) // delta) - 1))
    law: Any = Optimal(sensitivity=delta, epsilon=1, d=d).on_grid(1)
    k = np.arange(-8 * delta, 8 * delta + 1)
    seen = levels_from_masses(law.mass(k), law.mass(0), 1)
    assert np.array_equal(seen, right)
    assert not np.array_equal(seen, printed)
    weights = np.exp(-printed.astype(float))
    assert (law.mass(0) * weights).sum() > 1.3  # with the stated M₀ the printed law exceeds 1
    # the other off-by-one, a step two levels deep at the core's edge, costs 2ε
    deep = staircase_levels(delta, d, lambda k: 0 if k < d else 1 - (-(k - d + 1) // delta))
    assert max(worst_rise(right, s) for s in range(1, delta + 1)) == 1
    assert max(worst_rise(deep, s) for s in range(1, delta + 1)) == 2


def test_mutant_core_one_step_wider_than_the_period_is_caught() -> None:
    """Rings of Δ−1 steps instead of Δ: some shift within Δ crosses two of them."""
    delta, d = 10, 4
    narrow = staircase_levels(delta, d, lambda k: max(0, -(-(k - d + 1) // (delta - 1))))
    assert max(worst_rise(narrow, s) for s in range(1, delta + 1)) == 2


def test_mutant_staircase_on_an_l1_budget_costs_twice_epsilon() -> None:
    """A histogram under replace: one cell −1, another +1, L1 sensitivity 2, staircase each."""
    epsilon = 1
    staircase: Any = Optimal(sensitivity=2, epsilon=epsilon).on_grid(1)
    laplace = DiscreteLaplace(sensitivity=2, epsilon=epsilon)

    def joint(law: Any, move: tuple[int, int]) -> float:
        k = np.arange(-30, 31)
        logs = np.log(law.mass(k))
        per = [np.abs(np.log(law.mass(k + t)) - logs).max() for t in move]
        return float(sum(per))

    assert joint(laplace, (1, -1)) == pytest.approx(epsilon)
    assert joint(staircase, (1, -1)) == pytest.approx(2 * epsilon)
    clusters = sum(staircase.loss(t) for t in [1] * 20)
    assert clusters == pytest.approx(20 * epsilon)


def test_mutant_same_sign_ball_for_mixed_signs_costs_twice_epsilon() -> None:
    """Differences of both signs need the box: a move (s, −s) crosses two same-sign balls."""
    s = (3, 3)
    same: Any = OptimalBox(sensitivities=s, epsilon=1, signs="same").on_grid(1)
    points = lattice(12, 2)

    def worst(law: Any) -> int:
        levels = law.level(points)
        return max(
            int(np.abs(law.level(points + np.array(t)) - levels).max()) for t in moves(s, "any")
        )

    assert worst(same) == 2
    assert same.loss([3, -3]) == pytest.approx(2)
    assert worst(OptimalBox(sensitivities=s, epsilon=1).on_grid(1)) == 1


def test_mutant_that_keeps_minus_zero_is_caught() -> None:
    """Zero twice as likely: the loss between 0 and its neighbour in the core becomes ln 2."""
    law: Any = Optimal(sensitivity=10, epsilon="0.1").on_grid(1)
    k = np.arange(-40, 41)
    twice = np.where(k == 0, 2, 1) * law.mass(k)
    twice /= twice.sum()
    right, wrong = np.log(law.mass(k)), np.log(twice)
    assert np.abs(np.diff(right)).max() == pytest.approx(0.1)
    assert np.abs(np.diff(wrong)).max() == pytest.approx(math.log(2))
    with pytest.raises(AssertionError):
        levels_from_masses(twice, float(twice[41]), 0.1)


def test_mutant_that_forgets_to_round_the_sensitivity_up_is_caught() -> None:
    """Δ = 2.5 steps cut to 2: a shift by 3 steps, which rounding can make of 2.5, costs 2ε."""
    right: Any = Optimal(sensitivity="2.5", epsilon=1).on_grid(1)
    wrong = OptimalSteps(delta=2, d=1, epsilon=Fraction(1), grid=Fraction(1))
    assert right.loss(3) == 1
    assert wrong.loss(3) == 2
