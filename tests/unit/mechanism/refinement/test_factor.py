"""Factors are rational and never exceed e^ε."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refinement_oracle import power
from tenue.errors import InvalidArgument, Refused
from tenue.mechanism.refinement.factor import factors, float_factors, power_above, power_below

EPSILONS = st.decimals("1e-12", 40, places=12).filter(lambda x: x > 0)


@given(EPSILONS)
def test_powers_enclose_and_are_tight(epsilon: object) -> None:
    x = Fraction(str(epsilon))
    true = power(epsilon)
    low, high = power_below(x), power_above(x)
    tiny = true / 10**50  # what the decimal module may be off
    assert low <= true + tiny
    assert high >= true - tiny
    assert high - low <= Fraction(4, 2**96)
    assert low > 1


@given(EPSILONS)
def test_the_promise_of_the_factors(epsilon: object) -> None:
    one, two = factors(epsilon, "individual", "0.1"), factors(epsilon, "statistical", "0.1")
    limit = power(epsilon) * (1 + Fraction(1, 10**50))
    assert 1 < one.up <= limit
    assert one.down * limit >= 1
    assert two.up <= limit * two.down
    for found in (one, two):
        raised = found.core_mass
        assert found.up * raised + found.down * (1 - raised) == 1
    assert one.core_mass == 1 / (1 + one.up)  # 1/(1+e^ε), not e^ε/(1+e^ε) as printed
    assert one.moved * limit <= Fraction(1, 10) * (1 + Fraction(1, 10**49))
    assert two.moved * (1 + power(epsilon)) <= Fraction(1, 10) * (1 + Fraction(1, 10**49))


def test_large_epsilon_is_no_trouble() -> None:
    found = factors(10_000, "individual", 0.5)
    assert found.up.numerator.bit_length() > 14_000
    assert found.moved > 0
    assert float_factors(10_000, "individual").up < 10**300
    assert float_factors(5, "statistical", 3) == factors(5, "statistical", 0, 3)
    with pytest.raises(InvalidArgument):
        factors(10_000, "statistical", 0, 0.5)  # e^10000 is no double, and need not be


def test_alpha_up_is_the_callers_for_statistical_questions() -> None:
    found = factors(1, "statistical", 0, 2)
    assert found.up == 2
    assert found.up / found.down == power_below(Fraction(1))
    assert factors(1, "statistical", 0, 1).core_mass == 1
    for alpha in (0.99, 2.72, float("nan"), "x"):
        with pytest.raises(InvalidArgument):
            factors(1, "statistical", 0, alpha)
    with pytest.raises(InvalidArgument, match="individual"):
        factors(1, "individual", 0, 2)


@pytest.mark.parametrize(
    ("epsilon", "kind", "delta"),
    [
        (0, "individual", 0),
        (-1, "individual", 0),
        (1e5, "individual", 0),
        (float("inf"), "individual", 0),
        (1, "both", 0),
        (1, None, 0),
        (1, "individual", 1),
        (1, "individual", -0.1),
        (1, "statistical", "x"),
    ],
)
def test_wrong_parameters_are_refused(epsilon: object, kind: object, delta: object) -> None:
    with pytest.raises(Refused):
        factors(epsilon, kind, delta)
