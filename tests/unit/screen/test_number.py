"""Each kind of number is written in one way."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tenue.screen.number import exactly, many, named, percent, plain, readable, shortly


@given(st.fractions())
def test_shown_numbers_are_exact(number: Fraction) -> None:
    assert Fraction(exactly(number)) == number


def test_numbers_are_short() -> None:
    assert [percent(x) for x in (0, 1, 0.25, 1e-6, 1 - 1e-6)] == [
        "0 %",
        "100 %",
        "25 %",
        "less than 0.1 %",
        "more than 99.9 %",
    ]
    assert shortly(float("inf"), 4) == "infinite"
    assert shortly(2 / 3, 4) == "0.6667"


def test_errors_have_three_digits_and_are_whole_from_a_thousand_on() -> None:
    assert [shortly(x) for x in (0.00123456, 999.4, 1000.4, -2345.6)] == [
        "0.00123",
        "999",
        "1,000",
        "-2,346",
    ]
    assert shortly(math.inf) == "infinite"


def test_values_keep_their_digits_below_a_hundred_thousand() -> None:
    assert readable(Fraction(99_999_999, 1000)) == "100,000"
    assert readable(12345.678) == "12,345.7"
    assert readable(True) == "True"
    assert readable(None) == "undefined"


def test_a_rational_becomes_an_int_or_the_nearest_double() -> None:
    assert plain(Fraction(4, 2)) == 2
    assert isinstance(plain(Fraction(4, 2)), int)
    assert plain(Fraction(1, 3)) == 1 / 3
    assert plain("flu") == "flu"


def test_nouns_and_names() -> None:
    assert many(1, "group") == "1 group"
    assert many(0, "group") == "0 groups"
    assert named(["a"]) == "`a`"
    assert named([]) == ""
