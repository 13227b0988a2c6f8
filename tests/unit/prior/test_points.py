"""Beliefs about numbers, given point by point."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tenue.errors import InvalidPrior
from tenue.noise import Seeded
from tenue.prior import Categorical, Points, normalised
from tenue.prior.points import numeric_place


def test_masses_moments_and_support() -> None:
    belief = Points({2.5: 0.25, -1: 0.5, 7: 0, "4": 0.25})
    assert belief.values == (-1, Fraction(5, 2), 4)
    assert belief.mass(7) == 0
    assert belief.mass(2.5) == belief.mass("5/2") == Fraction(1, 4)
    assert belief.mass("green") == 0
    assert belief.mean == 1.125
    assert belief.variance == pytest.approx(0.5 + 0.25 * 6.25 + 0.25 * 16 - 1.125**2)
    assert belief.unit == Fraction(1, 2)
    assert belief.steps == (-2, 5, 8)


def test_a_grid_is_checked() -> None:
    belief = Points({2.5: 0.25, -1: 0.75})
    assert belief.on_grid("0.5") is belief
    for grid in (1, 0, -1, "x"):
        with pytest.raises(InvalidPrior):
            belief.on_grid(grid)


def test_zero_alone_has_a_unit() -> None:
    assert Points({0: 1}).unit == 1
    assert Points({0: 1}).variance == 0


@pytest.mark.parametrize(
    "masses",
    [{}, {"red": 1}, {1: 0.5, "1.0": 0.5}, {math.inf: 1}, {None: 1}, {0: 0.5}, [(1, 0.5)], "ab"],
)
def test_what_is_no_belief_is_refused(masses: object) -> None:
    with pytest.raises(InvalidPrior):
        Points(masses)  # type: ignore[arg-type]


def test_a_belief_is_frozen_and_compared_by_content() -> None:
    belief = Points({1: 0.5, 2: 0.5})
    with pytest.raises(InvalidPrior):
        belief.total = 3
    assert belief == Points([(2, "1/2"), (1, "1/2"), (3, 0)])
    assert hash(belief) == hash(Points([(2, "1/2"), (1, "1/2")]))
    assert belief != Points({1: 0.4, 2: 0.6})
    assert belief != Categorical({1: 0.5, 2: 0.5})


def test_samples_are_numbers() -> None:
    belief = Points(normalised({1: 1, 2.5: 1}))
    assert belief.sample(source=Seeded(1)) in (1, 2.5)
    drawn = belief.sample(5, Seeded(2))
    assert isinstance(drawn, np.ndarray)
    assert drawn.tolist() == belief.sample(5, Seeded(2)).tolist()


def test_places_of_odd_values() -> None:
    assert numeric_place(True) == 1
    assert numeric_place("0.5") == Fraction(1, 2)
    for value in (None, "x", math.nan, math.inf, object(), [1], b"1"):
        assert numeric_place(value) is None
