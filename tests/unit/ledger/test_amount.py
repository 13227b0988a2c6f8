from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.errors import InvalidArgument
from tenue.ledger.amount import ATTO, LARGEST, atto, cap, decimal, delta_cap, in_delta, in_epsilon


@given(st.fractions(min_value=0, max_value=1000))
def test_a_cap_never_grows_by_rounding(total: Fraction) -> None:
    nano = cap(total, "total")
    assert in_epsilon(nano) <= total < in_epsilon(nano + 1)


@given(st.fractions(min_value=0, max_value=1).filter(lambda x: x < 1))
def test_a_price_of_delta_never_shrinks_and_its_cap_never_grows(delta: Fraction) -> None:
    assert in_delta(delta_cap(delta, "delta")) <= delta <= in_delta(atto(delta))
    assert atto(delta) - delta_cap(delta, "delta") in (0, 1)


@given(st.integers(0, LARGEST), st.integers(0, ATTO))
def test_every_digit_is_shown(nano: int, small: int) -> None:
    assert Fraction(decimal(in_epsilon(nano))) == in_epsilon(nano)
    assert Fraction(decimal(in_delta(small))) == in_delta(small)


def test_whole_numbers_keep_their_zeros() -> None:
    assert [decimal(Fraction(n)) for n in (0, 5, 10, 100)] == ["0", "5", "10", "100"]


@pytest.mark.parametrize("total", [-1, "x", float("inf"), 1_000_001, None, True])
def test_what_is_no_budget_is_refused(total: object) -> None:
    with pytest.raises(InvalidArgument):
        cap(total, "total")


@pytest.mark.parametrize("delta", [-1e-9, 1, "nan"])
def test_what_is_no_delta_is_refused(delta: object) -> None:
    for read in (atto, lambda value: delta_cap(value, "total_delta")):
        with pytest.raises(InvalidArgument):
            read(delta)
