"""Parts: components of cells and their noise."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tenue.errors import NotPromised
from tenue.mechanism.part import Atoms, Component, Part
from tenue.noise import DiscreteLaplace, OptimalBox, Seeded

ATOMS = Atoms(rows=10, present={"x": 8}, total={"x": 100})
ENDS = {"column": "x", "low": -5, "high": 20}


@pytest.mark.parametrize(
    ("component", "value"),
    [
        (Component("rows"), 10),
        (Component("present", "x"), 8),
        (Component("absent", "x"), 2),
        (Component("total", "x"), 100),
        (Component("minus-total", "x"), -100),
        (Component("above", "x", -5, 20), 60),
        (Component("below", "x", -5, 20), 140),
        (Component("minus-below", "x", -5, 20), -140),
    ],
)
def test_components_follow_their_definition(component: Component, value: int) -> None:
    assert component.of(ATOMS) == value


def test_above_and_below_hold_count_and_sum() -> None:
    above, below = (Component(k, "x", -5, 20).of(ATOMS) for k in ("above", "below"))  # type: ignore[arg-type]
    assert (above + below) / 25 == 8
    assert Fraction(-5 * above + 20 * below, 25) == 100


LAWS = [
    (DiscreteLaplace(sensitivity=1, epsilon=1), 1),
    ((DiscreteLaplace(sensitivity=1, epsilon=1), DiscreteLaplace(sensitivity=9, epsilon=1)), 2),
    (OptimalBox(sensitivities=[1, 3], epsilon=1), 2),
]


@pytest.mark.parametrize(("law", "size"), LAWS)
def test_noise_is_added_to_the_truth(law: object, size: int) -> None:
    part = Part("p", (Component("rows"), Component("present", "x"))[:size], law, Fraction(1))  # type: ignore[arg-type]
    released = part.release([ATOMS] * 3000)
    assert len(released) == 3000
    assert {len(row) for row in released} == {size}
    mean = sum(row[0] for row in released) / 3000
    assert abs(mean - 10) < 1  # 20 standard errors or more for every law here
    assert len({row[0] for row in released}) > 3


def test_a_repeatable_source_is_refused() -> None:
    part = Part("p", (Component("rows"),), LAWS[0][0], Fraction(1))  # type: ignore[arg-type]
    with pytest.raises(NotPromised):
        part.release([ATOMS], Seeded(1))
