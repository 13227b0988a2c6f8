"""What all laws share: values of steps, powers of two, sizes, sources."""

from __future__ import annotations

import contextlib
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.errors import Refused
from tenue.noise import DiscreteLaplace, Seeded
from tenue.noise.law import (
    Continuous,
    as_value,
    as_values,
    checked_source,
    power_of_two_below,
    real_array,
)
from tenue.noise.source import SYSTEM


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
