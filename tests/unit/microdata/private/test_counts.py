"""Counts with noise, and what is made of them afterwards."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.microdata.private.counts import apportioned, fitted, noisy, uniforms
from tenue.noise.source import Seeded


def test_empty_cells_get_noise_too() -> None:
    drawn = noisy(np.zeros(200, np.int64), Fraction(1, 2), Seeded(1))
    assert (drawn != 0).sum() > 150


def test_the_shape_is_kept() -> None:
    assert noisy(np.zeros((3, 4), np.int64), Fraction(1), Seeded(1)).shape == (3, 4)


def test_noise_is_for_a_record_that_moves_between_two_cells() -> None:
    # variance of discrete Laplace with rate 1/2 is 2a/(1-a)^2, a = e^-1/2; rate 1 would give 1.84
    drawn = noisy(np.zeros(40_000, np.int64), Fraction(1), Seeded(3))
    assert 7.2 < drawn.var() < 8.5


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=8), st.floats(0.5, 100))
def test_fitted_is_the_nearest_point_of_the_simplex(values: list[float], total: float) -> None:
    found = fitted(np.array(values), total)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(total)
    # nearest: every coordinate that is kept was lowered by the same amount, others by less room
    gap = np.array(values) - found
    kept = found > 1e-9
    level = gap[kept].max()
    assert gap[kept] == pytest.approx(np.full(kept.sum(), level), abs=1e-7)
    assert (gap[~kept] <= level + 1e-7).all()


@given(st.lists(st.floats(0, 50), min_size=1, max_size=8), st.integers(1, 300), st.integers(0, 99))
def test_apportioned_sums_and_is_near(values: list[float], total: int, seed: int) -> None:
    weights = np.array(values) + 1e-3
    found = apportioned(weights, total, Seeded(seed))
    assert found.sum() == total
    assert (np.abs(found - weights / weights.sum() * total) <= 1 + 1e-6).all()
    assert (found >= 0).all()


def test_apportioned_is_right_on_average() -> None:
    source = Seeded(5)
    drawn = np.array([apportioned(np.array([1.0, 2.0, 5.0]), 4, source) for _ in range(4000)])
    assert drawn.mean(axis=0) == pytest.approx([0.5, 1.0, 2.5], abs=0.05)


def test_uniforms_lie_in_the_unit_interval() -> None:
    drawn = uniforms(1000, Seeded(1))
    assert 0 <= drawn.min() < 0.02
    assert 0.98 < drawn.max() < 1
