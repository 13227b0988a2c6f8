"""Amounts: exact, on the coarsest grid, and equal where they mean the same."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tenue.engine.formula import Choice, Product, Quotient, Steps, Sum
from tenue.engine.predicate import Missing, Not, Within
from tenue.query.read.row.amount import (
    Amount,
    added,
    chosen,
    coarsest,
    constant,
    filled,
    multiplied,
    rounded_down,
    scaled,
)

F = Fraction
X, Y = Amount(F(1, 2), Steps("x")), Amount(F(3), Steps("y"))


def test_sums_live_on_the_coarsest_grid_that_holds_all_parts() -> None:
    assert added([X, constant(F(3))]) == Amount(F(1, 2), Sum(6, ((1, Steps("x")),)))
    assert added([scaled(X, F(4)), constant(F(6))]) == Amount(F(2), Sum(3, ((1, Steps("x")),)))
    assert (
        added([X, Y])
        == added([Y, X])
        == Amount(F(1, 2), Sum(0, ((1, Steps("x")), (6, Steps("y")))))
    )


def test_what_cancels_still_decides_what_is_missing() -> None:
    both = added([X, Y, scaled(X, F(-1))])
    assert both == Amount(F(3), Sum(0, ((0, Steps("x")), (1, Steps("y")))))
    assert (
        scaled(X, F(0)) == added([X, scaled(X, F(-1))]) == Amount(F(1), Sum(0, ((0, Steps("x")),)))
    )
    assert scaled(constant(F(3)), F(0)).number == 0
    assert scaled(scaled(X, F(-1)), F(-1)) == X
    assert added([X, X]) == scaled(X, F(2))


def test_grids_of_factors_multiply_and_signs_stand_outside() -> None:
    both = Amount(F(3, 2), Product((Steps("x"), Steps("y"))))
    assert multiplied(X, Y) == multiplied(Y, X) == both
    assert multiplied(scaled(X, F(-1)), Y) == scaled(both, F(-1))
    assert multiplied(scaled(X, F(-1)), scaled(Y, F(-1))) == both


def test_a_choice_lives_on_the_grid_of_all_that_may_be_chosen() -> None:
    condition = Within("z", 0, None)
    assert chosen([(condition, Y)], constant(F(0))) == Amount(
        F(3), Choice(((condition, Steps("y")),), Sum(0))
    )
    assert chosen([(condition, Y)], constant(F(2))) == Amount(
        F(1), Choice(((condition, Sum(0, ((3, Steps("y")),))),), Sum(2))
    )
    assert filled("x", X, constant(F(1))).formula == Choice(
        ((Not(Missing("x")), Steps("x")),), Sum(2)
    )


def test_rounding_down_divides_whole_numbers() -> None:
    assert rounded_down(scaled(Y, F(1, 10))) == Amount(
        F(1), Quotient(Sum(0, ((3, Steps("y")),)), 10)
    )
    assert rounded_down(Y) == Y, "whole numbers stay"


@pytest.mark.parametrize(
    ("values", "grid"), [([F(1, 2), F(1, 3)], F(1, 6)), ([F(4), F(0), F(-6)], F(2)), ([F(0)], F(1))]
)
def test_the_coarsest_grid_is_the_greatest_common_divisor(values: list[F], grid: F) -> None:
    assert coarsest(values) == grid
