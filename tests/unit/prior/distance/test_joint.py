"""Distances of combinations: every component counts alike, exactly, in keys and in rows."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.prior import Categorical, Independent, Ordinal, Points, Table
from tenue.prior.distance.joint import Combined

LADDER = Ordinal(["low", "mid", "top", "never"], ["0.5", "0.25", "0.25", 0])
NUMBERS = Points({0: "0.25", 1: "0.25", 4: "0.5"})
JOB = Categorical({"a": "0.5", "b": "0.5"})
RANKS = {"low": 0, "mid": 1, "top": 2, "never": 3}


def parts(one: Any, two: Any) -> list[Fraction]:
    """The distance of each component, from the definition."""
    return [
        Fraction(one[0] != two[0]),
        abs(Fraction(one[1]) - Fraction(two[1])) / 4,
        Fraction(abs(RANKS[one[2]] - RANKS[two[2]]), 2),
    ]


HOW = {
    "sum": lambda ds: sum(ds),
    "max": lambda ds: max(ds),
    "differing": lambda ds: sum(d != 0 for d in ds),
}


@pytest.mark.parametrize("how", list(HOW))
def test_components_are_measured_in_their_own_largest_distance(how: str) -> None:
    belief = Independent([JOB, NUMBERS, LADDER])
    metric = Combined(belief, how)
    for truth in product("ab", (0, 1, 4), ("low", "mid", "top")):
        keys = metric.keys(truth)
        assert keys is not None
        wanted = [HOW[how](parts(truth, value)) for value in belief.values]
        # keys are whole and in proportion: ties are ties, and what is nearer is smaller
        order = sorted(set(wanted))
        assert [order.index(w) for w in wanted] == np.unique(keys, return_inverse=True)[1].tolist()
        row = metric.row(belief.places[belief.canonical(truth)])
        assert row == pytest.approx([float(w) for w in wanted])


def test_a_truth_outside_the_support_is_still_near_something() -> None:
    belief = Independent([JOB, NUMBERS, LADDER])
    keys = Combined(belief, "sum").keys(("a", 3, "never"))
    assert keys is not None
    nearest = belief.values[int(np.argmin(keys))]
    assert nearest == ("a", 4, "top")
    # a category that nobody believes in differs from all of them alike
    strange = Combined(belief, "sum").keys(("z", 1, "mid"))
    assert strange is not None
    assert belief.values[int(np.argmin(strange))][1:] == (1, "mid")


@pytest.mark.parametrize("truth", [None, "a", ("a", 1), ("a", "x", "mid"), ("a", 1, "none")])
def test_what_has_no_place_has_no_keys(truth: object) -> None:
    assert Combined(Independent([JOB, NUMBERS, LADDER]), "sum").keys(truth) is None


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.sampled_from(["a", "b", "c"])),
        min_size=2,
        max_size=8,
        unique=True,
    ),
    st.sampled_from(list(HOW)),
)
def test_tables_have_the_same_distances_in_keys_and_rows(
    values: list[tuple[int, str]], how: str
) -> None:
    belief = Table({value: Fraction(1, len(values)) for value in values})
    metric = Combined(belief, how)
    widest = max(v for v, _ in values) - min(v for v, _ in values) or 1
    for place, value in enumerate(belief.values):
        row, keys = metric.row(place), metric.keys(value)
        assert keys is not None
        wanted = [
            HOW[how]([abs(value[0] - other[0]) / Fraction(widest), Fraction(value[1] != other[1])])
            for other in belief.values
        ]
        assert row == pytest.approx([float(w) for w in wanted])
        assert keys[place] == 0
        assert all(
            (wanted[i] < wanted[j]) == (keys[i] < keys[j])
            for i in range(len(wanted))
            for j in range(len(wanted))
        )


def test_vast_numbers_do_not_overflow() -> None:
    big = 10**30
    belief = Table({(0, 0): "0.5", (big, big + 1): "0.5"})
    keys = Combined(belief, "sum").keys((big - 1, 0))
    assert keys is not None
    assert all(int(key) >= 0 for key in keys)
    assert int(keys[0]) != int(keys[1])


def test_texts_and_truth_values_may_share_a_component() -> None:
    belief = Table({("a", True): "0.5", (False, True): "0.5"})
    keys = Combined(belief, "differing").keys(("a", True))
    assert keys is not None
    assert sorted(keys.tolist()) == [0, 1]
