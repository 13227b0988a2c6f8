"""Distances in a taxonomy, and the concept in the middle: those of the taxonomy itself."""

from __future__ import annotations

import importlib
import random
from collections import Counter

import numpy as np
import pytest

from tenue.microdata.partition.meaning import Meaning
from tenue.taxonomy import Taxonomy

module = importlib.import_module("tenue.microdata.partition.meaning")
TREE = Taxonomy.from_nested(
    {"any": {"a": {"a1": ["x", "y", "z"], "a2": ["u", "v"]}, "b": ["w"], "c": ["p", "q", "r", "s"]}}
)
OCCURRING = np.array([TREE.concepts.index(name) for name in ("y", "u", "w", "p", "a1")])


def test_distances_are_semantic_and_the_domain_has_diameter_one() -> None:
    meaning = Meaning(TREE, OCCURRING)
    diameter = float(TREE.marginality_sensitivity)
    for place, concept in enumerate(TREE.concepts):
        expected = [
            (float(TREE.rational_distance(concept, TREE.concepts[o])) / diameter) ** 2
            for o in OCCURRING
        ]
        assert meaning.squared_from(place).tolist() == pytest.approx(expected, rel=1e-14)
    every = Meaning(TREE, np.array([TREE.concepts.index(leaf) for leaf in TREE.categories]))
    apart = [every.squared_from(TREE.concepts.index(leaf)).max() for leaf in TREE.categories]
    assert max(apart) == pytest.approx(1.0, rel=1e-15)


@pytest.mark.parametrize("largest", [0, 1 << 20])
def test_the_middle_is_the_least_marginal_concept(
    largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LARGEST_TABLE", largest)
    monkeypatch.setattr(module, "_BLOCK", 7)
    rng = random.Random(1)
    meaning = Meaning(TREE, OCCURRING)
    counts = np.array([[rng.randrange(4) for _ in OCCURRING] for _ in range(100)])
    counts[:, 0] += counts.sum(axis=1) == 0
    names = [TREE.concepts[o] for o in OCCURRING]
    expected = [
        TREE.least_marginal(Counter(dict(zip(names, map(int, sample), strict=True))))
        for sample in counts
    ]
    assert [TREE.concepts[found] for found in meaning.middle(counts)] == expected


def test_one_category_is_at_distance_zero() -> None:
    lone = Taxonomy.from_nested({"any": ["only"]})
    meaning = Meaning(lone, np.array([lone.concepts.index("only")]))
    assert meaning.squared_from(0).tolist() == [0.0]
