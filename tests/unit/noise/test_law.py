"""What every law tells about itself, and what mechanisms and Bayes' rule ask of it."""

from __future__ import annotations

import contextlib
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue import noise
from tenue.errors import Fault, InvalidArgument, Refused
from tenue.noise import (
    DiscreteLaplace,
    HeavyTail,
    IndependentLaplace,
    Laplace,
    Optimal,
    OptimalBox,
    Seeded,
)
from tenue.noise.box.steps import Margin
from tenue.noise.criterion import ABSOLUTE_ERROR, VARIANCE, Criterion, criterion
from tenue.noise.joint import joint
from tenue.noise.law import (
    Continuous,
    as_value,
    as_values,
    checked_source,
    power_of_two_below,
    real_array,
)
from tenue.noise.likelihood import in_units, likelihood_of, scaled_by_rows
from tenue.noise.source import SYSTEM


def test_names_become_criteria() -> None:
    assert criterion("variance") is VARIANCE
    assert criterion("absolute-error") is ABSOLUTE_ERROR
    assert criterion(("interval", 0.95)) == Criterion("interval", Fraction(19, 20))
    assert criterion(["interval", "0.5"]) == Criterion("interval", Fraction(1, 2))
    assert criterion(criterion("variance")) is VARIANCE
    assert str(criterion(("interval", 0.95))) == "interval at 0.95"
    assert str(VARIANCE) == "variance"


@pytest.mark.parametrize(
    "given",
    [
        "Variance",
        "interval",
        "",
        None,
        3,
        True,
        ("interval",),
        ("interval", 1.5),
        ("interval", 95),
        ("interval", float("nan")),
        ("interval", None),
        ("width", 0.5),
        ("interval", 0.5, 0.6),
        {"interval": 0.5},
        np.array([1.0, 2.0]),
    ],
    ids=repr,
)
def test_anything_else_is_refused(given: object) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        criterion(given)
    assert refusal.value.what
    assert refusal.value.allowed
    assert refusal.value.fix


# -- What all laws share: values of steps, powers of two, sizes, sources ---------------------------


