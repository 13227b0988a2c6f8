"""Is the noise what it claims? One share of the false-alarm budget for each law (see alarm.py).

A law is given by a statistic of its draws and the distribution function of that statistic, computed
here from masses or counts. The right law is accepted; the law with its scale 10 % too small and
10 % too large is rejected. The ordinary run is seeded; the long run takes fresh entropy.
"""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from alarm import (
    WRONG_SCALES,
    assert_accepted,
    assert_rejected,
    budget,
    claim,
    distance_between,
    draws_for,
)
from lattice import box_margin, same_margin
from tenue.noise import (
    DiscreteGaussian,
    DiscreteLaplace,
    HeavyTail,
    Laplace,
    Optimal,
    OptimalBox,
    Seeded,
)
from tenue.noise.source import SYSTEM, Source

FILE = "statistics/test_noise.py"
FRESH = [
    pytest.param(False, id="seeded"),
    pytest.param(True, id="fresh", marks=[pytest.mark.slow, pytest.mark.random]),
]
Array = np.ndarray[Any, Any]


class Pooled:
    """The words of another source, fetched many at a time: for laws that ask for few at once."""

    safe = False

    def __init__(self, source: Source) -> None:
        self._source = source
        self._bytes = b""
        self._at = 0

    def words(self, count: int, bits: int = 64) -> Array:
        size = count * bits // 8
        if self._at + size > len(self._bytes):
            self._bytes = self._source.words(size + (1 << 20), 8).tobytes()
            self._at = 0
        self._at += size
        return np.frombuffer(self._bytes, f"u{bits // 8}", count, self._at - size)


def source_for(fresh: bool, name: str) -> Source:
    return SYSTEM if fresh else Seeded(zlib.crc32(name.encode()))


@dataclass(frozen=True)
class Claim:
    """What a law says about a whole-number statistic of its draws."""

    name: str
    statistic: Callable[[int, Source], Array]
    right: Callable[[Array], Array]
    wrong: Callable[[float], Callable[[Array], Array]]
    points: Array

    def __str__(self) -> str:
        return self.name


def from_masses(masses: Array) -> Callable[[Array], Array]:
    """P(≤ k) for a law on 0, 1, 2, … given by its masses."""
    sums = np.concatenate([[0.0], np.cumsum(masses)])
    return lambda k: sums[np.clip(k + 1, 0, sums.size - 1)]


def folded(mass: Callable[[Array], Array], reach: int) -> Callable[[Array], Array]:
    """P(|X| ≤ k) from the masses of X."""
    k = np.arange(reach)
    return from_masses(np.where(k == 0, 1, 2) * mass(k))


# -- one number ----------------------------------------------------------------------------------


def discrete_laplace(scale: int, epsilon: Fraction) -> Claim:
    def law(factor: float) -> DiscreteLaplace:
        return DiscreteLaplace(sensitivity=scale, epsilon=epsilon / Fraction(str(factor)))

    reach = math.ceil(50 * scale / epsilon)
    if reach > 10**6:  # masses by millions of millions: the distribution function instead

        def cdf(factor: float) -> Callable[[Array], Array]:
            wide = law(factor)
            return lambda k: np.asarray(np.where(k < 0, 0.0, 2 * wide.cdf(k) - 1))

        points = np.linspace(0, reach, 2001).astype(np.int64)
    else:

        def cdf(factor: float) -> Callable[[Array], Array]:
            return folded(law(factor).mass, reach)

        points = np.arange(reach)
    return Claim(
        f"DiscreteLaplace({scale}, {epsilon})",
        lambda n, source: np.abs(law(1).steps(n, source)),
        cdf(1),
        cdf,
        points,
    )


def discrete_gaussian(sigma: Fraction) -> Claim:
    def law(factor: float) -> DiscreteGaussian:
        return DiscreteGaussian(sigma=sigma * Fraction(str(factor)))

    reach = math.ceil(12 * sigma)
    return Claim(
        f"DiscreteGaussian({sigma})",
        lambda n, source: np.abs(law(1).steps(n, source)),
        folded(law(1).mass, reach),
        lambda factor: folded(law(factor).mass, reach),
        np.arange(reach),
    )


