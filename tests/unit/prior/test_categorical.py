"""Beliefs about categories."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tenue.errors import InvalidPrior
from tenue.mechanism import refine
from tenue.noise import Seeded
from tenue.prior import Categorical, Ordinal, Points, Table


def test_impossible_categories_are_left_out() -> None:
    belief = Categorical({"a": 0.7, "b": 0.3, "c": 0})
    assert belief.values == ("a", "b")
    assert belief.mass("c") == belief.mass(None) == belief.mass(1.5) == 0
    assert set(belief.sample(50, Seeded(5))) == {"a", "b"}


def test_booleans_and_whole_numbers_are_categories() -> None:
    assert Categorical({True: 0.1, False: 0.9}).mass(True) == Fraction(1, 10)
    assert Categorical({0: 0.1, 1: 0.9}).sample(source=Seeded(1)) in (0, 1)


def test_numpy_values_are_what_they_hold() -> None:
    """Otherwise the truth of an engine would have no place, and nothing would be refined."""
    for belief, value in (
        (Categorical({True: 0.1, False: 0.9}), np.bool_(True)),
        (Categorical({1: 0.1, 0: 0.9}), np.int64(1)),
        (Categorical({"a": 0.1, "b": 0.9}), np.str_("a")),
        (Points({0.1: 0.1, 0: 0.9}), np.float32(0.1)),
        (Points({1: 0.1, 0: 0.9}), np.bool_(True)),
        (Table({("a", True): 0.1, ("b", True): 0.9}), (np.str_("a"), np.bool_(True))),
    ):
        assert belief.mass(value) == Fraction(1, 10)
        assert refine(belief, value, 1, kind="individual").mass(value) > Fraction(1, 5)


def test_ranks_count_categories_of_mass_zero() -> None:
    belief = Ordinal(["low", "middle", "high"], [0.5, 0, 0.5])
    assert belief.values == ("low", "high")
    assert [belief.rank(label) for label in ("low", "high", "none", 3.5)] == [0, 2, None, None]


@pytest.mark.parametrize(
    ("order", "masses"),
    [
        (["a", "a"], [0.5, 0.5]),
        (["a"], [0.5, 0.5]),
        ([1.5], [1]),
        ("ab", [0.5, 0.5]),
        ([], []),
        (["a"], 1),
        (["a", "b"], [0.5, 0.4]),
    ],
)
def test_what_is_no_order_is_refused(order: object, masses: object) -> None:
    with pytest.raises(InvalidPrior):
        Ordinal(order, masses)  # type: ignore[arg-type]


@pytest.mark.parametrize("masses", [{1.5: 1}, {None: 1}, [("a", 0.5), ("a", 0.5)], {("a",): 1}])
def test_what_is_no_category_is_refused(masses: object) -> None:
    with pytest.raises(InvalidPrior):
        Categorical(masses)  # type: ignore[arg-type]
