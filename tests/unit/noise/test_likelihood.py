"""What Bayes asks of the laws."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.noise import (
    DiscreteLaplace,
    HeavyTail,
    IndependentLaplace,
    Laplace,
    Optimal,
    OptimalBox,
)
from tenue.noise.box.component import Margin
from tenue.noise.likelihood import in_units, likelihood_of, scaled_by_rows

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
