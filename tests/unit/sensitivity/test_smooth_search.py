"""Halving finds what looking at every pair finds."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.sensitivity.smooth import Opening, openings
from unit.sensitivity.oracle import discounted

smooth = import_module("tenue.sensitivity.smooth")


def every_opening(padded, windows):
    for p, s in windows:
        for l in range(p + 1):
            for r in range(s, len(padded)):
                yield Opening(r - l - (s - p), int(padded[r]) - int(padded[l]))


def best(candidates, beta):
    return max(
        (discounted(Fraction(x.width), x.distance, beta) for x in candidates), default=Decimal(0)
    )


@pytest.fixture(params=["all at once", "halving", "halving in small batches"], autouse=True)
def way(request, monkeypatch):
    if request.param != "all at once":
        monkeypatch.setattr(smooth, "_FEW", 0)
    if request.param == "halving in small batches":
        monkeypatch.setattr(smooth, "_BATCH", 3)


shapes = st.one_of(
    st.lists(st.integers(0, 6), min_size=1, max_size=25),
    st.lists(st.integers(0, 10**18), min_size=1, max_size=25),
    st.lists(st.integers(0, 40).map(lambda x: 2**x), min_size=1, max_size=25),
    st.lists(st.integers(0, 10**40), min_size=1, max_size=12),
)


@settings(max_examples=150, deadline=None)
@given(
    rows=shapes,
    beta=st.sampled_from(["1e-12", "0.01", "0.1", "0.5", "0.693147180559945309417232121458", "4"]),
    place=st.integers(0, 100),
    gap=st.sampled_from([1, 2]),
)
def test_the_best_opening_is_among_them(rows, beta, place, gap):
    rate = Fraction(beta)
    values = [0, *sorted(rows), max(rows) + 1]
    big = values[-1] >= 2**61
    padded = np.array(values, dtype=object if big else np.int64)
    first = 1 + place % len(rows)
    windows = [(p, p + gap) for p in (first - 1, first) if p + gap < len(values)]
    found = openings(padded, windows, rate)
    reached = set(every_opening(values, windows))
    assert found <= reached
    assert best(found, rate) == best(reached, rate)


def test_a_window_that_cannot_open_gives_nothing():
    assert openings(np.array([3, 3, 3]), [(0, 1), (1, 2)], Fraction(1)) == set()


def test_few_candidates_are_left_for_exact_comparison():
    padded = np.arange(3000)
    found = openings(padded, [(1499, 1500), (1500, 1501)], Fraction(1, 100))
    assert best(found, Fraction(1, 100)) == discounted(Fraction(100), 99, Fraction(1, 100))
    assert len(found) < 10
