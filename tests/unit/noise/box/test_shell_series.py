"""Sums over shells, against plain summation."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from tenue.noise.box.shell_series import differences, exact_series, log_product_series, ratio_of


def summed(offsets: list[float], epsilon: float) -> float:
    last = math.ceil((60 + 6 * len(offsets)) / epsilon)
    return math.fsum(
        math.exp(-epsilon * i) * math.prod(z + i for z in offsets) for i in range(last)
    )


@settings(max_examples=80, deadline=None)
@given(offsets=st.lists(st.floats(0, 3), min_size=0, max_size=12), epsilon=st.floats(0.05, 30))
def test_product_series_is_its_sum(offsets: list[float], epsilon: float) -> None:
    told = math.exp(log_product_series(offsets, epsilon))
    assert told == pytest.approx(summed(offsets, epsilon), rel=1e-11)


@pytest.mark.parametrize(
    ("dimension", "epsilon"), [(22, 1e-4), (40, 1e-3), (82, 1e-3), (150, 0.1), (200, 1.0)]
)
def test_ratios_of_product_series_in_many_dimensions(dimension: int, epsilon: float) -> None:
    """What variances are made of: E(ζ+i)² for weights q^i(ζ+i)^D, near D²/ε²."""
    z = 0.5
    wide = log_product_series([z] * (dimension + 2), epsilon)
    ratio = math.exp(wide - log_product_series([z] * dimension, epsilon))
    i = np.arange(math.ceil((dimension + 60 + 12 * math.sqrt(dimension)) / epsilon))
    logs = dimension * np.log(z + i) - epsilon * i
    weights = np.exp(logs - logs.max())
    assert ratio == pytest.approx(float((weights * (z + i) ** 2).sum() / weights.sum()), rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=10))
def test_differences_are_newton_coefficients(values: list[int]) -> None:
    coefficients = differences(values)
    assert len(coefficients) == len(values)
    for i, value in enumerate(values):
        assert sum(a * math.comb(i, k) for k, a in enumerate(coefficients)) == value


@settings(max_examples=40, deadline=None)
@given(
    coefficients=st.lists(st.integers(0, 10**6), min_size=1, max_size=8),
    epsilon=st.fractions(Fraction(1, 20), 20, max_denominator=1000),
)
def test_exact_series_is_the_normalised_sum(coefficients: list[int], epsilon: Fraction) -> None:
    def polynomial(i: int) -> int:
        return sum(a * math.comb(i, k) for k, a in enumerate(coefficients))

    with mp.workdps(50):
        q = mp.exp(-mpf(epsilon.numerator) / epsilon.denominator)
        total = mpf(0)
        for i in range(math.ceil(130 / epsilon) + 40):
            total += q**i * polynomial(i)
        expected = (1 - q) * total
        mine = exact_series(coefficients, epsilon)
        assert abs(mpf(mine.numerator) / mine.denominator - expected) <= expected * mpf(10) ** -30


def test_ratios_of_huge_numbers_are_doubles() -> None:
    assert ratio_of(Fraction(10) ** 500, Fraction(4) * Fraction(10) ** 499) == 2.5