def optimal(delta: int, d: int, epsilon: Fraction) -> Claim:
    """Scale means Δ and d together where the grid can tell 10 % of them, 1/ε where it cannot."""

    def law(factor: float) -> Any:
        f = Fraction(str(factor))
        if (delta * f).denominator == 1 and (d * f).denominator == 1:
            return Optimal(sensitivity=delta * f, epsilon=epsilon, d=d * f).on_grid(1)
        return Optimal(sensitivity=delta, epsilon=epsilon / f, d=d).on_grid(1)

    reach = math.ceil(50 * delta / epsilon)
    assert law(1).delta_steps == delta
    assert law(1).d_steps == d
    return Claim(
        f"Optimal({delta}, {epsilon}, d={d})",
        lambda n, source: np.abs(law(1).steps(n, source)),
        folded(law(1).mass, reach),
        lambda factor: folded(law(factor).mass, reach),
        np.arange(reach),
    )


def heavy_tail(gamma: int, grid: int) -> Claim:
    """Cut at a public radius, beyond which all that counts is how often."""
    reach = 4096

    def law(factor: float) -> Any:
        whole = HeavyTail(gamma=gamma, smooth_sensitivity=str(factor), epsilon=1)
        return whole.on_grid(grid)

    def weights(factor: float) -> Callable[[Array], Array]:
        # independent of `mass`: the weights themselves, normalised by a long sum and its tail
        tau = 4 * gamma * factor / grid
        k = np.arange(1, 1 << 21, dtype=float)
        w = 1 / (1 + (k / tau) ** gamma)
        total = 1 + 2 * (w.sum() + tau**gamma / (gamma - 1) / (k[-1] + 0.5) ** (gamma - 1))
        sums = np.concatenate([[1.0], 2 * w[: reach - 1]]).cumsum() / total
        return lambda x: np.where(x < 0, 0.0, np.where(x >= reach, 1.0, sums[np.clip(x, 0, None)]))

    def capped(x: Callable[[Array], Array]) -> Callable[[Array], Array]:
        return lambda k: np.where(k >= reach, 1.0, x(np.minimum(k, reach - 1)))

    return Claim(
        f"HeavyTail(γ={gamma}, grid={grid})",
        lambda n, source: np.minimum(np.abs(law(1).steps(n, Pooled(source))), reach),
        capped(weights(1)),
        lambda factor: capped(weights(factor)),
        np.arange(reach),
    )


def sampled_continuous(name: str, law: Callable[[Fraction], Any]) -> Claim:
    """`law.sample()` of a continuous law: multiples of its sampling grid, read back as steps."""
    grid = law(Fraction(1)).sampling_grid

    def cdf(factor: float) -> Callable[[Array], Array]:
        # the continuous law itself: a cell of the grid holds about a millionth of it
        whole = law(Fraction(str(factor)))
        return lambda k: np.where(k < 0, 0.0, 2 * whole.cdf((k + 0.5) * float(grid)) - 1)

    def statistic(n: int, source: Source) -> Array:
        return np.abs(np.rint(law(Fraction(1)).sample(n, source) / float(grid)).astype(np.int64))

    reach = int(law(Fraction(1)).interval(0.9999)[1] / grid)
    points = np.linspace(0, reach, 4001).astype(np.int64)
    return Claim(f"{name}.sample()", statistic, cdf(1), cdf, points)


ONE = [
    discrete_laplace(1, Fraction(1)),
    discrete_laplace(1, Fraction(3)),
    discrete_laplace(30, Fraction(1)),
    discrete_laplace(1000, Fraction(1, 10)),  # one digit of 256
    discrete_laplace(10**9, Fraction(1, 3)),  # several digits
    discrete_gaussian(Fraction(2)),
    discrete_gaussian(Fraction(900)),  # cells of three steps
    optimal(1, 1, Fraction(1)),
    optimal(3, 2, Fraction(1, 2)),
    optimal(20, 10, Fraction(1)),
    optimal(20, 20, Fraction(2)),
    optimal(5000, 2000, Fraction(1)),  # beyond 1,024 places: core or ring, then uniform
    optimal(2000, 2000, Fraction(1)),
    heavy_tail(2, 1),
    heavy_tail(3, 1),
    heavy_tail(4, 3),
    heavy_tail(6, 30),  # τ below one step
    sampled_continuous("Laplace", lambda f: Laplace(sensitivity=3 * f, epsilon=2)),
    sampled_continuous("Optimal", lambda f: Optimal(sensitivity=3 * f, epsilon=1, d=f)),
]


