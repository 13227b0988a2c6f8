"""Every way of drawing a private table keeps the contract."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from private_laws import numbers
from tenue.microdata.private.ways import WAYS
from tenue.noise.source import Seeded


def test_ways_go_by_their_names() -> None:
    assert all(way.name == name for name, way in WAYS.items())


@pytest.mark.parametrize("by", WAYS)
def test_a_way_draws_as_many_rows_within_the_domain(by: str) -> None:
    sizes = (7, 300, 3)
    domain = numbers(*sizes, blank=True)
    way = WAYS[by].planned(domain, 500, Fraction(1))
    rng = np.random.default_rng(1)
    places = np.stack([rng.integers(0, size, 500) for size in domain.sizes], axis=1)
    made = way.draw(places, Seeded(2))
    assert made.shape == places.shape
    assert made.dtype == np.int64
    assert ((made >= 0) & (made < np.array(domain.sizes))).all()
    assert way.mechanism
    assert way.expected_error > 0
    assert all(isinstance(value, str) for value in way.parameters.values())


@pytest.mark.parametrize("by", WAYS)
def test_the_same_bits_draw_the_same_table(by: str) -> None:
    domain = numbers(5, 5)
    way = WAYS[by].planned(domain, 200, Fraction(1))
    places = np.random.default_rng(3).integers(0, 5, (200, 2))
    assert np.array_equal(way.draw(places, Seeded(4)), way.draw(places, Seeded(4)))
