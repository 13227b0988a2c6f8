"""What beliefs with finitely many values share: support, masses, draws, values as they leave."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.noise import Seeded
from tenue.prior import Categorical, Points, Table, normalised
from tenue.prior.finite import plain, shown_value, shown_values


def test_values_leave_as_ints_doubles_or_texts() -> None:
    assert shown_value(Fraction(6, 2)) == 3
    assert type(shown_value(Fraction(3))) is int
    assert shown_value(Fraction(1, 3)) == 1 / 3
    assert shown_value((Fraction(1), "a", Fraction(1, 2))) == (1, "a", 0.5)
    assert shown_value(True) is True
    whole = shown_values([Fraction(1), Fraction(5, 2)])
    assert isinstance(whole, np.ndarray)
    assert whole.tolist() == [1, 2.5]
    # truth values are no numbers: an array of them would be one of 0 and 1
    assert shown_values([True, False]) == [True, False]
    assert shown_values(["a", Fraction(1)]) == ["a", 1]


def test_numpys_clothes_come_off() -> None:
    for dressed, bare in ((np.int64(3), 3), (np.bool_(True), True), (np.str_("a"), "a")):
        assert plain(dressed) == bare
        assert type(plain(dressed)) is type(bare)
    assert plain("a") == "a"


@given(st.dictionaries(st.integers(-50, 50), st.integers(0, 9), min_size=1, max_size=20))
def test_the_support_is_what_has_mass(weights: dict[int, int]) -> None:
    if not sum(weights.values()):
        weights[0] = 1
    belief = Points(normalised(weights))
    total = sum(weights.values())
    assert set(belief.values) == {value for value, weight in weights.items() if weight}
    assert all(weight > 0 for weight in belief.weights)
    assert sum(belief.weights) == belief.total == belief.cumulative[-1]
    assert sum(belief.masses.values()) == 1
    for value, weight in weights.items():
        assert belief.mass(value) == Fraction(weight, total)
        if weight:
            assert belief.values[belief.places[Fraction(value)]] == value


def test_what_is_no_value_has_no_mass() -> None:
    belief = Table({("a", 1): "0.5", ("b", 2): "0.5"})
    for strange in (("a", 2), ("a",), "a", None, 7, ("a", "1", 1), (1, "a")):
        assert belief.mass(strange) == 0
    assert belief.mass(["a", np.int64(1)]) == Fraction(1, 2)


def test_draws_follow_the_masses_and_one_is_no_list() -> None:
    belief = Categorical({"a": "0.7", "b": "0.3", "never": 0})
    assert belief.sample(source=Seeded(1)) in ("a", "b")
    drawn = Counter(belief.sample(4000, source=Seeded(7)))
    assert set(drawn) == {"a", "b"}
    assert drawn["a"] / 4000 == pytest.approx(0.7, abs=0.04)
