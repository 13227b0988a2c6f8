"""Readings off released numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tenue.mechanism.error import Term
from tenue.mechanism.part import Component, Part
from tenue.noise import DiscreteLaplace
from tenue.noise.criterion import VARIANCE
from tenue.query.family.reading import Combined, Linear, fold, reach
from tenue.query.family.smooth import ValueOnly
from tenue.query.question import Aggregate, Arithmetic, Constant

LAW = DiscreteLaplace(sensitivity=100, epsilon=1)
COUNT_LAW = DiscreteLaplace(sensitivity=1, epsilon=1)
PAIR = Part(
    "pair",
    (Component("above", "x", 0, 100), Component("below", "x", 0, 100)),
    (LAW, LAW),
    Fraction(1),
)
SINGLE = Part("count", (Component("rows"),), COUNT_LAW, Fraction(1))
PARTS = (PAIR, SINGLE)
LEVEL = Fraction(19, 20)
ROWS = Linear((Term(1, 0, Fraction(1)),), grid=Fraction(1))
NOISY = [[7_500, 2_500], [100]]


def test_linear_values_are_rounded_half_up_to_their_grid() -> None:
    half = Linear((Term(1, 0, Fraction(1, 2)),), grid=Fraction(1))
    assert [half.value([[], [n]], None) for n in (1, 2, -1, -2)] == [1, 1, 0, -1]
    assert Linear((Term(1, 0, Fraction(1, 2)),)).value([[], [1]], None) == Fraction(1, 2)


def test_linear_arithmetic_keeps_its_exact_error() -> None:
    count = Aggregate("count")
    readings = {count: ROWS}
    twice = fold(Arithmetic("*", Constant(Fraction(2)), count), readings)
    assert isinstance(twice, Linear)
    assert twice.expected_error(PARTS, NOISY, None) == pytest.approx(
        2 * COUNT_LAW.mean_absolute_error
    )
    nothing = fold(Arithmetic("-", count, count), readings)
    assert nothing.interval(PARTS, LEVEL, NOISY, None) == (0, 0)
    shifted = fold(Arithmetic("+", count, Constant(Fraction(5))), readings)
    assert shifted.value(NOISY, None) == 105


def test_ratios_have_wide_but_honest_intervals() -> None:
    count = Aggregate("count")
    ratio = fold(Arithmetic("/", count, Arithmetic("+", count, count)), {count: ROWS})
    assert isinstance(ratio, Combined)
    assert ratio.value(NOISY, None) == Fraction(1, 2)
    assert ratio.value([[], [0]], None) is None
    assert ratio.interval(PARTS, LEVEL, [[], [1]], None) is None  # the divisor may be 0
    found = ratio.interval(PARTS, LEVEL, NOISY, None)
    assert found is not None
    assert found[0] < Fraction(1, 2) < found[1]
    assert ratio.expected_error(PARTS, NOISY, None) is None


def test_linear_readings_are_moved_with_their_noise() -> None:
    assert ROWS.moved(2, 7).value([[], [], *NOISY], None) == ROWS.value(NOISY, None)


def test_what_is_untold_stays_untold_in_arithmetic() -> None:
    value = ValueOnly(Fraction(1), differential=True)
    count = Aggregate("count")
    asked = Aggregate("max", "x")
    both = fold(Arithmetic("+", asked, count), {asked: value, count: ROWS})
    assert both.expect("n", PARTS, None).words == ("untold", "untold")
    assert both.size(PARTS, VARIANCE) == float("inf")
    assert ROWS.expect("n", PARTS, None).words is None


def test_a_reach_is_told_on_both_sides_only_where_they_are_alike() -> None:
    assert reach(Fraction(10), (Fraction(8), Fraction(12))) == "2"
    assert reach(Fraction(10), (Fraction(9), Fraction(15))) == "9 to 15"
    assert reach(Fraction(10), None) == reach("red", (Fraction(0), Fraction(1))) == ""
