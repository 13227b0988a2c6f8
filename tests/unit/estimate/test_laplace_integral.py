"""Roots and kinks of the Bayes estimate under Laplace noise."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.estimate.laplace_integral import LaplaceIntegral

RATES = st.sampled_from([0.05, 0.7, 2.0, 9.0])


@st.composite
def problems(draw: st.DrawFn, estimator: str) -> LaplaceIntegral:
    size = draw(st.integers(1, 7))
    values = draw(st.lists(st.integers(0, 20), min_size=size, max_size=size, unique=True))
    weights = draw(st.lists(st.integers(1, 9), min_size=size, max_size=size))
    masses = np.array(weights, dtype=float) / sum(weights)
    return LaplaceIntegral(np.array(sorted(values), dtype=float), masses, draw(RATES), estimator)


def brute(found: LaplaceIntegral) -> tuple[float, float]:
    """A plain sum over a fine net, tails included."""
    reach = 30 / found.rate
    y = np.linspace(found.values[0] - reach, found.values[-1] + reach, 100_001)
    y = (y[:-1] + y[1:]) / 2
    width = y[1] - y[0]
    guess = found.guess(y)
    error = closer = 0.0
    for value, mass in zip(found.values, found.masses, strict=True):
        density = mass * found.rate / 2 * np.exp(-found.rate * np.abs(y - value)) * width
        error += float(density @ np.abs(guess - value))
        closer += float(density[np.abs(guess - value) < np.abs(y - value)].sum())
    return error, closer


@settings(max_examples=12)
@given(problems("mean"))
def test_means(found: LaplaceIntegral) -> None:
    error, closer = brute(found)
    assert found.error == pytest.approx(error, abs=2e-3)
    assert found.closer == pytest.approx(closer, abs=2e-3)


@settings(max_examples=12)
@given(problems("median"))
def test_medians(found: LaplaceIntegral) -> None:
    error, closer = brute(found)
    assert found.error == pytest.approx(error, abs=2e-3)
    assert found.closer == pytest.approx(closer, abs=2e-3)


@settings(max_examples=60)
@given(problems("mean"))
def test_between_cuts_the_mean_stays_on_one_side(found: LaplaceIntegral) -> None:
    cuts = found._fixed_points()
    for low, high in pairwise(cuts):
        inner = np.linspace(low, high, 40)[1:-1]
        gap = found.guess(inner) - inner
        # only within rounding of the ends may the sign be in doubt
        clear = gap[np.abs(gap) > 1e-9]
        assert (clear > 0).all() or (clear < 0).all()
