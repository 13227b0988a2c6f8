"""What is made of noisy means afterwards."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.microdata.private.means.smoothing import isotonic, smoothed, spread
from tenue.noise.source import Seeded

NUMBERS = st.lists(st.floats(-10, 10), min_size=1, max_size=8)


@given(NUMBERS, st.data())
def test_isotonic_is_the_nearest_that_never_falls(values: list[float], data: st.DataObject) -> None:
    y = np.array(values)
    w = np.array(data.draw(st.lists(st.floats(1, 9), min_size=y.size, max_size=y.size)))
    found = isotonic(y, w)
    assert all(a <= b + 1e-12 for a, b in pairwise(found.tolist()))
    # the greatest of least weighted means: max over i ≤ t of min over j ≥ t
    for t in range(y.size):
        means = [
            [np.average(y[i : j + 1], weights=w[i : j + 1]) for j in range(t, y.size)]
            for i in range(t + 1)
        ]
        assert found[t] == pytest.approx(max(min(row) for row in means), abs=1e-9)


def test_what_rises_stays() -> None:
    y = np.array([0.0, 1.0, 4.0])
    assert isotonic(y, np.ones(3)).tolist() == y.tolist()


def test_pure_noise_becomes_its_mean() -> None:
    y = np.random.default_rng(1).laplace(size=400) / np.sqrt(2)
    assert smoothed(y, 1.0).std() < 0.1


def test_a_signal_far_above_its_noise_stays() -> None:
    y = np.random.default_rng(1).uniform(size=50)
    assert smoothed(y, 1e-9) == pytest.approx(y, abs=1e-3)


def test_a_slow_wave_is_found_in_noise() -> None:
    truth = np.sin(np.arange(300) / 30)
    y = truth + np.random.default_rng(2).laplace(size=300) / np.sqrt(2)
    before, after = ((y - truth) ** 2).mean(), ((smoothed(y, 1.0) - truth) ** 2).mean()
    assert after < before / 5


def test_two_groups_are_left_alone() -> None:
    """So few say nothing about what is noise."""
    assert smoothed(np.array([0.2, 0.9]), 0.01).tolist() == pytest.approx([0.2, 0.9])
    assert smoothed(np.array([0.4]), 0.01).tolist() == pytest.approx([0.4])


def test_spread_stays_around_its_mean_between_its_neighbours() -> None:
    sizes = np.array([2000, 2000, 2001])
    found = spread(np.array([0.0, 0.2, 0.8]), np.repeat(np.arange(3), sizes), Seeded(1))
    parts = np.split(found, np.cumsum(sizes)[:-1])
    for part, mean, width in zip(parts, (0, 0.2, 0.8), (0.2, 0.6, 0.6), strict=True):
        assert part.size in sizes
        assert abs(part.mean() - mean) < 0.02
        assert width * 0.98 < part.max() - part.min() <= width
