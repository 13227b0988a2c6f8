"""Values must come back from TOML exactly as they went in."""

from __future__ import annotations

import tomllib
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.schema.literal import decimal, key, literal, plain, same, show

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALARS = (
    st.integers()
    | st.booleans()
    | TEXTS
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.dates()
    | st.datetimes()
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4)
)


@given(VALUES)
def test_what_is_written_reads_back_the_same(value: Any) -> None:
    text = f"x = {literal(value)}"
    assert same(tomllib.loads(text, parse_float=Decimal)["x"], value, unordered=0)


@given(TEXTS)
def test_any_text_can_be_a_key(name: str) -> None:
    assert tomllib.loads(f"{key(name)} = 1") == {name: 1}


@given(st.integers(), st.integers(0, 40), st.integers(0, 40))
def test_a_decimal_equals_its_fraction(numerator: int, twos: int, fives: int) -> None:
    number = Fraction(numerator, 2**twos * 5**fives)
    found = decimal(number)
    assert found is not None
    assert Fraction(found) == number


@given(st.integers(1, 10**6), st.sampled_from([3, 7, 30, 14]))
def test_other_fractions_have_no_decimal(numerator: int, denominator: int) -> None:
    number = Fraction(numerator, denominator)
    finite = Fraction(numerator * 10**9, denominator).denominator == 1
    assert (decimal(number) is not None) == finite


def test_floats_mean_their_shortest_decimal() -> None:
    assert plain(0.1) == Decimal("0.1")
    assert plain([0.7, np.float64(0.3), np.float32(0.1), np.int64(3)]) == [
        Decimal("0.7"),
        Decimal("0.3"),
        Decimal("0.1"),
        3,
    ]
    assert plain(Fraction(1, 8)) == Decimal("0.125")
    assert plain(Fraction(1, 3)) == Fraction(1, 3)


def test_none_is_an_absent_key() -> None:
    assert plain({"a": None, "b": {"c": None}}) == {"b": {}}


def test_a_mapping_inside_itself_ends() -> None:
    endless: dict[str, Any] = {}
    endless["a"] = endless
    with pytest.raises(RecursionError):
        plain(endless)


def test_true_is_not_one() -> None:
    assert same({"a": [1]}, {"a": [Decimal("1.0")]}, unordered=0)
    assert not same({"a": [1]}, {"a": [True]}, unordered=0)
    assert not same({"a": 1}, {"a": 1, "b": 2}, unordered=1)
    assert not same([1], [1, 2], unordered=0)


def test_order_counts_below_the_level_given() -> None:
    one, other = {"x": {"a": 1, "b": 2}, "y": 3}, {"y": 3, "x": {"b": 2, "a": 1}}
    assert same(one, other, unordered=2)
    assert not same(one, other, unordered=1)
    assert not same({"x": 1, "y": 2}, {"y": 2, "x": 1}, unordered=0)


def test_what_is_shown_is_short_and_can_be_printed() -> None:
    values: list[object] = ["x" * 500, [1] * 500, "\ud800", 10**9999, Fraction(1, 10**9999)]
    values += [{"a" * 99: 1}, {1: 2}, object(), None, b"\xff", Decimal("NaN"), [["x" * 99] * 99]]
    values += [date(2020, 1, 1), datetime(2020, 1, 1), True]
    for value in values:
        shown = show(value)
        assert 0 < len(shown) <= 60
        shown.encode("utf-8")