@pytest.mark.parametrize("fresh", FRESH)
@pytest.mark.parametrize("given", ONE, ids=str)
def test_one_number_follows_its_law_and_no_other_scale(given: Claim, fresh: bool) -> None:
    claim(FILE, given.name)
    wrong = {factor: given.wrong(factor) for factor in WRONG_SCALES}
    nearest = min(distance_between(given.right, other, given.points) for other in wrong.values())
    draws = given.statistic(draws_for(nearest), source_for(fresh, given.name))
    assert_accepted(draws, given.right, lambda k: given.right(k - 1), given.name)
    for factor, other in wrong.items():
        assert_rejected(draws, other, lambda k, law=other: law(k - 1), f"{given.name} × {factor}")


SIGNED = {
    "DiscreteLaplace": DiscreteLaplace(sensitivity=1, epsilon=1),
    "Optimal, tabled": Optimal(sensitivity=3, epsilon=1).on_grid(1),
    "HeavyTail": HeavyTail(gamma=4, smooth_sensitivity=1, epsilon=8).on_grid(1),
}


@pytest.mark.parametrize("fresh", FRESH)
@pytest.mark.parametrize("name", SIGNED)
def test_signs_are_even_and_zero_is_not_counted_twice(name: str, fresh: bool) -> None:
    """The signed law is accepted; the one that keeps "−0" as well as "+0" is rejected."""
    claim(FILE, f"signed {name}")
    law: Any = SIGNED[name]
    zero = law.mass(0)

    def right(k: Array) -> Array:
        return np.asarray(law.cdf(k))

    def twice(k: Array) -> Array:
        return np.asarray((law.cdf(k) + zero * (k >= 0)) / (1 + zero))

    distance = distance_between(right, twice, np.arange(-50, 50))
    draws = law.steps(draws_for(distance), Pooled(source_for(fresh, name)))
    assert_accepted(draws, right, lambda k: right(k - 1), name)
    assert_rejected(draws, twice, lambda k: twice(k - 1), f"{name} with zero twice")


@pytest.mark.parametrize("fresh", FRESH)
def test_long_periods_have_even_signs(fresh: bool) -> None:
    """Beyond 1,024 places zero is too rare to be seen twice, but a lost sign is seen."""
    name = "signed Optimal, long period"
    claim(FILE, name)
    law: Any = Optimal(sensitivity=3000, epsilon=1).on_grid(1)
    draws = law.steps(20_000, source_for(fresh, name))
    assert_accepted(draws, law.cdf, lambda k: law.cdf(k - 1), name)
    folded_law = law.cdf
    assert_rejected(np.abs(draws), folded_law, lambda k: folded_law(k - 1), f"{name}, no sign")


# -- vectors ---------------------------------------------------------------------------------------


def box_component(s: list[int], core: list[int], j: int, epsilon: Fraction) -> Claim:
    def cdf(factor: float) -> Callable[[Array], Array]:
        return from_masses(box_margin(s, core, j, float(epsilon) / factor))

    law = OptimalBox(sensitivities=s, epsilon=epsilon, core=core).on_grid(1)
    return Claim(
        f"Box {s} core {core} ε={epsilon} [{j}]",
        lambda n, source: np.abs(law.steps(n, source)[:, j]),
        cdf(1),
        cdf,
        np.arange(200),
    )


def same_component(s: int, dimension: int, core: int, epsilon: Fraction) -> Claim:
    def cdf(factor: float) -> Callable[[Array], Array]:
        return from_masses(same_margin(s, dimension, core, float(epsilon) / factor))

    law = OptimalBox(
        sensitivities=[s] * dimension, epsilon=epsilon, core=[core] * dimension, signs="same"
    ).on_grid(1)
    return Claim(
        f"SameSign [{s}]×{dimension} core {core} ε={epsilon}",
        lambda n, source: np.abs(law.steps(n, source)[:, -1]),
        cdf(1),
        cdf,
        np.arange(60 * s),
    )


def whole_vector(s: list[int], core: list[int], signs: str, epsilon: Fraction) -> Claim:
    """All points of the lattice in one order, by their masses: the joint law, not its margins."""
    reach = math.ceil((28 / float(epsilon) + 2) * max(s))
    side = np.arange(-reach, reach + 1)

    def law(factor: float) -> Any:
        e = epsilon / Fraction(str(factor))
        box = OptimalBox(sensitivities=s, epsilon=e, core=core, signs=signs)  # type: ignore[arg-type]
        return box.on_grid(1)

    points = np.stack(np.meshgrid(*[side] * len(s), indexing="ij"), axis=-1).reshape(-1, len(s))

    # inner points first, whole circles in the order of the angle: scale shows, and so does shape
    level = law(1).level(points)
    order = np.lexsort([*points.T, level])
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)

    def cdf(factor: float) -> Callable[[Array], Array]:
        return from_masses(law(factor).mass(points)[order])

    def statistic(n: int, source: Source) -> Array:
        steps = np.clip(law(1).steps(n, source), -reach, reach)
        return place[np.ravel_multi_index(tuple((steps + reach).T), (side.size,) * len(s))]

    return Claim(
        f"all of {signs} {s} core {core} ε={epsilon}",
        statistic,
        cdf(1),
        cdf,
        np.arange(order.size),
    )


