"""Errors of sums of components."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tenue.mechanism.error import Term, half_width, linear_error
from tenue.mechanism.part import Component, Part
from tenue.noise import DiscreteLaplace, Optimal, OptimalBox

ROWS = (Component("rows"),)
LAPLACE = DiscreteLaplace(sensitivity=4, epsilon=1)
STEP = Optimal(sensitivity=30, epsilon=1).on_grid(1)
BOX = OptimalBox(sensitivities=[1, 5], epsilon=1, signs="same")
PARTS = (
    Part("a", ROWS, LAPLACE, Fraction(1)),
    Part("b", ROWS, STEP, Fraction(1)),
    Part("c", ROWS * 2, BOX, Fraction(1)),
)
LEVEL = Fraction(9, 10)


def test_single_terms_have_the_law_of_their_part() -> None:
    for number, law in ((0, LAPLACE), (1, STEP)):
        error = linear_error(PARTS, (Term(number, 0, Fraction(-3)),))
        assert error.variance == pytest.approx(9 * law.variance)
        assert error.mean_absolute_error == pytest.approx(3 * law.mean_absolute_error)
        assert half_width(error, LEVEL) == pytest.approx(3 * law.interval(LEVEL)[1])
    box = linear_error(PARTS, (Term(2, 1, Fraction(1)),))
    assert half_width(box, LEVEL) == BOX.on_grid(1).interval(LEVEL)[1][1]
    assert box.quick_half_width(LEVEL) == pytest.approx(BOX.interval(LEVEL)[1][1])


def test_laplace_terms_add_up_exactly() -> None:
    parts = (PARTS[0], PARTS[0])
    error = linear_error(parts, (Term(0, 0, Fraction(1)), Term(1, 0, Fraction(1))))
    assert error.variance == pytest.approx(2 * LAPLACE.variance)
    assert half_width(error, LEVEL) < 1.8 * LAPLACE.interval(LEVEL)[1]


def test_mixed_terms_are_bounded() -> None:
    error = linear_error(PARTS, (Term(0, 0, Fraction(1)), Term(1, 0, Fraction(1))))
    assert error.variance >= LAPLACE.variance + STEP.variance
    assert error.mean_absolute_error is None
    alone = Fraction(19, 20)
    assert half_width(error, LEVEL) == pytest.approx(
        LAPLACE.interval(alone)[1] + STEP.interval(alone)[1]
    )


def test_terms_that_cancel_leave_no_error() -> None:
    error = linear_error(PARTS, (Term(0, 0, Fraction(0)),))
    assert (error.variance, half_width(error, LEVEL)) == (0, 0)
