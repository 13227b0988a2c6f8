"""What given numbers mean, and what is refused."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.arguments import above_zero, checked_call, exact, fraction_of_one, step_count, whole
from tenue.errors import InvalidArgument, InvalidSchema, Refused


def test_a_float_means_the_decimal_it_prints() -> None:
    assert exact(0.1, "x") == Fraction(1, 10)
    assert exact(0.7, "x") + exact(0.3, "x") == 1
    assert exact(np.float32(0.1), "x") == Fraction(1, 10)
    assert exact(np.int64(7), "x") == 7
    assert exact(np.array(2.5), "x") == Fraction(5, 2)
    assert exact(Decimal("1e-3"), "x") == Fraction(1, 1000)
    assert exact("1_000.5", "x") == Fraction(2001, 2)
    assert exact("1/3", "x") == Fraction(1, 3)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_comes_back(value: float) -> None:
    assert float(exact(value, "x")) == value


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        -float("inf"),
        None,
        True,
        "",
        "many",
        "1/0",
        "nan",
        "1e999999999",
        "9" * 500,
        [1],
        1j,
        Decimal("NaN"),
        Decimal("Infinity"),
        np.array([1.0, 2.0]),
        object(),
    ],
)
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(InvalidArgument) as refused:
        exact(value, "epsilon")
    assert "`epsilon`" in refused.value.what
    assert refused.value.allowed
    assert refused.value.fix


def test_ranges() -> None:
    assert above_zero(0.5, "x") == Fraction(1, 2)
    assert fraction_of_one("0.95", "level") == Fraction(19, 20)
    assert whole(3.0, "k") == 3
    for bad in (0, -1):
        with pytest.raises(InvalidArgument):
            above_zero(bad, "x")
    for bad in (0, 1, 95):
        with pytest.raises(InvalidArgument):
            fraction_of_one(bad, "level")
    for bad in (1.5, -1):
        with pytest.raises(InvalidArgument):
            whole(bad, "k")
    with pytest.raises(InvalidSchema):
        above_zero(0, "grid", refusal=InvalidSchema)


def test_steps_of_a_grid() -> None:
    assert step_count(Fraction(3, 10), Fraction(1, 10), "low") == 3
    with pytest.raises(InvalidArgument, match=r"Use 0.2 or 0.3"):
        step_count(Fraction(1, 4), Fraction(1, 10), "low")


def test_calls_are_checked() -> None:
    @checked_call
    def law(*, sensitivity: int, epsilon: int = 1) -> int:
        return sensitivity * epsilon

    assert law(sensitivity=2) == 2
    with pytest.raises(Refused, match="needs `sensitivity`"):
        law()  # type: ignore[call-arg]
    with pytest.raises(Refused, match="Did you mean `epsilon`"):
        law(sensitivity=1, epsilom=2)  # type: ignore[call-arg]
    with pytest.raises(Refused, match="Name each parameter"):
        law(3, sensitivity=1)  # type: ignore[misc]

    with pytest.raises(Refused, match=r"Write law\(sensitivity=3, epsilon=1\), if that is"):
        law(3, epsilon=1)  # type: ignore[misc, call-arg]

    @checked_call
    def fails(*, x: int) -> int:
        raise TypeError("inside")

    with pytest.raises(TypeError, match="inside"):
        fails(x=1)
