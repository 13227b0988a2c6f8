"""Marginality, its least concept, its sensitivity, and the boundaries of the thesis."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.errors import InvalidArgument
from tenue.taxonomy import Taxonomy
from unit.taxonomy.examples import SPORT, dags, refusal


def test_marginality_by_hand() -> None:
    sample = ["kiting", "kiting", "surfing", "skiing"]
    margin = SPORT.marginality("surfing", sample)
    assert margin == pytest.approx(2 * math.log2(1.4) + 0 + math.log2(1 + 5 / 6), abs=1e-9)
    assert SPORT.marginality("surfing", {"kiting": 2, "surfing": 1, "skiing": 1}) == margin
    assert SPORT.marginality("surfing", []) == 0


def test_labels_of_one_concept_are_counted_together() -> None:
    tree = Taxonomy.from_edges([("a", "r"), ("b", "r")], {"A": "a", "AA": "a", "B": "b"})
    assert tree.marginality("b", {"A": 2, "AA": 3, "B": 1}) == 5 * tree.rational_distance("a", "b")


def test_the_least_marginal_concept_may_be_one_no_row_holds() -> None:
    tree = Taxonomy.from_nested({"all": {"left": list("abcd"), "right": ["e"]}})
    # from left: 4 times log2(4/3) = 1.66; from a: 3 times log2(3/2) = 1.75
    assert tree.least_marginal(dict.fromkeys("abcd", 1)) == "left"
    assert tree.least_marginal({"a": 3, "b": 1}) == "a"


def test_ties_go_to_the_concept_declared_first() -> None:
    tree = Taxonomy.flat(["x", "y"])
    assert tree.least_marginal({"x": 1, "y": 1}) == "x"
    assert tree.least_marginal({"y": 1, "x": 1}) == "x"
    assert Taxonomy.flat(["y", "x"]).least_marginal({"x": 1, "y": 1}) == "y"


@given(dags(), st.data())
def test_least_marginal_is_the_plain_minimum_over_all_concepts(
    tree: Taxonomy, data: st.DataObject
) -> None:
    counts = data.draw(
        st.dictionaries(st.sampled_from(tree.categories), st.integers(1, 5), min_size=1)
    )
    sums = [
        sum((n * tree.rational_distance(c, value) for value, n in counts.items()), Fraction(0))
        for c in tree.concepts
    ]
    assert [tree.marginality(c, counts) for c in tree.concepts] == sums
    assert tree.least_marginal(counts) == tree.concepts[sums.index(min(sums))]


@given(dags())
@settings(max_examples=50)
def test_one_replaced_value_moves_a_marginality_by_at_most_the_sensitivity(
    tree: Taxonomy,
) -> None:
    worst = max(
        abs(tree.marginality(c, [v, v]) - tree.marginality(c, [v, w]))
        for c in tree.concepts
        for v, w in itertools.product(tree.categories, repeat=2)
    )
    assert worst == tree.marginality_sensitivity


def test_the_distance_of_the_boundaries_is_no_sensitivity() -> None:
    """The thesis' sensitivity, the distance of a_b and a_t, is exceeded in some taxonomies."""
    too_small = 0
    rng = random.Random(7)
    for _ in range(200):
        tree = Taxonomy.from_edges([(f"c{i}", f"c{rng.randrange(i)}") for i in range(1, 16)])
        bottom, top = tree.boundaries()
        claimed = tree.rational_distance(bottom, top)
        assert claimed <= tree.marginality_sensitivity
        too_small += claimed < tree.marginality_sensitivity
    assert too_small > 0


@given(dags())
def test_the_boundaries_are_the_most_marginal_category_and_the_furthest_from_it(
    tree: Taxonomy,
) -> None:
    def first_largest(weigh: Callable[[str], Fraction]) -> str:
        weights = [weigh(label) for label in tree.categories]
        return tree.categories[weights.index(max(weights))]

    bottom = first_largest(lambda label: tree.marginality(label, tree.categories))
    top = first_largest(lambda label: tree.rational_distance(label, bottom))
    assert tree.boundaries() == (bottom, top)


def test_the_boundaries_by_hand() -> None:
    # skiing is far from all; surfing and kiting are equally far from it, surfing is declared first
    assert SPORT.boundaries() == ("skiing", "surfing")


def test_labels_of_one_concept_weigh_as_often_as_they_are() -> None:
    twice = Taxonomy.from_edges(
        [("a", "r"), ("b", "r"), ("c", "b")], [("A", "a"), ("AA", "a"), ("AAA", "a"), ("C", "c")]
    )
    assert twice.boundaries() == ("C", "A")


def test_a_sample_must_count_something() -> None:
    bad: Any
    for bad in ({}, [], {"kiting": 0}, {"kiting": -1}, {"kiting": 0.5}, {"kiting": None}):
        with pytest.raises(InvalidArgument):
            SPORT.least_marginal(bad)
    assert "`sample` is 'kiting'" in refusal(lambda: SPORT.marginality("kiting", "kiting")).what
