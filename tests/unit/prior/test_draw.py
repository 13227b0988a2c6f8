"""Draws by whole weights, seen through every word that can come."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.errors import InvalidArgument
from tenue.noise import Seeded
from tenue.prior import Histogram, Points, Uniform
from tenue.prior.density import drawn_on_grid
from tenue.prior.draw import checked_size, picks, uniform_below


class Script:
    """Gives the 64-bit words it was told to, in order."""

    safe = False

    def __init__(self, *words: int) -> None:
        self._words = list(words)

    def words(self, count: int, bits: int = 64) -> Any:
        assert bits == 64
        taken, self._words = self._words[:count], self._words[count:]
        assert len(taken) == count
        return np.array(taken, dtype=np.uint64)


def test_every_weight_gets_exactly_its_words() -> None:
    weights = [3, 0, 1, 4]
    seen = Counter(picks([3, 3, 4, 8], 1, Script(word))[0] for word in range(8))
    assert [seen[place] for place in range(4)] == weights


def test_words_beyond_the_last_whole_multiple_are_drawn_again() -> None:
    top = 2**64 - 1  # 2^64 = 1 mod 3, so the last word would favour 0
    assert uniform_below(3, 1, Script(top, 5)) == [2]
    assert uniform_below(3, 1, Script(top - 1)) == [2]


def test_large_bounds_use_as_many_words_as_they_need() -> None:
    bound = 3**100
    drawn = uniform_below(bound, 2000, Seeded(7))
    assert max(drawn) < bound
    assert max(drawn) > bound * 0.99
    assert min(drawn) < bound * 0.01


def test_many_draws_come_from_the_same_law_as_few() -> None:
    cumulative = [1, 6, 6, 10]
    many = np.bincount(picks(cumulative, 40_000, Seeded(7)), minlength=4) / 40_000
    few = [picks(cumulative, 500, Seeded(seed)) for seed in range(80)]
    counts = np.bincount(np.concatenate(few), minlength=4) / 40_000
    assert many == pytest.approx([0.1, 0.5, 0, 0.4], abs=0.01)
    assert counts == pytest.approx([0.1, 0.5, 0, 0.4], abs=0.01)


def test_rounding_to_a_grid_is_exact() -> None:
    """Every piece, every unit cell: the masses are those of the cells around grid points."""
    belief = Histogram([0, 1, 4], ["1/4", "3/4"])
    unit = 6  # edges are whole; borders of the grid 2/3 are thirds; units are sixths
    grid = Fraction(2, 3)
    masses: Counter[int] = Counter()
    for word, (start, end) in enumerate([(0, 1), (1, 4), (1, 4), (1, 4)]):
        size = (end - start) * unit
        for place in range(size):
            source = Script(word, place)
            drawn = drawn_on_grid(belief.edges, [1, 4], grid, (0, 6), 1, source)
            masses[drawn[0]] += Fraction(1, 4 * size)
    on_grid = belief.on_grid(grid)
    assert isinstance(on_grid, Points)
    assert {k * grid: mass for k, mass in masses.items()} == on_grid.masses


def test_draws_stay_on_the_grid_and_between_the_ends() -> None:
    for belief in (Uniform("0.3", "7.7"), Uniform(0, 10**6).on_grid(1), Histogram([0, 9], [1])):
        drawn = np.asarray(belief.sample(200, Seeded(3)), dtype=float)
        assert float(drawn.min()) >= float(belief.low if belief.grid is None else 0)
        assert float(drawn.max()) <= float(belief.high if belief.grid is None else 10**6)


def test_how_many_draws() -> None:
    assert checked_size(None) == 1
    for size in (-1, 1.5, "x", 10**8):
        with pytest.raises(InvalidArgument):
            checked_size(size)
