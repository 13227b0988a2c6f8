"""Labels are what rows hold; each is attached to one concept."""

from __future__ import annotations

from typing import Any

import pytest

from tenue.taxonomy.graph import Graph
from tenue.taxonomy.label import attached
from unit.taxonomy.examples import DIAMOND_EDGES, refusal

CHILDREN = Graph.of(DIAMOND_EDGES).children


def test_without_categories_the_leaves_are_labels() -> None:
    assert attached(None, CHILDREN) == (("c", "c"), ("e", "e"))


def test_categories_are_concepts_pairs_or_a_mapping_in_declared_order() -> None:
    assert attached(["e", ("E", "e"), "a"], CHILDREN) == (("e", "e"), ("E", "e"), ("a", "a"))
    assert attached({"Z": "c", "A": "e"}, CHILDREN) == (("Z", "c"), ("A", "e"))
    assert attached((name for name in "ec"), CHILDREN) == (("e", "e"), ("c", "c"))


@pytest.mark.parametrize(
    ("categories", "says"),
    [
        ([], "no category"),
        ({}, "no category"),
        (["a", "a"], "more than once: `a`"),
        ([("A", "a"), ("A", "b")], "more than once: `A`"),
        (["rot"], "`rot`, which is no concept"),
        ({"A": "x"}, "`A` is attached to `x`"),
        ({"a": "b"}, "`a` is both a concept and a category attached to `b`"),
        ([7], "A category is 7"),
        ({"A": 7}, "is 7"),
        ({"": "a"}, "is ''"),
        ("a", "`categories` is 'a'"),
    ],
)
def test_what_are_no_categories_is_refused(categories: Any, says: str) -> None:
    assert says in refusal(lambda: attached(categories, CHILDREN)).what


def test_the_nearest_concept_is_offered_for_a_category_that_is_none() -> None:
    error = refusal(lambda: attached(["rooot"], CHILDREN))
    assert error.fix == "Did you mean `root`?"
