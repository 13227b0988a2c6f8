"""The shaped noise of a vector: formulas, the core that is best, what may be given."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.errors import Refused
from tenue.noise import Optimal, OptimalBox
from tenue.noise.box.law import best_ratio
from tenue.noise.criterion import criterion


def mean_power(ratios: list[float], own: list[float], epsilon: float) -> float:
    """Σ q^i Π(ζ+i)·Π(own+i) / Σ q^i Π(ζ+i), term by term in logarithms."""
    d = len(ratios)
    i = np.arange(math.ceil((d + 70 + 14 * math.sqrt(d)) / epsilon) + 3, dtype=float)
    with np.errstate(divide="ignore"):
        logs = sum(np.log(z + i) for z in ratios) - epsilon * i
    weights = np.exp(logs - np.max(logs))
    factor = np.prod([z + i for z in own], axis=0)
    return float((weights * factor).sum() / weights.sum())


@pytest.mark.parametrize("epsilon", ["0.05", "1", "7"])
@pytest.mark.parametrize("core", [["0.1", 1], [0, 0], ["0.9", 2], [3, 0]])
def test_variances_of_the_box_are_the_formula(epsilon: str, core: Any) -> None:
    """Var_j/s_j² = Σ qⁱ(ζ_j+i)²Π(ζ+i) / (3 Σ qⁱΠ(ζ+i)), and |x_j| likewise with ½."""
    law = OptimalBox(sensitivities=[1, 10], epsilon=epsilon, core=core)
    ratios = [float(Fraction(str(core[0]))), float(Fraction(str(core[1])) / 10)]
    for j, s in enumerate((1, 10)):
        z, e = ratios[j], float(epsilon)
        assert law.variance[j] == pytest.approx(s**2 * mean_power(ratios, [z, z], e) / 3, rel=1e-10)
        assert law.mean_absolute_error[j] == pytest.approx(
            s * mean_power(ratios, [z], e) / 2, rel=1e-10
        )


@pytest.mark.parametrize("dimension", [1, 2, 3, 10, 20, 60, 150])
@pytest.mark.parametrize("signs", ["any", "same"])
def test_any_dimension_has_finite_right_variances(dimension: int, signs: Any) -> None:
    law = OptimalBox(
        sensitivities=[2] * dimension,
        epsilon="0.5",
        core=[Fraction(1, 2)] * dimension,
        signs=signs,
    )
    ratios = [0.25] * dimension
    share = 1 / 3 if signs == "any" else (dimension + 3) / (6 * (dimension + 1))
    expected = 4 * mean_power(ratios, [0.25, 0.25], 0.5) * share
    assert law.variance == pytest.approx([expected] * dimension, rel=1e-9)


@pytest.mark.parametrize("signs", ["any", "same"])
@pytest.mark.parametrize("d", ["0.1", "0.5", "0.9"])
def test_one_component_is_the_staircase(signs: Any, d: str) -> None:
    box = OptimalBox(sensitivities=[2], epsilon=1, core=[d], signs=signs)
    staircase = Optimal(sensitivity=2, epsilon=1, d=d)
    assert box.variance[0] == pytest.approx(staircase.variance)
    assert box.mean_absolute_error[0] == pytest.approx(staircase.mean_absolute_error)
    for x in (-3.3, -0.4, 0.2, 1.9, 7.0):
        assert box.pdf([x]) == pytest.approx(staircase.pdf(x))
        assert box.cdf([x]) == pytest.approx(staircase.cdf(x))
        assert box.marginal(0).cdf(x) == pytest.approx(staircase.cdf(x))
    assert box.interval("0.95")[0][1] == pytest.approx(staircase.interval("0.95")[1])
    assert box.region("0.95")[0] == pytest.approx(staircase.interval("0.95")[1])


RATIOS = sorted({*np.linspace(0, 1, 101)[1:], *np.geomspace(1e-7, 0.02, 25)})


@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "1", "4", "12", "30"])
@pytest.mark.parametrize("dimension", [1, 2, 5, 20])
@pytest.mark.parametrize(("minimise", "power"), [("variance", 2), ("absolute-error", 1)])
def test_no_proportional_core_has_less_error(
    epsilon: str, dimension: int, minimise: str, power: int
) -> None:
    """A scan of cores from 1e-7 to 1 of the sensitivities: none beats the one found."""
    law = OptimalBox(sensitivities=[1] * dimension, epsilon=epsilon, minimise=minimise)
    told = law.variance[0] * 3 if power == 2 else law.mean_absolute_error[0] * 2
    costs = [mean_power([z] * dimension, [z] * power, float(epsilon)) for z in map(float, RATIOS)]
    assert told <= min(costs) * (1 + 1e-9)


@pytest.mark.parametrize("signs", ["any", "same"])
@pytest.mark.parametrize("dimension", [1, 2, 5])
@pytest.mark.parametrize(
    ("epsilon", "level"), [("0.5", "0.95"), ("1", "0.9"), ("1", "0.5"), ("6", "0.95")]
)
def test_no_proportional_core_has_a_smaller_confidence_box(
    signs: Any, dimension: int, epsilon: str, level: str
) -> None:
    s = [1] * dimension
    law = OptimalBox(sensitivities=s, epsilon=epsilon, minimise=("interval", level), signs=signs)
    others = [
        OptimalBox(sensitivities=s, epsilon=epsilon, core=[z] * dimension, signs=signs)
        for z in map(float, np.linspace(0.01, 1, 100))
    ]
    assert law.volume(level) <= min(other.volume(level) for other in others) * (1 + 1e-6)


@pytest.mark.parametrize("signs", ["any", "same"])
def test_the_region_holds_its_level_in_the_integer_law(signs: Any) -> None:
    """A fine lattice copy of the law: the mass of its points inside the box told."""
    law = OptimalBox(sensitivities=[1, 3], epsilon=2, core=["0.3", "0.9"], signs=signs)
    fine = law.on_grid([Fraction(1, 40), Fraction(3, 40)])
    side = np.arange(-480, 481)
    points = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    mass = fine.mass(points)
    for level in ("0.3", "0.8", "0.95", "0.995"):
        half = law.region(level)
        assert half[1] == pytest.approx(3 * half[0])
        inside = mass[(np.abs(points) <= 40 * half[0]).all(axis=1)].sum()
        assert inside == pytest.approx(float(level), abs=0.02)
        assert law.volume(level) == pytest.approx(4 * half[0] * half[1])


def test_shrinking_the_region_by_a_tenth_is_seen() -> None:
    """The measure above can fail: it allows 0.02, and a box 10 % smaller loses more than that."""
    law = OptimalBox(sensitivities=[1, 1], epsilon=2, core=["0.3", "0.3"])
    for level in (0.6, 0.8):
        assert law.region(str(level))[0] * 0.9 < law.region(str(round(level - 0.021, 3)))[0]


def test_losses_are_whole_levels_of_the_norm() -> None:
    box = OptimalBox(sensitivities=[1, 10], epsilon="0.5")
    same = OptimalBox(sensitivities=[1, 10], epsilon="0.5", signs="same")
    for shift, levels_any, levels_same in (
        ([1, 10], 1, 1),
        ([1, -10], 1, 2),
        (["0.5", "-5"], 1, 1),
        (["0.6", -5], 1, 2),
        (["1.1", 0], 2, 2),
        ([0, 0], 0, 0),
        ([-3, -10], 3, 3),
        (["1e-9", 0], 1, 1),
    ):
        assert box.loss(shift) == 0.5 * levels_any
        assert same.loss(shift) == 0.5 * levels_same


def test_a_given_core_is_floored_to_the_grid_and_sensitivities_raised() -> None:
    law: Any = OptimalBox(sensitivities=["2.5", 10], epsilon=1, core=["0.9", 5])
    steps = law.on_grid(1)
    assert steps.ball.sensitivities == (3, 10)
    assert steps.ball.core == (0, 5)
    mixed = law.on_grid(["0.5", 5])
    assert mixed.ball.sensitivities == (5, 2)
    assert mixed.ball.core == (1, 1)
    assert mixed.sensitivities == (Fraction(5, 2), 10)


@pytest.mark.parametrize("signs", ["any", "same"])
@pytest.mark.parametrize("steps", [1, 2, 3, 7, 16])
def test_on_coarse_grids_the_core_is_the_best_the_grid_can_tell(signs: Any, steps: int) -> None:
    law = OptimalBox(sensitivities=[steps, steps], epsilon=1, signs=signs)
    found = law.on_grid(1).variance[0]
    for core in range(steps):
        other = OptimalBox(
            sensitivities=[steps, steps], epsilon=1, core=[core, core], signs=signs
        ).on_grid(1)
        assert found <= other.variance[0] * (1 + 1e-12)


def test_grids_may_come_as_any_sequence() -> None:
    law = OptimalBox(sensitivities=[1, 2], epsilon=1)
    expected = law.on_grid([1, 2]).variance
    for grid in ((1, 2), np.array([1, 2])):
        assert law.on_grid(grid).variance == expected  # type: ignore[arg-type]


def test_margins_outside_the_vector_are_refused() -> None:
    law = OptimalBox(sensitivities=[1, 2], epsilon=1)
    for j in (1.0, "1"):  # whole numbers however they are written, as everywhere
        assert law.marginal(j).quantile("0.9") == law.quantile("0.9")[1]  # type: ignore[arg-type]
    for j in (2, 5, -1, "x", 0.5, None):
        with pytest.raises(Refused):
            law.marginal(j)  # type: ignore[arg-type]


def test_the_core_lies_inside_and_minimise_is_remembered() -> None:
    law = OptimalBox(sensitivities=[1, 4], epsilon=1)
    assert str(law.minimise) == "variance"
    assert law.core[1] == pytest.approx(4 * law.core[0])
    assert OptimalBox(sensitivities=[1], epsilon=1, core=[1]).minimise is None
    assert "core=[0.1, 1.0]" in repr(OptimalBox(sensitivities=[1, 10], epsilon=1, core=["0.1", 1]))


@pytest.mark.parametrize("epsilon", ["1e-4", "1e-6", "1e-9"])
@pytest.mark.parametrize("signs", ["any", "same"])
def test_small_epsilons_answer_or_refuse_and_never_exhaust_memory(
    epsilon: str, signs: Any, two_gigabytes: None
) -> None:
    law = OptimalBox(sensitivities=[1, 2], epsilon=epsilon, core=["0.5", 1], signs=signs)
    scale = 1 / float(epsilon)
    for ask in (
        lambda: law.region("0.9")[0],
        lambda: law.quantile("0.9")[0],
        lambda: law.on_grid(1).interval("0.9")[0][1],
    ):
        try:
            answer = float(ask())
        except Refused:
            continue
        assert 0.3 * scale < answer < 20 * scale


COSTS: dict[Any, Any] = {
    "variance": lambda law: sum(law.variance),
    "absolute-error": lambda law: sum(law.mean_absolute_error),
    ("interval", "0.9"): lambda law: law.volume("0.9"),
}


@pytest.mark.parametrize("signs", ["any", "same"])
@pytest.mark.parametrize("wanted", COSTS, ids=str)
@pytest.mark.parametrize(("dimension", "epsilon"), [(1, 1), (2, "0.5"), (3, 4)])
def test_no_other_core_costs_less(wanted: Any, signs: Any, dimension: int, epsilon: Any) -> None:
    def cost(ratio: float) -> float:
        sizes = [1] * dimension
        return float(
            COSTS[wanted](
                OptimalBox(
                    sensitivities=sizes, epsilon=epsilon, core=[ratio] * dimension, signs=signs
                )
            )
        )

    found = best_ratio(dimension, signs, Fraction(epsilon), criterion(wanted))
    assert 0 < found < 1
    least = min(cost(float(ratio)) for ratio in np.linspace(0.01, 0.99, 99))
    assert cost(found) <= least * (1 + 1e-9)


def test_a_large_epsilon_wants_a_narrow_core() -> None:
    narrow = best_ratio(2, "any", Fraction(60), criterion("variance"))
    assert 0 < narrow < 1e-6
