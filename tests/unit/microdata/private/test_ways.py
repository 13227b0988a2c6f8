"""Every way of drawing a private table keeps the contract."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest

from private_laws import numbers
from tenue.microdata.private.ways import WAYS
from tenue.noise.source import Seeded

SENTENCE = re.compile(r"[A-Z0-9][^\n]* [^\n]*[^.]\.")


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
    assert way.expected_error > 0


@pytest.mark.parametrize("by", WAYS)
def test_what_a_way_says_are_sentences(by: str) -> None:
    way = WAYS[by].planned(numbers(7, 300, 3, blank=True), 500, Fraction(1))
    for said in (*way.limits, *way.parameters.values()):
        assert SENTENCE.fullmatch(said), said
    assert not SENTENCE.fullmatch(way.mechanism), "a few words, for others to make a sentence of"


@pytest.mark.parametrize("wrong", ["epsilon 0.5", "Epsilon 0.5", "5, epsilon 0.1 each", "No.."])
def test_what_is_no_sentence_is_seen(wrong: str) -> None:
    assert not SENTENCE.fullmatch(wrong)


@pytest.mark.parametrize("by", WAYS)
def test_the_same_bits_draw_the_same_table(by: str) -> None:
    domain = numbers(5, 5)
    way = WAYS[by].planned(domain, 200, Fraction(1))
    places = np.random.default_rng(3).integers(0, 5, (200, 2))
    assert np.array_equal(way.draw(places, Seeded(4)), way.draw(places, Seeded(4)))
