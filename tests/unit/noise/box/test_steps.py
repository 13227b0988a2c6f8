"""The shaped noise on whole steps: masses, intervals, and the choice of a ball."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from lattice import box_margin, same_margin
from tenue.errors import Fault, Refused
from tenue.noise import OptimalBox, Seeded
from tenue.noise.box.steps import OptimalBoxSteps


def law_of(s: list[int], core: list[int], epsilon: Any, signs: Any = "any") -> Any:
    return OptimalBox(sensitivities=s, epsilon=epsilon, core=core, signs=signs).on_grid(1)


def moments(margin: Any) -> tuple[float, float]:
    k = np.arange(margin.size)
    return float((k * margin).sum()), float((k**2 * margin).sum())


@pytest.mark.parametrize("epsilon", ["0.2", "1", "5"])
@pytest.mark.parametrize(
    ("s", "core"),
    [([1, 1], [0, 0]), ([5, 5], [0, 4]), ([5, 5], [4, 0]), ([2, 9, 4], [1, 0, 6])],
)
def test_box_errors_and_intervals_are_those_of_the_counted_margins(
    s: list[int], core: list[int], epsilon: str
) -> None:
    law = law_of(s, core, epsilon)
    for j in range(len(s)):
        margin = box_margin(s, core, j, float(epsilon))
        size, square = moments(margin)
        assert law.mean_absolute_error[j] == pytest.approx(size, rel=1e-9)
        assert law.variance[j] == pytest.approx(square, rel=1e-9)
        inside = np.cumsum(margin)
        for level in (0.5, 0.9, 0.95, 0.999):
            assert law.interval(str(level))[j][1] == int(np.argmax(inside >= level - 1e-12))


@pytest.mark.parametrize("epsilon", ["0.2", "1", "5"])
@pytest.mark.parametrize(("s", "d", "core"), [(1, 2, 0), (4, 3, 3), (2, 20, 1), (10, 1, 3)])
def test_same_sign_errors_and_intervals_are_those_of_the_counted_margins(
    s: int, d: int, core: int, epsilon: str
) -> None:
    law = law_of([s] * d, [core] * d, epsilon, "same")
    margin = same_margin(s, d, core, float(epsilon))
    size, square = moments(margin)
    assert law.mean_absolute_error[0] == pytest.approx(size, rel=1e-9)
    assert law.variance == pytest.approx([square] * d, rel=1e-9)
    inside = np.cumsum(margin)
    for level in (0.5, 0.9, 0.95, 0.999):
        exact = int(np.argmax(inside >= level - 1e-12))
        assert law.interval(str(level))[0][1] == exact


@pytest.mark.parametrize("signs", ["any", "same"])
@pytest.mark.parametrize(("s", "core"), [([1, 1], [0, 0]), ([2, 3], [0, 0]), ([2, 2], [1, 1])])
def test_distribution_and_quantiles_are_sums_of_masses(
    s: list[int], core: list[int], signs: Any
) -> None:
    law = law_of(s, core, 2, signs)
    reach = 60
    side = np.arange(-reach, reach + 1)
    points = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1)
    masses = law.mass(points)
    for x in [(0, 0), (-1, 2), (3, -4), (2.5, 1.5), (-70, 70), (50, 50)]:
        below = (points <= np.array(x)).all(axis=-1)
        assert law.cdf(x) == pytest.approx(float(masses[below].sum()), abs=1e-9)
    for j in (0, 1):
        marginal = np.cumsum(masses.sum(axis=1 - j))
        for q in (0.001, 0.2, 0.4999, 0.5, 0.6, 0.95, 0.9999):
            assert law.quantile(q)[j] == side[int(np.argmax(marginal >= q))]


@pytest.mark.parametrize("signs", ["any", "same"])
def test_the_distribution_of_long_sensitivities_is_the_continuous_one(signs: Any) -> None:
    law = OptimalBox(sensitivities=[10**9, 10**9], epsilon=1, signs=signs)
    for x in ([10**9, -(10**9)], [0, 0], [3 * 10**9, 10**8]):
        assert law.on_grid(1).cdf(x) == pytest.approx(law.cdf(x), abs=1e-3)
    with pytest.raises(Refused, match="components"):
        law.on_grid(1).cdf([1])


@pytest.mark.parametrize("s", [10**4, 10**7, 10**10, 10**13])
@pytest.mark.parametrize("signs", ["any", "same"])
def test_intervals_of_long_sensitivities_tend_to_the_continuous_ones(s: int, signs: Any) -> None:
    law = OptimalBox(sensitivities=[s, s, s], epsilon=1, signs=signs)
    for level in ("0.5", "0.95"):
        told = law.on_grid(1).interval(level)[0][1]
        assert told == pytest.approx(law.interval(level)[0][1], rel=3e-3)


@pytest.mark.parametrize(("s", "epsilon"), [([3, 5], 1), ([7, 11], "0.2"), ([90, 97, 100], 2)])
def test_uneven_same_sign_intervals_hold_their_level_with_little_to_spare(
    s: list[int], epsilon: Any
) -> None:
    """Not always the shortest on the grid, but never too short, and at most 1 % too long."""
    law: Any = OptimalBox(sensitivities=s, epsilon=epsilon, signs="same").on_grid(1)
    drawn = np.sort(np.abs(law.steps(60_000, Seeded(6))), axis=0)
    for level in (0.5, 0.95):
        for j, (_, high) in enumerate(law.interval(str(level))):
            inside = float((drawn[:, j] <= high).mean())
            narrower = float((drawn[:, j] <= high * 0.98 - 1).mean())
            assert inside >= level - 0.012  # Hoeffding at 1e-7
            assert narrower <= level + 0.012


@pytest.mark.parametrize(
    ("dimension", "epsilon"), [(30, "0.01"), (60, "1"), (100, "0.01"), (100, "1e-4"), (200, "1")]
)
@pytest.mark.parametrize("signs", ["any", "same"])
def test_intervals_in_many_dimensions_are_numbers(dimension: int, epsilon: str, signs: Any) -> None:
    law = OptimalBox(
        sensitivities=[1] * dimension, epsilon=epsilon, core=[0] * dimension, signs=signs
    )
    told = law.on_grid(1).interval("0.95")[0][1]
    assert told == pytest.approx(law.marginal(0).interval("0.95")[1], rel=0.03, abs=2)


def test_the_mass_of_a_vector_needs_whole_numbers_of_the_right_shape() -> None:
    law = law_of([1, 2], [0, 0], 1)
    assert law.mass([0, 0]) == law.mass(np.array([0, 0]))
    assert law.mass([[0, 0], [1, 1]]).shape == (2,)
    for steps in ([0], [0, 0, 0], 0, [0.0, 0.0], ["0", "0"], None, [[0], [1]]):
        with pytest.raises(Refused):
            law.mass(steps)


@pytest.mark.parametrize("shift", [1, None, "11", [1], [1, 2, 3], [1, "x"], [1, float("nan")]])
def test_shifts_of_a_wrong_shape_are_refused(shift: Any) -> None:
    for law in (law_of([1, 2], [0, 0], 1), OptimalBox(sensitivities=[1, 2], epsilon=1)):
        with pytest.raises(Refused):
            law.loss(shift)


def test_balls_that_are_no_mixture_are_a_fault_not_a_wrong_draw() -> None:
    """The sampler's premise is checked: shrinking counts would make weights negative."""

    class Shrinking:
        sensitivities = (1, 1)
        closed_form = True

        def count(self, i: int) -> int:
            return 10 - i * i

    law = OptimalBoxSteps(ball=Shrinking(), epsilon=Fraction(1), grids=[Fraction(1)] * 2)  # type: ignore[arg-type]
    with pytest.raises(Fault):
        law.steps(1, Seeded(1))