@pytest.mark.parametrize("grid", ["1", "3", "1/8", "0.1", "0.07", "1/3", "1e10", "12345.678"])
@pytest.mark.parametrize("top", [5, 10**6, 2**53 + 1, 2**61])
def test_values_are_the_doubles_nearest_to_the_multiple(grid: str, top: int) -> None:
    step = Fraction(grid)
    steps = np.array([0, 1, -1, top, -top, top // 3])
    values = as_values(steps, step)
    for n, value in zip(steps.tolist(), values.tolist(), strict=True):
        exact = n * step
        expected: Any = int(exact) if step.denominator == 1 else float(exact)
        assert value == expected
        assert as_value(n, step) == expected
        assert type(as_value(n, step)) is type(expected)
        assert type(value) is type(expected)


def test_no_values_have_a_shape_too() -> None:
    assert as_values(np.zeros((0, 2), dtype=np.int64), Fraction(1, 3)).shape == (0, 2)
    assert as_values(np.zeros((2, 3), dtype=np.int64), Fraction(10**30)).shape == (2, 3)


@pytest.mark.parametrize(
    ("x", "power"), [("1", "1"), ("5", "4"), ("0.3", "1/4"), ("1/1024", "1/1024"), ("7/8", "1/2")]
)
def test_powers_of_two(x: str, power: str) -> None:
    assert power_of_two_below(Fraction(x)) == Fraction(power)


def test_many_powers_of_two() -> None:
    for n in range(1, 400):
        for x in (Fraction(n, 37), Fraction(37, n), Fraction(n) ** 20):
            power = power_of_two_below(x)
            assert power <= x < 2 * power


def test_long_draws_are_made_in_pieces_and_joined() -> None:
    law = DiscreteLaplace(sensitivity=1, epsilon=1)
    long = law.steps(300_000, Seeded(1))
    assert long.shape == (300_000,)
    assert (long[: 1 << 17] == law.steps(1 << 17, Seeded(1))).all()
    assert not (long[: 1 << 17] == long[1 << 17 : 1 << 18]).all()


@pytest.mark.parametrize("size", [-1, 1.5, "x", None.__class__, float("nan"), True, [3], 1e300])
def test_sizes_that_are_no_count_are_refused(size: Any, two_gigabytes: None) -> None:
    law = DiscreteLaplace(sensitivity=1, epsilon=1)
    for ask in (law.steps, law.sample):
        with pytest.raises(Refused):
            ask(size)


@pytest.mark.parametrize(
    "x", [None, "abc", float("nan"), [1, None], np.array([1j]), 1j, object(), {}, [[1], [1, 2]]]
)
def test_points_that_are_no_numbers_are_refused(x: Any) -> None:
    with pytest.raises(Refused):
        real_array(x)
    law = DiscreteLaplace(sensitivity=1, epsilon=1)
    for ask in (law.cdf, law.mass, law.pmf):
        with pytest.raises(Refused):
            ask(x)


def test_points_beyond_double_precision_are_infinite_or_refused() -> None:
    law = DiscreteLaplace(sensitivity=1, epsilon=1)
    for ask in (law.cdf, law.mass):
        with contextlib.suppress(Refused):
            assert ask(10**400) in (0.0, 1.0)


def test_the_operating_system_is_the_default() -> None:
    assert checked_source(None) is SYSTEM


def test_another_grid_is_refused_by_laws_that_have_one() -> None:
    from tenue.noise import Optimal

    law = Optimal(sensitivity=10, epsilon=1).on_grid(2)
    assert law.on_grid(2) is law
    with pytest.raises(Refused, match="one grid"):
        law.on_grid(1)


def test_exact_levels_are_not_missed_by_rounding() -> None:
    """P(0) = (1−a)/(1+a) at ε = ln 3 is one half to the last digit of the input."""
    law = DiscreteLaplace(sensitivity=1, epsilon="1.0986122886681098")
    assert law.interval("0.4999") == (0, 0)
    assert law.interval("0.5001") == (-1, 1)


class Flat(Continuous):
    """Uniform on [−2, 2]: a density with nothing to it but the machinery under test."""

    sampling_grid = Fraction(1, 4)

    def _tail(self, size: Any) -> Any:
        return np.maximum(0.0, 1 - size / 2)

    def _size_with_tail(self, tail: Fraction) -> float:
        return float(2 - 2 * tail)

    def on_grid(self, grid: Any) -> Any:
        return DiscreteLaplace(sensitivity=1, epsilon=1, grid=grid)


def test_a_density_follows_from_its_tail() -> None:
    law = Flat()
    assert law.cdf([-3, -1, 0, 1, 3]).tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert law.cdf(1) == 0.75
    assert [law.quantile(q) for q in ("0.25", "0.5", "0.75")] == [-1, 0, 1]
    assert law.interval("0.25") == (-0.5, 0.5)
    for wrong in (0, 1, "x"):
        with pytest.raises(Refused):
            law.quantile(wrong)


def test_a_density_is_sampled_on_its_sampling_grid() -> None:
    drawn = Flat().sample(50, Seeded(1))
    assert (drawn * 4 == np.rint(drawn * 4)).all()
    assert (drawn * 2 != np.rint(drawn * 2)).any()
    assert drawn.tolist() == Flat().on_grid(Fraction(1, 4)).sample(50, Seeded(1)).tolist()


# -- What mechanisms ask of the noise of several whole numbers, whatever its law -------------------

LEVEL = Fraction(9, 10)
NARROW, WIDE = (DiscreteLaplace(sensitivity=s, epsilon=1) for s in (1, 9))
STEP = Optimal(sensitivity=30, epsilon=1).on_grid(1)
JOINT_BOX = OptimalBox(sensitivities=[4, 4], epsilon=1, signs="same")
LAWS: list[tuple[Any, int]] = [(NARROW, 1), (STEP, 1), ((NARROW, WIDE), 2), (JOINT_BOX, 2)]


@pytest.mark.parametrize(("law", "size"), LAWS)
def test_vectors_are_drawn_a_row_each_with_the_variance_told(law: object, size: int) -> None:
    noise = joint(law)
    drawn = noise.steps(20_000, Seeded(5))
    assert drawn.shape == (20_000, size)
    assert drawn.dtype == np.int64
    for j in range(size):
        assert np.abs(drawn[:, j]).mean() == pytest.approx(noise.mean_absolute_error(j), rel=0.1)
        inside = np.mean(np.abs(drawn[:, j]) <= noise.half_width(j, LEVEL))
        assert inside >= 0.9 - 0.02


@pytest.mark.parametrize(("law", "size"), LAWS[:3])
def test_independent_components_have_their_own_laws(law: Any, size: int) -> None:
    noise = joint(law)
    for j in range(size):
        own = law[j] if size > 1 else law
        assert noise.independent(j) is own
        assert noise.variance(j) == own.variance
        assert noise.half_width(j, LEVEL) == noise.quick_half_width(j, LEVEL)
        assert noise.half_width(j, LEVEL) == own.interval(LEVEL)[1]
        assert noise.quick_mean_absolute_error(j) == own.mean_absolute_error
        assert noise.alone(j, Fraction(2)).interval(LEVEL)[1] == 2 * own.interval(LEVEL)[1]


def test_the_components_of_a_box_depend_on_each_other() -> None:
    noise, whole = joint(JOINT_BOX), JOINT_BOX.on_grid(1)
    assert noise.independent(0) is None
    assert noise.variance(1) == JOINT_BOX.variance[1]
    assert noise.mean_absolute_error(1) == whole.mean_absolute_error[1]
    assert noise.quick_mean_absolute_error(1) == JOINT_BOX.mean_absolute_error[1]
    assert noise.half_width(1, LEVEL) == whole.interval(LEVEL)[1][1]
    assert noise.quick_half_width(1, LEVEL) == JOINT_BOX.interval(LEVEL)[1][1]
    alone = noise.alone(1, Fraction(1, 2))
    assert (alone.component, alone.grid) == (1, Fraction(1, 2))


def test_certificates_state_scales_or_cores() -> None:
    assert joint(NARROW).words == repr(NARROW)
    assert joint((NARROW, WIDE)).words == "scale 1, 9 steps"
    core = f"{JOINT_BOX.core[0]:.6g}"
    assert joint(JOINT_BOX).words == f"core {core}, {core} steps"


@pytest.mark.parametrize(("law", "sign"), [((WIDE, WIDE), -1), ((WIDE, WIDE), 1), (JOINT_BOX, 1)])
def test_a_blend_is_the_error_of_the_weighted_pair(law: object, sign: int) -> None:
    noise, share = joint(law), 0.25
    drawn = noise.steps(40_000, Seeded(6))
    error = share * drawn[:, 0] - sign * (1 - share) * drawn[:, 1]
    found = noise.blend(share, sign)
    assert found.variance == pytest.approx(error.var(), rel=0.1)
    assert found.mean_absolute_error == pytest.approx(np.abs(error).mean(), rel=0.1)
    inside = np.mean(np.abs(error) <= found.half_width(0.1) + 0.5)
    assert inside == pytest.approx(0.9, abs=0.02)


def test_what_is_no_pair_and_no_noise_on_whole_numbers_is_a_fault() -> None:
    with pytest.raises(Fault):
        joint((STEP, STEP)).blend(0.5, 1)
    with pytest.raises(Fault):
        joint(Laplace(sensitivity=1, epsilon=1))


# -- What Bayes asks of the laws -------------------------------------------------------------------

BOX = OptimalBox(sensitivities=[1, 3], epsilon=1)
HEAVY = HeavyTail(gamma=4, smooth_sensitivity=1, epsilon=1)
ON_GRID = [
    DiscreteLaplace(sensitivity=3, epsilon=1, grid="0.5"),
    Optimal(sensitivity=10, epsilon=2).on_grid("0.5"),
]


@pytest.mark.parametrize("law", ON_GRID, ids=repr)
def test_laws_on_a_grid_tell_their_masses(law: Any) -> None:
    found = likelihood_of(law)
    assert found is not None
    assert found.mass is not None
    steps = np.arange(-20, 21)
    assert found.mass(steps) == pytest.approx(law.mass(steps))
    assert (found.unit, found.exact, found.exponential) == (Fraction(1, 2), True, False)


def test_densities_and_margins_have_none() -> None:
    straight = likelihood_of(Laplace(sensitivity=2, epsilon=1))
    stepped = likelihood_of(Optimal(sensitivity=2, epsilon=1))
    margin = likelihood_of(Margin(BOX.on_grid(1), 1))
    assert straight is not None
    assert stepped is not None
    assert margin is not None
    assert [found.mass for found in (straight, stepped, margin)] == [None] * 3
    assert [found.exact for found in (straight, stepped, margin)] == [False, False, True]
    assert [found.exponential for found in (straight, stepped, margin)] == [True, False, False]
    assert margin.rate == pytest.approx(1 / 3)


@pytest.mark.parametrize("law", [BOX, BOX.on_grid(1), IndependentLaplace(scales=[1]), None, 3])
def test_vectors_and_what_is_no_law_have_no_likelihood(law: object) -> None:
    assert likelihood_of(law) is None


def test_only_smooth_sensitivity_takes_its_scale_from_the_rows() -> None:
    assert scaled_by_rows(HEAVY)
    assert scaled_by_rows(HEAVY.on_grid(1))
    assert not any(scaled_by_rows(law) for law in (*ON_GRID, BOX, None))


@pytest.mark.parametrize(
    "law",
    [
        DiscreteLaplace(sensitivity=3, epsilon=1),
        Optimal(sensitivity=10, epsilon=2).on_grid(1),
        HEAVY.on_grid(1),
    ],
    ids=repr,
)
def test_other_units_change_the_grid_and_nothing_else(law: Any) -> None:
    other = in_units(law, Fraction(5, 2))
    assert (other.grid, law.grid) == (Fraction(5, 2), 1)
    assert type(other) is type(law)
    assert other.epsilon == law.epsilon
    assert other.mass(np.arange(9)) == pytest.approx(law.mass(np.arange(9)))
    assert other.variance == pytest.approx(law.variance * 6.25)
    assert other.loss("2.5") == law.loss(1)
    assert in_units(other, Fraction(2)).grid == 5


def test_discrete_laplace_keeps_its_sensitivity_on_a_further_grid() -> None:
    other = in_units(DiscreteLaplace(sensitivity=4, epsilon=1), Fraction(1, 2))
    assert other.on_grid(1).scale == 2  # type: ignore[attr-defined]


@pytest.mark.any_draw("draws nothing")
@pytest.mark.parametrize(
    ("call", "fix"),
    [
        (lambda: noise.Laplace(1, 0.5), "Write Laplace(sensitivity=1, epsilon=0.5), if"),
        (lambda: noise.Optimal(10, epsilon="1"), "Write Optimal(sensitivity=10, epsilon='1'), if"),
        (lambda: noise.OptimalBox([1, 2], 1), "Write OptimalBox(sensitivities=..., epsilon=1), if"),
        (lambda: noise.HeavyTail(4), "Write HeavyTail(gamma=4), if"),
    ],
)
def test_values_without_names_are_written_out_with_them(call: Any, fix: str) -> None:
    """It said that `sensitivity` is needed, which had been given."""
    with pytest.raises(InvalidArgument) as refused:
        call()
    assert refused.value.fix.startswith(fix)
    assert "by name only" in refused.value.allowed
