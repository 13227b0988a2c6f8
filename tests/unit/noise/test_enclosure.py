"""Enclosures hold the real number, against many more digits than they promise."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from tenue.noise.enclosure import Enclosure, exp_minus, powers

rationals = st.fractions(min_value=0, max_value=60, max_denominator=10**12)
small = st.builds(Fraction, st.integers(1, 10**6), st.integers(10**6, 10**30))
positive = st.fractions(min_value=Fraction(1, 1000), max_value=50, max_denominator=10**9)
widths = st.sampled_from([8, 30, 64, 96, 200, 700])


def holds(e: Enclosure, value: mpf) -> bool:
    scaled = value * mpf(2) ** e.bits
    return bool(e.low <= scaled <= e.high)


def exp_of(x: Fraction) -> mpf:
    return mp.exp(-mpf(x.numerator) / mpf(x.denominator))


@pytest.fixture(autouse=True)
def _many_digits() -> object:
    with mp.workdps(700):
        yield


@settings(max_examples=150, deadline=None)
@given(x=st.one_of(rationals, small), bits=widths)
def test_exp_minus_encloses_and_is_tight(x: Fraction, bits: int) -> None:
    e = exp_minus(x, bits)
    assert holds(e, exp_of(x))
    assert 0 <= e.high - e.low <= 2


@pytest.mark.parametrize("x", [0, 1, 2, 40, 44, 45, 64, 200, 489, 490, 491, 10**6, 10**30])
@pytest.mark.parametrize("bits", [1, 8, 64, 700])
def test_exp_minus_at_whole_numbers(x: int, bits: int) -> None:
    """Also around the threshold 0.7·bits where the answer is cut to [0, 1]."""
    e = exp_minus(Fraction(x), bits)
    with mp.workdps(1500):
        assert holds(e, mp.exp(-mpf(x)))
    assert e.high - e.low <= 2
    if x == 0:
        assert e.low == e.high == 1 << bits


@pytest.mark.parametrize("bits", [8, 16, 40])
@pytest.mark.parametrize("beside", [-1, 1])
def test_exp_minus_holds_beside_whole_numbers(bits: int, beside: int) -> None:
    """e^-x a hair below or above k/2^bits: a floor taken without the error bound loses it."""
    fine = 1 << (bits + 60)
    for n in range(1, 120):
        k = max(1, (1 << bits) * n // 120)
        exact = -mp.log(mpf(k) / 2**bits) * fine
        for hair in (1, 1 << 8, 1 << 16, 1 << 24):
            x = Fraction(int(mp.nint(exact)) + beside * hair, fine)
            if x > 0:
                assert holds(exp_minus(x, bits), exp_of(x))


@settings(max_examples=100, deadline=None)
@given(a=positive, b=positive, bits=widths)
def test_arithmetic_rounds_outwards(a: Fraction, b: Fraction, bits: int) -> None:
    x, y = Enclosure.of(a, bits), Enclosure.of(b, bits)
    one = 1 << bits

    def inside(e: Enclosure, value: Fraction) -> bool:
        return e.low <= value * one <= e.high

    assert inside(x, a)
    assert x.high - x.low <= 1
    assert inside(x + y, a + b)
    assert inside(x * y, a * b)
    assert inside(x.times(7), 7 * a)
    if y.low:
        assert inside(x / y, a / b)
    if a <= 1:
        assert inside(x.from_one(), 1 - a)
        assert x.from_one().low >= 0


@settings(max_examples=40, deadline=None)
@given(x=positive, bits=st.sampled_from([64, 128]))
def test_chains_of_operations_stay_rigorous(x: Fraction, bits: int) -> None:
    """What the tables do: powers, complements, quotients of sums."""
    q = exp_minus(x, bits)
    exact = exp_of(x)
    for n, power in enumerate(powers(q, 40), start=1):
        assert holds(power, exact**n)
        assert holds(power.from_one(), 1 - exact**n)
    total = Enclosure.of(3, bits) + q.times(5)
    assert holds(Enclosure.of(3, bits) / total, 3 / (3 + 5 * exact))


def test_an_exact_value_is_a_point() -> None:
    assert Enclosure.of(Fraction(3, 8), 10) == Enclosure(384, 384, 10)
    product = Enclosure.of(Fraction(1, 2), 10) * Enclosure.of(Fraction(3, 4), 10)
    assert product == Enclosure.of(Fraction(3, 8), 10)


def test_a_rounding_mutant_is_caught() -> None:
    """Products rounded to nearest instead of outwards lose the number."""
    bits = 8
    x = Enclosure.of(Fraction(1, 3), bits)
    nearest = round(x.low * x.low / 2**bits)
    assert (x * x).low <= Fraction(1, 9) * 2**bits <= (x * x).high
    assert not nearest == (x * x).low == (x * x).high
