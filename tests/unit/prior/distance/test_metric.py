"""Distances: a closed list, checked without a truth."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.errors import InvalidPrior
from tenue.prior import Categorical, Independent, Ordinal, Points, Table, normalised
from tenue.prior.distance.metric import metric
from tenue.taxonomy import Taxonomy

TREE = Taxonomy.from_nested({"any": {"lung": ["flu", "cold"], "skin": ["rash"]}})
NUMBERS = Points(normalised({0: 1, "0.1": 1, 10: 1}))
WORDS = Categorical(normalised({"flu": 1, "cold": 1, "rash": 1}))
RANKS = Ordinal(["a", "b", "c", "d"], ["1/3", 0, "1/3", "1/3"])
PAIRS = Table(normalised({(0, "x"): 1, (0, "y"): 1, (10, "x"): 1}))
BOTH = Independent([NUMBERS, RANKS])


def ordered(belief: Any, distance: Any, truth: object) -> list[int]:
    keys = metric(belief, distance).keys(truth)
    assert keys is not None
    return [int(key) for key in keys]


def test_numbers_are_compared_exactly() -> None:
    # 0.05 is half way between 0 and 0.1; as doubles it would not be
    keys = ordered(NUMBERS, None, "0.05")
    assert keys[0] == keys[1] < keys[2]
    far = ordered(Points(normalised({10**60: 1, 0: 1, 1: 1})), None, "1e-30")
    assert far[0] < far[1] < far[2]


def test_ranks_and_trees() -> None:
    assert ordered(RANKS, None, "b") == [1, 1, 2]
    near = ordered(WORDS, TREE, "flu")
    assert 0 == near[0] < near[1] < near[2]
    assert ordered(WORDS, TREE, "lung")[0] == ordered(WORDS, TREE, "lung")[1]
    assert ordered(WORDS, None, "flu") == [0, 1, 1]


def test_components_count_alike() -> None:
    assert ordered(PAIRS, "sum", (0, "x"))[1] == ordered(PAIRS, "sum", (0, "x"))[2]
    assert ordered(PAIRS, "differing", (10, "y")) == [2, 1, 1]
    for how in ("sum", "max"):
        rows = metric(BOTH, how)
        keys = rows.keys(BOTH.values[4])
        assert keys is not None
        exact = [Fraction(int(key), int(max(keys))) for key in keys]
        floats = rows.row(4) / rows.row(4).max()
        assert floats == pytest.approx(np.array([float(e) for e in exact]), abs=1e-12)


@pytest.mark.parametrize("belief", [NUMBERS, WORDS, RANKS, PAIRS, BOTH])
def test_rows_and_keys_agree(belief: Any) -> None:
    found = metric(belief, None)
    for place, value in enumerate(belief.values):
        keys = found.keys(value)
        assert keys is not None
        row = found.row(place)
        assert keys[place] == row[place] == 0
        ranks = [
            np.unique(np.round(np.asarray(x, dtype=float), 9), return_inverse=True)[1]
            for x in (keys / max(keys), row / row.max())
        ]
        assert ranks[0].tolist() == ranks[1].tolist()


@pytest.mark.parametrize(
    "truth", [None, "nowhere", float("nan"), object(), (1,), (None, None), b"x"]
)
def test_a_truth_without_place_is_no_error(truth: object) -> None:
    for belief, distance in (
        (NUMBERS, None),
        (WORDS, None),
        (WORDS, TREE),
        (RANKS, None),
        (BOTH, None),
    ):
        assert metric(belief, distance).keys(truth) is None


@pytest.mark.parametrize(
    ("belief", "distance"),
    [
        (NUMBERS, "rank"),
        (NUMBERS, "euclid"),
        (NUMBERS, TREE),
        (WORDS, "absolute"),
        (WORDS, Taxonomy.flat(["flu", "cold"])),
        (RANKS, TREE),
        (PAIRS, "absolute"),
        (WORDS, 7),
        (WORDS, np.array([1, 2])),
    ],
)
def test_other_distances_are_refused(belief: Any, distance: Any) -> None:
    with pytest.raises(InvalidPrior):
        metric(belief, distance)