VECTORS = [
    box_component([1, 1], [0, 0], 1, Fraction(1)),
    box_component([1, 10], [0, 4], 0, Fraction(1)),
    box_component([1, 10], [0, 4], 1, Fraction(1)),
    box_component([2, 3, 5], [1, 0, 2], 2, Fraction(1, 2)),
    box_component([1] * 20, [0] * 20, 19, Fraction(2)),
    box_component([3, 1] * 10, [1, 0] * 10, 0, Fraction(2)),
    same_component(1, 2, 0, Fraction(1)),
    same_component(3, 5, 1, Fraction(1)),
    same_component(1, 20, 0, Fraction(2)),
    whole_vector([1, 1], [0, 0], "any", Fraction(1)),
    whole_vector([2, 5], [1, 2], "any", Fraction(3, 2)),
    whole_vector([1, 1], [0, 0], "same", Fraction(1)),
    whole_vector([2, 2], [1, 1], "same", Fraction(1)),
    whole_vector([2, 3], [0, 0], "same", Fraction(1)),
    whole_vector([1, 7], [0, 0], "same", Fraction(2)),
    whole_vector([1, 2, 3], [0, 0, 0], "same", Fraction(3)),
    whole_vector([1, 1, 1], [0, 0, 0], "any", Fraction(3)),
]


@pytest.mark.parametrize("fresh", FRESH)
@pytest.mark.parametrize("given", VECTORS, ids=str)
def test_a_vector_follows_its_law_and_no_other_scale(given: Claim, fresh: bool) -> None:
    claim(FILE, given.name)
    wrong = {factor: given.wrong(factor) for factor in WRONG_SCALES}
    nearest = min(distance_between(given.right, other, given.points) for other in wrong.values())
    draws = given.statistic(draws_for(nearest), source_for(fresh, given.name))
    assert_accepted(draws, given.right, lambda k: given.right(k - 1), given.name)
    for factor, other in wrong.items():
        assert_rejected(draws, other, lambda k, law=other: law(k - 1), f"{given.name} × {factor}")


@pytest.mark.parametrize("fresh", FRESH)
def test_twenty_unequal_same_sign_components_fall_in_their_balls(fresh: bool) -> None:
    """The level of a draw has the masses that the counts of balls give; 20 dimensions, uneven s."""
    name = "levels of 20 unequal same-sign components"
    claim(FILE, name)
    s = [1, 2, 4, 8] * 5

    def law(factor: float) -> Any:
        e = Fraction(2) / Fraction(str(factor))
        box = OptimalBox(sensitivities=s, epsilon=e, core=[0] * 20, signs="same")
        return box.on_grid(1)

    def cdf(factor: float) -> Callable[[Array], Array]:
        e = 2 / factor
        counts = [law(1).ball.count(i) for i in range(60)]
        shells = [after - before for before, after in itertools.pairwise([0, *counts])]
        masses = np.array([math.exp(math.log(n) - e * i) for i, n in enumerate(shells)])
        return from_masses(masses / masses.sum())

    wrong = {factor: cdf(factor) for factor in WRONG_SCALES}
    right = cdf(1)
    nearest = min(distance_between(right, other, np.arange(60)) for other in wrong.values())
    drawn = law(1).steps(draws_for(nearest), source_for(fresh, name))
    levels = law(1).level(drawn)
    assert_accepted(levels, right, lambda k: right(k - 1), name)
    for factor, other in wrong.items():
        assert_rejected(levels, other, lambda k, law=other: law(k - 1), f"{name} × {factor}")


def test_every_failure_prints_the_budget() -> None:
    with pytest.raises(AssertionError, match="False alarms: 1e-06 per run"):
        assert_accepted(np.zeros(1000, int), lambda k: k * 0.0, lambda k: k * 0.0, "nothing")
    assert "for this one" in budget(law="any")
