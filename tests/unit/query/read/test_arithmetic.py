"""Arithmetic on private answers, put in one order."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tenue.errors import InvalidQuestion
from tenue.query.question import Aggregate, Applied, Arithmetic, Constant
from tenue.query.read.arithmetic import ZERO, computed, has_aggregate, levels, needs_parentheses

ROWS, SUM = Aggregate("count"), Aggregate("sum", "x")
TWO, THREE = Constant(Fraction(2)), Constant(Fraction(3))


def test_constants_are_computed() -> None:
    assert computed("-", TWO, THREE) == Constant(Fraction(-1))
    assert computed("/", TWO, THREE) == Constant(Fraction(2, 3))


def test_the_sides_of_a_sum_stand_in_one_order_and_those_of_a_difference_as_written() -> None:
    assert computed("+", SUM, ROWS) == computed("+", ROWS, SUM)
    assert computed("*", TWO, ROWS) == computed("*", ROWS, TWO)
    assert computed("-", SUM, ROWS) != computed("-", ROWS, SUM)


def test_nothing_is_divided_by_zero() -> None:
    with pytest.raises(InvalidQuestion):
        computed("/", ROWS, ZERO)


def test_what_is_asked_of_the_table_is_found_inside() -> None:
    assert has_aggregate(Applied("round", Arithmetic("+", TWO, ROWS), Fraction(0)))
    assert not has_aggregate(Applied("round", Arithmetic("+", TWO, THREE), Fraction(0)))


def test_a_sum_in_a_product_needs_parentheses() -> None:
    total = Arithmetic("+", ROWS, SUM)
    assert needs_parentheses(Arithmetic("*", total, TWO), total)
    assert not needs_parentheses(Arithmetic("-", total, TWO), total)
    assert levels(Arithmetic("*", total, TWO)) > levels(Arithmetic("-", total, TWO))