def test_the_choice_of_balls_has_the_weights_of_their_counts() -> None:
    """Coefficient k plus k+1 geometrics, worked out, is e^-εi·#ball(i): 40 balls, exactly."""
    for signs in ("any", "same"):
        law = law_of([2, 2, 2], [1, 1, 1], 1, signs)
        edges = [0, *law.tables.thresholds.tolist(), 1 << 64]
        choose = [(b - a) / 2**64 for a, b in itertools.pairwise(edges)]
        q = math.exp(-1)
        mine = []
        for i in range(40):
            # k + sum of k+1 geometrics = i: C(i, k) ways, q^(i−k)·(1−q)^(k+1) each
            mine.append(
                sum(
                    c * math.comb(i, k) * q ** (i - k) * (1 - q) ** (k + 1)
                    for k, c in enumerate(choose)
                )
            )
        counts = np.array([law.ball.count(i) for i in range(200)], dtype=float)
        weights = counts * np.exp(-np.arange(200.0))
        assert mine == pytest.approx((weights / weights.sum())[:40], rel=1e-9)


@pytest.mark.parametrize(
    ("s", "epsilon"), [(2**50, "1e-4"), (2**53, "0.01"), (10**12, "1e-7"), (1, "1e-18")]
)
@pytest.mark.parametrize("signs", ["any", "same"])
def test_noise_beyond_the_integers_is_refused(s: int, epsilon: str, signs: Any) -> None:
    with pytest.raises(Refused):
        law_of([s, s], [0, 0], epsilon, signs).steps(1, Seeded(1))


def test_twenty_uneven_components_draw() -> None:
    s = [1 + j % 7 for j in range(20)]
    for signs in ("any", "same"):
        law: Any = OptimalBox(
            sensitivities=s,
            epsilon=4,
            core=[0] * 20,
            signs=signs,  # type: ignore[arg-type]
        ).on_grid(1)
        drawn = law.steps(500, Seeded(9))
        assert drawn.shape == (500, 20)
        assert (law.level(drawn) < 40).all()
        spread = np.abs(drawn).mean(axis=0) / np.array(s)
        assert spread.max() < 1.4 * spread.min()
