"""Ranges of formulas hold every value, and nothing on the way to one is larger than said."""

from __future__ import annotations

import itertools
from datetime import date
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle_engine import OracleEngine
from tenue.engine.formula import (
    MOST_STEPS,
    Choice,
    DateField,
    Formula,
    Product,
    Quotient,
    Steps,
    Sum,
    check_range,
    columns_of,
    leaf_ends,
    never_missing,
    range_of,
)
from tenue.engine.predicate import Among, Missing, Within
from tenue.errors import InvalidQuestion, Refused
from tenue.schema import Schema

TABLE = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "x": {"type": "number", "bounds": [-2, 3]},
            "y": {"type": "number", "bounds": [1, 2], "grid": 0.5, "missing": 1},
            "b": {"type": "boolean"},
            "d": {"type": "date", "bounds": ["2019-12-30", "2020-01-02"]},
        },
    }
)
X, Y = Steps("x"), Steps("y")


def ends(leaf: Steps | DateField) -> tuple[int, int]:
    return leaf_ends(TABLE.column(leaf.column), leaf)


def tree(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    weights = st.integers(-3, 3)
    terms = st.lists(st.tuples(weights, inner), min_size=1, max_size=3).map(tuple)
    conditions = st.sampled_from([Within("x", 0, 1), Missing("x"), Among("b", (True,))])
    return st.one_of(
        st.builds(Sum, weights, terms),
        st.builds(Product, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(Quotient, inner, st.integers(1, 4)),
        st.builds(
            Choice,
            st.lists(st.tuples(conditions, inner), min_size=1, max_size=2).map(tuple),
            st.none() | inner,
        ),
    )


FORMULAS = st.recursive(
    st.sampled_from([X, Y, DateField("d", "isodow"), Sum(2)]), tree, max_leaves=6
)
ROWS: list[dict[str, Any]] = [
    dict(zip("xybd", values, strict=True))
    for values in itertools.product(
        [None, -2, 0, 1, 3],
        [None, 1, Fraction(3, 2), 2],
        [None, True, False],
        [None, date(2019, 12, 30), date(2020, 1, 2)],
    )
]


@given(FORMULAS)
def test_no_row_leaves_the_range(formula: Formula) -> None:
    low, high = range_of(formula, ends)
    found = [OracleEngine(TABLE, [])._formula(formula, row) for row in ROWS]
    there = [value for value in found if value is not None]
    assert all(low <= value <= high for value in there)
    if never_missing(formula, lambda name: TABLE.column(name).missing is not None):
        assert len(there) == len(found)


def test_ranges_are_as_narrow_as_intervals_can_be() -> None:
    assert range_of(Sum(1, ((2, X), (-1, Y))), ends) == (1 - 4 - 4, 1 + 6 - 2)
    assert range_of(Product((X, X)), ends) == (-6, 9)
    assert range_of(Quotient(X, 2), ends) == (-1, 1)
    assert range_of(Choice(((Within("x", 0, None), Y),)), ends) == (2, 4)


def test_a_choice_may_be_what_stands_after_else() -> None:
    """A range without the 0 of ELSE 0 would say that one row moves a sum by 2 at most."""
    assert range_of(Choice(((Within("x", 0, None), Sum(0, ((5, Y),))),), Sum(0)), ends) == (0, 20)


def test_fields_of_dates_follow_from_their_bounds() -> None:
    assert ends(DateField("d", "year")) == (2019, 2020)
    assert ends(DateField("d", "month")) == (1, 12)
    for leaf in (DateField("d", "hour"), DateField("x", "year"), Steps("b")):
        with pytest.raises(Refused):
            ends(leaf)


def test_only_what_is_filled_in_is_never_missing() -> None:
    def filled(name: str) -> bool:
        return name == "y"

    assert never_missing(Sum(1, ((2, Y),)), filled)
    assert not never_missing(Product((X, Y)), filled)
    assert not never_missing(Choice(((Missing("x"), Y),)), filled)
    assert never_missing(Choice(((Missing("x"), Y),), Sum(0)), filled)


def test_what_may_be_too_large_is_refused_from_the_bounds() -> None:
    assert check_range(Sum(MOST_STEPS - 3, ((1, X),)), ends)[1] == MOST_STEPS
    with pytest.raises(InvalidQuestion):
        check_range(Sum(MOST_STEPS - 2, ((1, X),)), ends)
    with pytest.raises(InvalidQuestion):  # small at the end, and huge on the way
        check_range(Quotient(Sum(0, ((2**130, X),)), 2**130), ends)


def test_every_column_is_named() -> None:
    formula = Sum(0, ((1, Choice(((Missing("b"), X),), Y)), (1, DateField("d", "year"))))
    assert list(columns_of(formula)) == ["b", "x", "y", "d"]
