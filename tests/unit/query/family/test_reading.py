"""Readings off released numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tenue.mechanism.error import Term
from tenue.mechanism.part import Component, Part
from tenue.noise import DiscreteLaplace
from tenue.query.family.reading import Combined, Linear, Mean, MeanOfAll, fold
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
MEAN = Mean(0, Fraction(0), Fraction(100))
NOISY = [[7_500, 2_500], [100]]


def test_linear_values_are_rounded_half_up_to_their_grid() -> None:
    half = Linear((Term(1, 0, Fraction(1, 2)),), grid=Fraction(1))
    assert [half.value([[], [n]], None) for n in (1, 2, -1, -2)] == [1, 1, 0, -1]
    assert Linear((Term(1, 0, Fraction(1, 2)),)).value([[], [1]], None) == Fraction(1, 2)


def test_a_mean_is_read_off_the_pair_and_stays_in_range() -> None:
    assert MEAN.value(NOISY, None) == 25
    assert MEAN.value([[-50, 200]], None) == 100
    assert MEAN.value([[-50, 20]], None) == 50  # no rows are visible


def test_an_interval_of_a_mean_holds_its_value_and_shrinks_with_rows() -> None:
    few = MEAN.interval(PARTS, LEVEL, NOISY, None)
    many = MEAN.interval(PARTS, LEVEL, [[750_000, 250_000], [10_000]], None)
    assert few is not None
    assert many is not None
    assert few[0] < 25 < few[1]
    assert (many[1] - many[0]) * 50 < few[1] - few[0]
    # with almost no rows nothing is known: the whole range
    assert MEAN.interval(PARTS, LEVEL, [[30, 30], [0]], None) == (0, 100)


def test_a_mean_over_all_rows_divides_a_sum() -> None:
    mean = MeanOfAll(Term(1, 0, Fraction(1)))
    assert mean.value(NOISY, 50) == 2
    assert mean.interval(PARTS, LEVEL, NOISY, None) is None
    found = mean.interval(PARTS, LEVEL, NOISY, 50)
    assert found is not None
    assert found[1] - found[0] == pytest.approx(2 * COUNT_LAW.interval(LEVEL)[1] / 50)


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
