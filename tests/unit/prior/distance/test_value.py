"""Distances of one component: whole keys in exact order, and the same distances as doubles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tenue.errors import InvalidPrior
from tenue.prior import Categorical, Ordinal, Points, normalised
from tenue.prior.distance.value import SAFE, Equal, Line, Semantic
from tenue.taxonomy import Taxonomy

TREE = Taxonomy.from_nested({"any": {"lung": ["flu", "cold"], "skin": ["rash"]}})
NUMBERS = Points(normalised({0: 1, "0.5": 1, 10: 1}))
RANKS = Ordinal(["a", "b", "c", "d"], ["1/3", 0, "1/3", "1/3"])
WORDS = Categorical(normalised({"flu": 1, "cold": 1, "rash": 1}))


def keys(metric: Any, truth: object) -> list[int]:
    found = metric.keys(truth)
    assert found is not None
    return [int(key) for key in found]


def test_numbers_lie_on_a_line_in_steps_of_their_unit() -> None:
    line = Line(NUMBERS)
    assert line.steps.tolist() == [0, 1, 20]
    assert line.row(1).tolist() == [0.5, 0, 9.5]
    assert line.position("0.25") == pytest.approx(0.5)
    assert keys(line, "0.25")[0] == keys(line, "0.25")[1]  # exactly half way
    assert keys(line, "0.26")[1] < keys(line, "0.26")[0]
    assert line.keys("no number") is None


def test_values_of_no_mass_still_hold_their_rank() -> None:
    line = Line(RANKS)
    assert line.steps.tolist() == [0, 2, 3]  # b is impossible and still lies between a and c
    assert keys(line, "b") == [1, 1, 2]
    assert line.row(0).tolist() == [0, 2, 3]
    assert line.keys("e") is None


def test_keys_beyond_64_bits_stay_exact() -> None:
    line = Line(Points(normalised({0: 1, 1: 1, SAFE * 4: 1})))
    assert line.steps.dtype == object
    assert keys(line, SAFE * 4 - 1) == [SAFE * 4 - 1, SAFE * 4 - 2, 1]
    near = Line(NUMBERS)
    assert keys(near, f"1/{3**40}")[:2] == sorted(keys(near, f"1/{3**40}")[:2])
    assert min(keys(near, 10**30)) == keys(near, 10**30)[2] > SAFE


def test_equal_tells_the_same_from_all_others() -> None:
    equal = Equal(WORDS)
    assert keys(equal, "cold") == [0 if v == "cold" else 1 for v in WORDS.values]
    assert equal.row(2).tolist() == [1, 1, 0]
    assert equal.keys("cough") is None


def test_concepts_are_as_far_apart_as_the_taxonomy_says() -> None:
    semantic = Semantic(WORDS, TREE)
    place = {word: WORDS.values.index(word) for word in WORDS.values}
    found = keys(semantic, "flu")
    assert 0 == found[place["flu"]] < found[place["cold"]] < found[place["rash"]]
    row = semantic.row(place["flu"])
    wanted = [float(TREE.rational_distance("flu", word)) for word in WORDS.values]
    assert row == pytest.approx(np.array(wanted), abs=1e-9)
    above = keys(semantic, "lung")
    assert above[place["flu"]] == above[place["cold"]] < above[place["rash"]]
    assert semantic.keys("cough") is None
    assert semantic.keys(3) is None


def test_a_belief_outside_the_taxonomy_is_refused() -> None:
    with pytest.raises(InvalidPrior):
        Semantic(Categorical({"flu": "0.5", "cough": "0.5"}), TREE)
