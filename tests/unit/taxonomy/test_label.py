"""Labels are what rows hold; each is attached to one concept."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

from tenue.taxonomy import Taxonomy
from tenue.taxonomy.graph import Graph
from tenue.taxonomy.label import attached
from unit.taxonomy.examples import DIAMOND_EDGES, SPORT, SPORT_EDGES, dags, refusal
from unit.taxonomy.test_given import deep_list

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


def test_labels_are_what_rows_hold_and_concepts_what_they_mean() -> None:
    tree = Taxonomy.from_edges(
        SPORT_EDGES, [("Ski", "skiing"), ("Boards", "board"), ("Kite", "kiting"), ("Fly", "kiting")]
    )
    assert tree.categories == ("Ski", "Boards", "Kite", "Fly")
    assert tree.depth_first == ("Boards", "Kite", "Fly", "Ski")
    assert [tree.rank(label) for label in tree.depth_first] == [0, 1, 2, 3]
    assert tree.rank("board") == 0
    assert tree.rank("kiting") == 1
    assert tree.concept_of("Boards") == tree.concept_of("board") == "board"
    assert tree.distance("Kite", "Fly") == tree.rational_distance("Kite", "Fly") == 0
    assert tree.jaccard("Kite", "Boards") == tree.jaccard("kiting", "board") == Fraction(1, 4)
    assert "no row may hold" in refusal(lambda: tree.rank("snow")).what


def test_a_concept_that_is_itself_a_label_has_that_label_as_its_rank() -> None:
    tree = Taxonomy.from_edges(SPORT_EDGES, [("Kite", "kiting"), "kiting", "sailing"])
    assert tree.depth_first == ("sailing", "Kite", "kiting")
    assert tree.rank("kiting") == 2


@given(dags())
def test_labels_come_in_the_order_of_their_concepts(tree: Taxonomy) -> None:
    expected = [
        label for c in tree.concepts for label in tree.categories if tree.concept_of(label) == c
    ]
    assert list(tree.depth_first) == expected
    assert [tree.rank(label) for label in expected] == list(range(len(expected)))


@pytest.mark.parametrize(
    "use",
    [
        lambda tree, name: tree.concept_of(name),
        lambda tree, name: tree.parents(name),
        lambda tree, name: tree.children(name),
        lambda tree, name: tree.ancestors(name),
        lambda tree, name: tree.rank(name),
        lambda tree, name: tree.jaccard("kiting", name),
        lambda tree, name: tree.distance(name, "kiting"),
        lambda tree, name: tree.rational_distance("kiting", name),
        lambda tree, name: tree.marginality(name, ["kiting"]),
        lambda tree, name: tree.marginality("kiting", [name]),
        lambda tree, name: tree.least_marginal({name: 1}),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(
    use: Callable[[Taxonomy, str], object],
) -> None:
    error = refusal(lambda: use(SPORT, "kitting"))
    assert "`kitting` is neither a category nor a concept" in error.what
    assert error.fix == "Did you mean `kiting`?"


@pytest.mark.parametrize(
    "name",
    [None, 3, ["kiting"], b"kiting", float("nan"), 10**6_000, deep_list(5_000)],
    ids=["none", "number", "list", "bytes", "nan", "large", "deep"],
)
def test_a_name_that_is_no_text_is_refused(name: Any) -> None:
    assert "neither" in refusal(lambda: SPORT.distance("kiting", name)).what
    assert "neither" in refusal(lambda: SPORT.rank(name)).what


def test_a_refusal_stays_short_in_a_large_taxonomy() -> None:
    tree = Taxonomy.flat(f"category {i}" for i in range(2_000))
    assert len(str(refusal(lambda: tree.rank("?")))) < 500
    assert len(str(refusal(lambda: tree.rank("?" * 10_000)))) < 500
    assert (
        len(str(refusal(lambda: Taxonomy.from_edges([("a", "r" * 9_000)]).rank("r" * 9_000)))) < 500
    )
