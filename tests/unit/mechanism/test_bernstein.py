"""Components of squares and products: their L1 budget, and moments read off them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest

from tenue.mechanism.bernstein import Axis, Bernstein, basis, functional, powers_of

X, Y = Axis("x", -2, 5), Axis("y", 0, 3)
CASES = [((X,), 1), ((X,), 2), ((X, Y), 1), ((X, Y), 2)]


def moments(rows: Any, axes: Any, degree: int) -> dict[Any, int]:
    return {
        powers: sum(
            math.prod((v - a.low) ** p for v, a, p in zip(row, axes, powers, strict=True))
            for row in rows
        )
        for powers in powers_of(len(axes), degree)
    }


def rows_of(axes: Any) -> list[tuple[int, ...]]:
    return list(itertools.product(*(range(a.low, a.low + a.width + 1) for a in axes)))


@pytest.mark.parametrize(("axes", "degree"), CASES)
def test_every_row_moves_the_components_by_the_same_sum(axes: Any, degree: int) -> None:
    budget = math.prod(a.width**degree for a in axes)
    for row in rows_of(axes):
        found = [c.of_moments(moments([row], axes, degree)) for c in basis(axes, degree)]
        assert min(found) >= 0
        assert sum(found) == budget


def test_plain_powers_would_waste_the_budget() -> None:
    """Mutant: noise on n, Σm and Σm² themselves needs a sensitivity of 1 + M + M²."""
    plain = [sum(moments([row], (X,), 2).values()) for row in rows_of((X,))]
    assert max(plain) > X.width**2


@pytest.mark.parametrize(("axes", "degree"), CASES)
def test_moments_are_read_off_the_components(axes: Any, degree: int) -> None:
    rows = rows_of(axes)[::2] * 2
    true = moments(rows, axes, degree)
    released = [c.of_moments(true) for c in basis(axes, degree)]
    for powers in powers_of(len(axes), degree):
        weights = functional(axes, degree, powers)
        read = sum((w * c for w, c in zip(weights, released, strict=True)), Fraction(0))
        assert read == true[powers]


def test_a_component_names_its_columns() -> None:
    assert Bernstein((X, Y), 1, (0, 1)).column == "x and y"
