"""The step-shaped law, real and on whole steps."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from tenue.errors import Refused
from tenue.noise import DiscreteLaplace, Laplace, Optimal, Seeded
from tenue.noise.optimal_steps import OptimalSteps

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


# The staircase on whole steps: its best cores by trying all of them, its tails, its limits.


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
