"""What every law of noise must keep, run on every law.

Three groups: continuous laws of one answer, integer laws of one answer, laws of a vector.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.noise import (
    DiscreteGaussian,
    DiscreteLaplace,
    HeavyTail,
    IndependentLaplace,
    Laplace,
    Optimal,
    OptimalBox,
    Seeded,
)

CONTINUOUS: dict[str, Callable[[], Any]] = {
    "laplace": lambda: Laplace(sensitivity=2, epsilon="0.7"),
    "laplace, narrow": lambda: Laplace(sensitivity="1e-9", epsilon=20),
    "optimal, variance": lambda: Optimal(sensitivity=1, epsilon=1),
    "optimal, absolute error": lambda: Optimal(
        sensitivity=3, epsilon="0.4", minimise="absolute-error"
    ),
    "optimal, interval": lambda: Optimal(sensitivity=1, epsilon=2, minimise=("interval", "0.9")),
    "optimal, d": lambda: Optimal(sensitivity=10, epsilon="1.5", d="2.5"),
    "optimal, d = 0": lambda: Optimal(sensitivity=1, epsilon=1, d=0),
    "optimal, large epsilon": lambda: Optimal(sensitivity=1, epsilon=30),
    **{
        f"heavy tail, {gamma}": lambda gamma=gamma: HeavyTail(
            gamma=gamma, smooth_sensitivity="0.5", epsilon=1
        )
        for gamma in range(2, 7)
    },
}

ON_GRID: dict[str, Callable[[], Any]] = {
    "discrete laplace": lambda: DiscreteLaplace(sensitivity=1, epsilon=1),
    "discrete laplace, sharp": lambda: DiscreteLaplace(sensitivity=1, epsilon=8),
    "discrete laplace, wide": lambda: DiscreteLaplace(sensitivity=40, epsilon="0.5"),
    "discrete laplace, decimal grid": lambda: DiscreteLaplace(
        sensitivity="0.7", epsilon=1, grid="0.07"
    ),
    "discrete laplace, coarse grid": lambda: DiscreteLaplace(sensitivity=1, epsilon=1, grid=50),
    "discrete laplace, from laplace": lambda: Laplace(sensitivity=1, epsilon=1).on_grid(
        Fraction(1, 128)
    ),
    "discrete laplace, fine grid": lambda: Laplace(sensitivity=1, epsilon=500).on_grid(
        Fraction(1, 1 << 20)
    ),
    "discrete gaussian": lambda: DiscreteGaussian(sigma=1),
    "discrete gaussian, narrow": lambda: DiscreteGaussian(sigma="0.3"),
    "discrete gaussian, cells": lambda: DiscreteGaussian(sensitivity=700, rho="0.05"),
    "discrete gaussian, decimal grid": lambda: DiscreteGaussian(
        sensitivity="0.7", rho="0.02", grid="0.07"
    ),
    "optimal": lambda: Optimal(sensitivity=10, epsilon=1).on_grid(1),
    "optimal, one step": lambda: Optimal(sensitivity=1, epsilon=1).on_grid(1),
    "optimal, d = 7": lambda: Optimal(sensitivity=7, epsilon="0.8", d=7).on_grid(1),
    "optimal, interval": lambda: Optimal(
        sensitivity=6, epsilon="1.3", minimise=("interval", "0.95")
    ).on_grid(1),
    "optimal, decimal grid": lambda: Optimal(sensitivity=1, epsilon=2).on_grid("0.07"),
    "optimal, long period": lambda: Optimal(sensitivity=1500, epsilon=4).on_grid(1),
    **{
        f"heavy tail, {gamma}": lambda gamma=gamma: HeavyTail(
            gamma=gamma, smooth_sensitivity=1, epsilon=2
        ).on_grid(1)
        for gamma in range(2, 7)
    },
    "heavy tail, within one step": lambda: HeavyTail(
        gamma=5, smooth_sensitivity=1, epsilon=1
    ).on_grid(64),
    "heavy tail, many steps": lambda: HeavyTail(gamma=4, smooth_sensitivity=1, epsilon=1).on_grid(
        Fraction(1, 32)
    ),
}

VECTOR: dict[str, Callable[[], Any]] = {
    "box": lambda: OptimalBox(sensitivities=[1, 1], epsilon=1, core=[0, 0]),
    "box, unequal": lambda: OptimalBox(sensitivities=[2, 3], epsilon="1.5", core=[1, 0]),
    "box, equal but for the core": lambda: OptimalBox(sensitivities=[4, 4], epsilon=2, core=[0, 3]),
    "box, found": lambda: OptimalBox(sensitivities=[3, 5], epsilon=2),
    "box, three": lambda: OptimalBox(sensitivities=[1, 2, 1], epsilon=3, core=[0, 1, 0]),
    "box, one": lambda: OptimalBox(sensitivities=[5], epsilon=1, core=[2]),
    "same": lambda: OptimalBox(sensitivities=[1, 1], epsilon=1, core=[0, 0], signs="same"),
    "same, wider": lambda: OptimalBox(sensitivities=[3, 3], epsilon=2, core=[1, 1], signs="same"),
    "same, unequal": lambda: OptimalBox(sensitivities=[2, 3], epsilon="1.5", signs="same"),
    "same, three": lambda: OptimalBox(sensitivities=[1, 2, 1], epsilon=3, signs="same"),
    "same, one": lambda: OptimalBox(sensitivities=[4], epsilon=1, core=[1], signs="same"),
}

LEVELS = ("0.05", "0.5", "0.9", "0.95", "0.99", "0.9999")
EXTREMES = (0.0, -0.0, 5e-324, -5e-324, 1e-300, 1e15, 1e100, -1e308, 1e308, math.inf, -math.inf)


def every(laws: dict[str, Callable[[], Any]]) -> Any:
    return pytest.mark.parametrize("law", [pytest.param(laws[n](), id=n) for n in laws])


def heavy(law: Any) -> bool:
    return hasattr(law, "gamma")


# -- integer laws of one answer --------------------------------------------------------------------


def reach_of(law: Any) -> int:
    """So many steps that the rest is nothing, or (heavy tails) is known by its leading term."""
    return 1 << 20 if heavy(law) else int(float(law.quantile("1e-14") / law.grid) * -1) + 5


@pytest.fixture(scope="module")
def masses() -> Callable[[Any], Any]:
    known: dict[int, Any] = {}

    def of(law: Any) -> Any:
        if id(law) not in known:
            known[id(law)] = (law, law.mass(np.arange(-reach_of(law), reach_of(law) + 1)))
        return known[id(law)][1]

    return of


def tail_of(law: Any, power: int) -> float:
    """Σ |k|^power·mass beyond the reach, for heavy tails: the leading term, midpoint rule."""
    if not heavy(law):
        return 0.0
    reach, order = reach_of(law), law.gamma - power
    return float(
        2 * law.mass(reach) * reach**law.gamma / (order - 1) / (reach + 0.5) ** (order - 1)
    )


@every(ON_GRID)
def test_masses_sum_to_one_and_are_symmetric(law: Any, masses: Any) -> None:
    all_of = masses(law)
    assert all_of.sum() + tail_of(law, 0) == pytest.approx(1, abs=1e-11)
    assert (all_of == all_of[::-1]).all()
    assert (all_of > 0).all()
    assert law.mass(0.5) == 0
    assert isinstance(law.mass(3), float)


@every(ON_GRID)
def test_moments_are_sums_of_masses(law: Any, masses: Any) -> None:
    k = np.abs(np.arange(-reach_of(law), reach_of(law) + 1)).astype(float)
    grid = float(law.grid)
    for power, told in ((1, law.mean_absolute_error / grid), (2, law.variance / grid**2)):
        if heavy(law) and law.gamma <= power + 1:
            assert told == math.inf
        else:
            total = (masses(law) * k**power).sum() + tail_of(law, power)
            assert told == pytest.approx(total, rel=1e-8)


@every(ON_GRID)
def test_distribution_function_steps_by_the_masses(law: Any) -> None:
    ks = [*range(-40, 41), 1000, -1000, 10**5]
    values = [float(k * law.grid) for k in ks]
    before = [float((k - 1) * law.grid) for k in ks]
    assert law.cdf(values) - law.cdf(before) == pytest.approx(law.mass(ks), abs=2e-15, rel=1e-9)
    between = [float((k + Fraction(2, 5)) * law.grid) for k in ks]
    assert (law.cdf(between) == law.cdf(values)).all()
    mirrored = [float(-(k + 1) * law.grid) for k in ks]
    assert law.cdf(values) + law.cdf(mirrored) == pytest.approx(1, abs=1e-14)
    assert isinstance(law.cdf(0), float)


@every(ON_GRID)
def test_distribution_function_knows_every_multiple_of_its_grid(law: Any) -> None:
    """A multiple as the double nearest to it counts as the multiple, not as the step below."""
    k = np.arange(1, 3000)
    values = np.array([float(int(n) * law.grid) for n in k])
    expected = law.cdf(0.0) + np.cumsum(law.mass(k))
    assert law.cdf(values) == pytest.approx(expected, abs=1e-12)


@every(ON_GRID)
def test_value_masses_know_every_draw(law: Any) -> None:
    """pmf of what `sample` gave is the mass of its step, whatever decimal prints the double."""
    steps = law.steps(200, Seeded(5))
    values = law.sample(200, Seeded(5))
    assert law.pmf(values) == pytest.approx(law.mass(steps), rel=1e-12)
    assert law.pmf(float(law.grid) * 0.4) == 0


@every(ON_GRID)
def test_quantiles_invert_the_distribution_function(law: Any) -> None:
    for q in ("1e-9", "0.001", "0.2", "0.4999", "0.5", "0.77", "0.999", "0.999999"):
        x = law.quantile(q)
        step = round(Fraction(x) / law.grid)
        assert law.cdf(x) >= float(q) * (1 - 1e-12)
        assert law.cdf(float((step - 1) * law.grid)) < float(q) * (1 + 1e-12)


@every(ON_GRID)
def test_quantiles_mirror_each_other_far_out(law: Any) -> None:
    """With q so small that 1 − q is 1 in double precision; no mass equals q exactly."""
    q = Fraction(1, 3 * 10**18)
    if not heavy(law):
        assert law.quantile(1 - q) == pytest.approx(-law.quantile(q))


@every(ON_GRID)
def test_intervals_hold_their_level_and_are_the_shortest(law: Any, masses: Any) -> None:
    zero = reach_of(law)
    for level in LEVELS:
        low, high = law.interval(level)
        m = round(Fraction(high) / law.grid)
        assert low == -high
        assert high == float(m * law.grid)
        inside = masses(law)[zero - m : zero + m + 1].sum()
        assert inside >= float(level) - 1e-12
        if m:
            assert inside - 2 * law.mass(m) < float(level) + 1e-12


@every(ON_GRID)
def test_loss_is_the_largest_log_ratio_of_masses(law: Any) -> None:
    if isinstance(law, DiscreteGaussian):
        assert law.loss(law.grid) == law.loss(law.grid / 3) == math.inf
        assert law.loss(0) == 0
        return
    reach = 4000
    k = np.arange(-reach, reach + 1)
    logs = np.log(law.mass(k)) if law.mass(reach) > 0 else None
    for shift in (1, 2, 3, 4, 5, 9, 10, 11, 19, 20, 21, 50):
        told = law.loss(shift * law.grid)
        assert told == law.loss(-shift * law.grid)
        if logs is not None:
            seen = np.abs(logs[shift:] - logs[:-shift]).max()
        else:  # light tails that underflow: the inner part attains it
            inner = np.log(law.mass(np.arange(-60, 61)))
            seen = np.abs(inner[shift:] - inner[:-shift]).max()
        assert told == pytest.approx(float(seen), rel=1e-9, abs=1e-12)
    assert law.loss(0) == 0
    assert law.loss(law.grid / 3) == math.inf


@every(ON_GRID)
def test_draws_are_multiples_of_the_grid(law: Any) -> None:
    steps = law.steps(300, Seeded(11))
    values = law.sample(300, Seeded(11))
    assert steps.dtype == np.int64
    assert steps.shape == values.shape == (300,)
    if law.grid.denominator == 1:
        assert values.dtype == np.int64
    for step, value in zip(steps.tolist(), values.tolist(), strict=True):
        assert value == float(step * law.grid)
    one = law.sample(source=Seeded(11))
    assert type(one) is (int if law.grid.denominator == 1 else float)
    assert type(law.steps(source=Seeded(11))) is int
    assert law.sample(0).shape == (0,)
    assert law.sample(1).shape == (1,)


@every(ON_GRID)
def test_a_law_on_a_grid_stays_there(law: Any) -> None:
    again = law.on_grid(law.grid)
    assert again.mass(range(5)) == pytest.approx(law.mass(range(5)), rel=0)


@every(ON_GRID)
def test_extreme_arguments_give_numbers_and_no_warning(law: Any) -> None:
    for x in EXTREMES:
        assert 0 <= law.cdf(x) <= 1
        assert 0 <= law.mass(x) <= 1
    assert law.cdf(-math.inf) == 0
    assert law.cdf(math.inf) == 1
    assert law.mass(math.inf) == 0
    assert (np.diff(law.cdf(sorted(EXTREMES))) >= 0).all()
    for shift in ("1e-300", 10**15, "1e200", -(10**12)):
        assert law.loss(shift) >= 0


# -- continuous laws of one answer -----------------------------------------------------------------

NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)


def integral(f: Callable[[Any], Any], cuts: Sequence[float]) -> float:
    """Gauss on each piece between the cuts."""
    total = 0.0
    for low, high in itertools.pairwise(cuts):
        half = (high - low) / 2
        total += half * float((WEIGHTS * f(low + half + half * NODES)).sum())
    return total


def pieces(law: Any) -> list[float]:
    """Cuts from 0 to where nothing is left, at every step of a density that has steps."""
    if isinstance(law, Optimal):
        last = math.ceil(45 / float(law.epsilon)) + 2
        return [0.0, law.d, *(law.d + i * float(law.sensitivity) for i in range(1, last))]
    unit = law.scale
    if isinstance(law, HeavyTail):
        return [0.0, *(unit * 1.3**n for n in range(-20, 90))]
    return [unit * n / 2 for n in range(90)]


@every(CONTINUOUS)
def test_density_is_symmetric_and_integrates_to_the_distribution_function(law: Any) -> None:
    cuts = pieces(law)
    x = np.linspace(0, cuts[len(cuts) // 2], 101)
    assert (law.pdf(x) == law.pdf(-x)).all()
    assert law.cdf(x) + law.cdf(-x) == pytest.approx(1, abs=1e-13)
    for low, high in itertools.pairwise(cuts[: 40 if len(cuts) > 40 else None]):
        gained = law.cdf(high) - law.cdf(low)
        assert integral(law.pdf, [low, high]) == pytest.approx(gained, rel=1e-7, abs=1e-12)
    rest = 2 * law.cdf(-cuts[-1])
    assert 2 * integral(law.pdf, cuts) + rest == pytest.approx(1, abs=1e-9)
    assert isinstance(law.pdf(0), float)


@every(CONTINUOUS)
def test_moments_are_integrals(law: Any) -> None:
    cuts = pieces(law)
    for power, told in ((1, law.mean_absolute_error), (2, law.variance)):
        if isinstance(law, HeavyTail) and law.gamma <= power + 1:
            assert told == math.inf
            continue
        total = 2 * integral(lambda x, p=power: x**p * law.pdf(x), cuts)
        if isinstance(law, HeavyTail):
            total += 2 * cuts[-1] ** (power + 1) * law.pdf(cuts[-1]) / (law.gamma - power - 1)
        assert told == pytest.approx(total, rel=1e-6 if isinstance(law, HeavyTail) else 1e-9)


@every(CONTINUOUS)
def test_continuous_quantiles_and_intervals_invert_the_distribution(law: Any) -> None:
    for q in ("1e-12", "0.001", "0.25", "0.5", "0.6", "0.99", "0.9999999"):
        x = law.quantile(q)
        assert law.cdf(x) == pytest.approx(float(q), rel=1e-9)
        assert law.quantile(1 - Fraction(q)) == pytest.approx(-x, rel=1e-6, abs=1e-300)
    for level in LEVELS:
        low, high = law.interval(level)
        assert low == -high
        assert law.cdf(high) - law.cdf(low) == pytest.approx(float(level), rel=1e-10)


@every(CONTINUOUS)
def test_levels_beyond_double_precision_are_answered_or_refused(law: Any) -> None:
    """Never a bare arithmetic error, never an endless loop."""
    from tenue.errors import Refused

    for level in (1 - Fraction(1, 10**20), 1 - Fraction(1, 10**350), Fraction(1, 10**350)):
        for ask in (law.interval, law.quantile):
            try:
                answer = ask(level)
            except Refused:
                continue
            assert not np.isnan(answer).any()


@every(CONTINUOUS)
def test_continuous_loss_is_the_largest_log_ratio(law: Any) -> None:
    """On points near every jump, and on a fine row of them where the density is smooth."""
    if isinstance(law, Optimal):
        unit, last = float(law.sensitivity), min(8, 300 / float(law.epsilon))
        jumps = np.array([law.d + i * unit for i in range(int(last))])
        x = np.concatenate([[0.0], jumps * (1 - 1e-9), jumps * (1 + 1e-9)])
        x = np.concatenate([x, -x])
    else:
        unit = float(law.sensitivity) if isinstance(law, Laplace) else law.scale / 4
        x = np.linspace(-12 * unit, 12 * unit, 60_001)
    for share in ("0.013", "0.5", "1", "1.3", "2", "3.7"):
        told = law.loss(Fraction(share) * Fraction(unit))
        ratio = np.log(law.pdf(x)) - np.log(law.pdf(x + float(share) * unit))
        seen = float(np.abs(ratio).max())
        assert seen <= told + 1e-9
        assert seen == pytest.approx(told, rel=1e-3)
    assert law.loss(0) == 0


@every(CONTINUOUS)
def test_the_integer_law_approaches_the_continuous_one(law: Any) -> None:
    """The sampling grid is fine enough that formulas of the law describe its draws."""
    grid = law.sampling_grid
    assert grid == Fraction(2) ** round(math.log2(grid))
    fine = law.on_grid(grid)
    if law.variance < math.inf:
        assert fine.variance == pytest.approx(law.variance, rel=1e-3)
    x = [law.quantile(q) for q in ("0.01", "0.3", "0.8", "0.999")]
    assert fine.cdf(x) == pytest.approx([law.cdf(v) for v in x], abs=1e-3)
    values = law.sample(50, Seeded(3))
    assert all((Fraction(v) / grid).denominator == 1 for v in values.tolist())
    assert values.tolist() == fine.sample(50, Seeded(3)).tolist()
    assert type(law.sample(source=Seeded(3))) is float


@every(CONTINUOUS)
def test_extreme_points_give_numbers_and_no_warning(law: Any) -> None:
    for x in EXTREMES:
        assert 0 <= law.cdf(x) <= 1
        assert 0 <= law.pdf(x) < math.inf
    assert law.cdf(-math.inf) == 0
    assert law.cdf(math.inf) == 1
    assert law.pdf(math.inf) == 0
    for shift in ("1e-300", 10**15, "1e200"):
        assert law.loss(shift) >= 0


# -- laws of a vector ------------------------------------------------------------------------------


def lattice(law: Any, reach: int) -> Any:
    side = np.arange(-reach, reach + 1)
    axes = np.meshgrid(*[side] * law.dimension, indexing="ij")
    return np.stack(axes, axis=-1).reshape(-1, law.dimension)


def whole_reach(law: Any) -> int:
    return math.ceil(36 / float(law.epsilon) + 3) * max(law.ball.sensitivities)


@every(VECTOR)
def test_vector_masses_sum_to_one_and_give_the_moments(law: Any) -> None:
    steps = law.on_grid(1)
    points = lattice(steps, whole_reach(steps))
    mass = steps.mass(points)
    assert mass.sum() == pytest.approx(1, abs=1e-11)
    assert np.array_equal(steps.mass(-points), mass)
    assert steps.variance == pytest.approx((mass[:, None] * points**2.0).sum(axis=0), rel=1e-9)
    assert steps.mean_absolute_error == pytest.approx(
        (mass[:, None] * np.abs(points)).sum(axis=0), rel=1e-9
    )
    assert isinstance(steps.mass([0] * law.dimension), float)


@every(VECTOR)
def test_vector_intervals_hold_their_level(law: Any) -> None:
    """The shortest on the grid where balls are counted in closed form."""
    steps = law.on_grid(1)
    points = lattice(steps, whole_reach(steps))
    mass = steps.mass(points)
    for level in ("0.5", "0.9", "0.99"):
        for j, (low, high) in enumerate(steps.interval(level)):
            assert low == -high
            inside = mass[np.abs(points[:, j]) <= high].sum()
            assert inside >= float(level) - 1e-9
            if high and steps.ball.closed_form:
                assert mass[np.abs(points[:, j]) < high].sum() < float(level) + 1e-9


@every(VECTOR)
def test_vector_loss_is_the_largest_log_ratio_of_masses(law: Any) -> None:
    steps = law.on_grid(1)
    s = steps.ball.sensitivities
    points = lattice(steps, 5 * max(s) + 2)
    logs = np.log(steps.mass(points))
    sides = [range(-2 * w, 2 * w + 1) for w in s]
    shifts = list(itertools.product(*sides))
    for shift in shifts[:: max(1, len(shifts) // 60)]:
        seen = (logs - np.log(steps.mass(points + np.array(shift)))).max()
        assert steps.loss(shift) == pytest.approx(float(seen), rel=1e-9, abs=1e-9), shift
        assert steps.loss(shift) <= law.loss(shift) + 1e-9
    assert steps.loss([0.5] * law.dimension) == math.inf


@every(VECTOR)
def test_vector_draws_are_multiples_of_the_grids(law: Any) -> None:
    grids = [Fraction(1, 8) * (j + 1) for j in range(law.dimension)]
    steps = law.on_grid(grids)
    drawn, values = steps.steps(40, Seeded(2)), steps.sample(40, Seeded(2))
    assert drawn.shape == values.shape == (40, law.dimension)
    assert drawn.dtype == np.int64
    for row, value in zip(drawn.tolist(), values.tolist(), strict=True):
        assert value == [float(k * g) for k, g in zip(row, grids, strict=True)]
    assert steps.steps(source=Seeded(2)).shape == (law.dimension,)
    assert steps.sample(source=Seeded(2)).shape == (law.dimension,)
    assert steps.sample(0).shape == (0, law.dimension)
    assert law.sample(3, Seeded(2)).shape == (3, law.dimension)
    for s, told, g in zip(law.sensitivities, steps.sensitivities, grids, strict=True):
        assert s <= told < s + g


@every(VECTOR)
def test_vector_density_times_the_volume_of_shells_is_one(law: Any) -> None:
    """Balls have volume Π 2(z_j + i·s_j), or (D+1)·Π(z_j + i·s_j) where signs agree."""
    d = law.dimension
    unit = 2**d if law.signs == "any" else d + 1
    total, inner = 0.0, 0.0
    for i in range(math.ceil(60 / float(law.epsilon))):
        half = [z + i * float(s) for z, s in zip(law.core, law.sensitivities, strict=True)]
        volume = unit * math.prod(half)
        edge = [0.0] * d  # a point of the i-th shell, on the first axis
        edge[0] = half[0] - 0.3 * float(law.sensitivities[0])
        if half[0] > 0 or i:
            point = edge if i else [0.0] * d
            total += law.pdf(point) * (volume - inner)
        inner = volume
    assert total == pytest.approx(1, rel=1e-10)


@every(VECTOR)
def test_vector_distribution_and_error_are_the_limit_of_fine_grids(law: Any) -> None:
    d = law.dimension
    per = {1: 512, 2: 20, 3: 6}[d]
    fine = law.on_grid([s / per for s in law.sensitivities])
    reach = math.ceil(per * {1: 40, 2: 14, 3: 5}[d] / min(1, float(law.epsilon) / 2))
    points = lattice(fine, reach)
    mass = fine.mass(points)
    grids = np.array([float(g) for g in fine.grids])
    spots = [[0.3] * d, [-0.7] * d, [1.6] * d, [0.2, -1.2, 0.9][:d], [-0.4, 2.5, 0.1][:d]]
    for spot in spots:
        x = np.array(spot) * [float(s) for s in law.sensitivities]
        below = mass[(points * grids <= x).all(axis=1)].sum()
        # half a cell of each axis is the lattice's own error
        assert law.cdf(x) == pytest.approx(below, abs=1.0 / per)
        assert law.cdf(x) < law.cdf(x + 0.3 * grids * per)
    assert fine.variance == pytest.approx(law.variance, rel=3.0 / per)


@every(VECTOR)
def test_vector_margins_match_the_draws_of_the_continuous_law(law: Any) -> None:
    for j in range(law.dimension):
        margin = law.marginal(j)
        x = np.linspace(0, 20 * float(law.sensitivities[j]), 20_001)
        tail = 2 * (1 - margin.cdf(x))
        spacing = x[1] - x[0]
        assert (tail * spacing).sum() == pytest.approx(law.mean_absolute_error[j], rel=5e-3)
        assert (2 * x * tail * spacing).sum() == pytest.approx(law.variance[j], rel=2e-2)
        for q in ("0.01", "0.5", "0.9"):
            assert margin.cdf(margin.quantile(q)) == pytest.approx(float(q), rel=1e-9)
            assert law.quantile(q)[j] == margin.quantile(q)
    for level in ("0.5", "0.95"):
        half = law.region(level)
        assert law.volume(level) == pytest.approx(math.prod(2 * h for h in half))


@every(VECTOR)
def test_vector_extremes_give_numbers_and_no_warning(law: Any) -> None:
    for x in EXTREMES:
        point = [x] * law.dimension
        assert 0 <= law.pdf(point) < math.inf
        assert 0 <= law.cdf(point) <= 1 + 1e-12
        assert 0 <= law.marginal(0).cdf(x) <= 1 + 1e-12
    assert law.cdf([math.inf] * law.dimension) == pytest.approx(1)
    assert law.cdf([-math.inf] * law.dimension) == 0
    far = law.on_grid(1)
    assert far.mass([10**15] * law.dimension) == 0
    assert far.loss([10**6] * law.dimension) >= float(law.epsilon)


def test_independent_laplace_is_the_laws_it_is_made_of() -> None:
    law = IndependentLaplace(scales=[2, "0.5"])
    parts = [Laplace(sensitivity=2, epsilon=1), Laplace(sensitivity="0.5", epsilon=1)]
    assert law.variance == tuple(part.variance for part in parts)
    assert law.mean_absolute_error == tuple(part.mean_absolute_error for part in parts)
    assert law.loss([3, "-0.2"]) == pytest.approx(parts[0].loss(3) + parts[1].loss("0.2"))
    for part, steps in zip(parts, law.on_grid("0.25"), strict=True):
        assert steps.mass(range(9)) == pytest.approx(part.on_grid("0.25").mass(range(9)))
