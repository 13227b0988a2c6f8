"""The staircase on whole steps: its best cores by trying all of them, its tails, its limits."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.errors import Refused
from tenue.noise import DiscreteLaplace, Optimal, Seeded
from tenue.noise.optimal_steps import OptimalSteps


def plain_masses(delta: int, d: int, epsilon: float) -> Any:
    """e^(-ε·level) on |k|, normalised, straight from the definition."""
    reach = math.ceil(45 / epsilon) * delta + d
    k = np.arange(-reach, reach + 1)
    weights = np.exp(-epsilon * np.maximum(0, -(-(np.abs(k) - d + 1) // delta)))
    return k, weights / weights.sum()


def cost(delta: int, d: int, epsilon: float, minimise: Any) -> float:
    k, mass = plain_masses(delta, d, epsilon)
    if minimise == "variance":
        return float((k**2 * mass).sum())
    if minimise == "absolute-error":
        return float((np.abs(k) * mass).sum())
    inside = np.cumsum(np.where(k[k.size // 2 :] == 0, 1, 2) * mass[k.size // 2 :])
    return float(np.argmax(inside >= float(minimise[1]) - 1e-13))


@pytest.mark.parametrize("seed", range(25))
def test_the_core_found_is_the_best_of_all(seed: int) -> None:
    rng = random.Random(seed)
    delta = rng.randint(1, 40)
    epsilon = f"{10 ** rng.uniform(-1, 1):.3g}"
    minimise: Any = rng.choice(
        ["variance", "absolute-error", ("interval", f"{rng.uniform(0.05, 0.99):.2f}")]
    )
    law: Any = Optimal(sensitivity=delta, epsilon=epsilon, minimise=minimise).on_grid(1)
    costs = [cost(delta, d, float(epsilon), minimise) for d in range(1, delta + 1)]
    assert costs[law.d_steps - 1] <= min(costs) * (1 + 1e-9)


def test_the_example_of_soundness() -> None:
    assert Optimal(sensitivity=10, epsilon=1).on_grid(1).d_steps == 5


@pytest.mark.parametrize("delta", [3000, 10**5, 1 << 20])
@pytest.mark.parametrize("epsilon", ["0.01", "1", "9", "30"])
@pytest.mark.parametrize("minimise", ["variance", "absolute-error"])
def test_long_periods_are_searched_near_the_right_place(
    delta: int, epsilon: str, minimise: str
) -> None:
    """Cores far from the one found are worse: a thinned scan of the whole range."""
    law: Any = Optimal(sensitivity=delta, epsilon=epsilon, minimise=minimise).on_grid(1)
    mine = law.variance if minimise == "variance" else law.mean_absolute_error
    near = range(max(1, law.d_steps - 3), min(delta, law.d_steps + 3) + 1)
    for d in {*near, *np.unique(np.geomspace(1, delta, 60).astype(int)).tolist()}:
        other = OptimalSteps(delta=delta, d=d, epsilon=law.epsilon, grid=Fraction(1))
        theirs = other.variance if minimise == "variance" else other.mean_absolute_error
        assert mine <= theirs * (1 + 1e-12)


@pytest.mark.parametrize(("delta", "d"), [(1, 1), (5, 1), (5, 3), (5, 5), (12, 7)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)])
def test_masses_moments_and_tails_are_those_of_the_definition(
    delta: int, d: int, epsilon: Fraction
) -> None:
    law = OptimalSteps(delta=delta, d=d, epsilon=epsilon, grid=Fraction(1))
    k, mass = plain_masses(delta, d, float(epsilon))
    assert law.mass(k) == pytest.approx(mass, rel=1e-11)
    assert law.variance == pytest.approx(float((k**2 * mass).sum()), rel=1e-11)
    q, zero = math.exp(-float(epsilon)), law.mass(0)
    for i in range(1, 9):
        beyond = 2 * law.cdf(-i * delta)
        assert beyond == pytest.approx(q**i * (1 + zero), rel=1e-11)  # P(|Y| ≥ iΔ)


def test_one_step_is_discrete_laplace() -> None:
    for epsilon in ("0.2", "1", "4"):
        law: Any = Optimal(sensitivity=1, epsilon=epsilon).on_grid(1)
        other = DiscreteLaplace(sensitivity=1, epsilon=epsilon)
        assert law.mass(range(20)) == pytest.approx(other.mass(range(20)), rel=1e-13)


@pytest.mark.parametrize(
    ("sensitivity", "grid", "delta"),
    [(1, "0.1", 10), (1, "0.3", 4), ("0.7", 1, 1), ("0.07", "0.01", 7), (5, 5, 1), (5, 2, 3)],
)
def test_sensitivity_is_rounded_up_to_whole_steps(sensitivity: Any, grid: Any, delta: int) -> None:
    law: Any = Optimal(sensitivity=sensitivity, epsilon=1).on_grid(grid)
    assert law.delta_steps == delta
    assert law.sensitivity == delta * Fraction(str(grid))


def test_a_given_core_is_kept_and_clamped() -> None:
    for d, steps in ((0, 1), ("0.05", 1), ("0.1", 1), ("0.11", 2), ("0.95", 10), (1, 10)):
        law: Any = Optimal(sensitivity=1, epsilon=1, d=d).on_grid("0.1")
        assert law.d_steps == steps
        assert law.d == steps * Fraction(1, 10)


@pytest.mark.parametrize(
    ("sensitivity", "epsilon", "grid"),
    [
        (2**53, "1e-4", 1),
        (2**50, "1e-6", 1),
        (2**30, "1e-12", 1),
        (1, "1e-12", Fraction(1, 1 << 30)),
        (10**18, 1, 1),
    ],
)
def test_noise_that_does_not_fit_the_integers_is_refused_not_wrapped(
    sensitivity: Any, epsilon: str, grid: Any
) -> None:
    """Δ·G beyond 2^63 wraps around silently: the draws would no longer follow the law."""
    with pytest.raises(Refused):
        Optimal(sensitivity=sensitivity, epsilon=epsilon).on_grid(grid).steps(10, Seeded(1))


@pytest.mark.parametrize("epsilon", ["1e-12", "1e-11", "1e-10", "1e-9", "1e-7", "1e-4"])
def test_whatever_is_drawn_has_room_for_sixty_scales(epsilon: str) -> None:
    """Sixty scales are exceeded with probability e^-60."""
    law = Optimal(sensitivity=1, epsilon=epsilon)
    try:
        steps: Any = law.on_grid(law.sampling_grid)
        steps.steps(10, Seeded(1))
    except Refused:
        return
    assert steps.delta_steps * 60 / float(epsilon) < 2**62


class Scripted:
    """Gives the words it was told to, in order."""

    safe = False

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def words(self, count: int, bits: int = 64) -> Any:
        taken, self.left = self.left[:count], self.left[count:]
        assert len(taken) == count, "more words were asked for than the script holds"
        return np.array(taken, dtype=f"u{bits // 8}")


def test_a_script_walks_through_a_long_period() -> None:
    """Core or ring, then the place inside it from its first to its last, then periods, sign."""
    law = OptimalSteps(delta=2048 + 4096, d=2048, epsilon=Fraction(1), grid=Fraction(1))
    core, ring = 0, 0xFFFF
    none, one = 0, 0xB000  # first bits of no period, and of one: P(G = 0) = 0.63, P(G ≤ 1) = 0.86
    plus, minus = 0, 0x80
    for script, value in (
        ((core, 0, none, plus), 0),
        ((core, 2047, none, plus), 2047),
        ((core, 2047, none, minus), -2047),
        ((ring, 0, none, plus), 2048),
        ((ring, 4095, none, plus), 6143),
        ((ring, 4095, one, minus), -6143 - 6144),
        ((core, 0, one, minus), -6144),
        ((core, 0, none, minus, core, 5, none, plus), 5),  # −0 is drawn again
    ):
        source = Scripted(*script)
        assert law.steps(1, source).tolist() == [value]
        assert source.left == []


@pytest.mark.parametrize("delta", [2**40, 2**52])
def test_the_longest_periods_are_drawn_evenly(delta: int) -> None:
    law: Any = Optimal(sensitivity=delta, epsilon=3).on_grid(1)
    drawn = np.abs(law.steps(4000, Seeded(3)))
    assert np.mean(drawn) == pytest.approx(law.mean_absolute_error, rel=0.15)
    assert len(set((drawn % 64).tolist())) == 64
