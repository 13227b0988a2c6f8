"""Means read off a pair, and off a sum over a public number of rows."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tenue.mechanism.error import Term
from tenue.mechanism.part import Component, Part
from tenue.noise import DiscreteLaplace
from tenue.query.family.mean import Mean, MeanOfAll

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
MEAN = Mean(0, Fraction(0), Fraction(100))
NOISY = [[7_500, 2_500], [100]]


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


def test_means_are_moved_with_their_noise() -> None:
    assert MEAN.moved(1, 5).value([[], *NOISY], None) == MEAN.value(NOISY, None)
    total = MeanOfAll(Term(1, 0, Fraction(1)))
    assert total.moved(2, 0).value([[], [], *NOISY], 50) == total.value(NOISY, 50)
    assert total.needs_row_count
    assert not MEAN.needs_row_count
