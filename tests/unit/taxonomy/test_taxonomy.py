"""The value as a whole: small taxonomies by hand, equality, digest."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import random
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.errors import InvalidArgument
from tenue.taxonomy import Taxonomy
from unit.taxonomy.examples import DIAMOND, SPORT, SPORT_EDGES, SPORT_NESTED, dags, refusal


def test_a_tree_by_hand() -> None:
    assert SPORT.root == "sport"
    assert SPORT.concepts == (
        *("sport", "water", "sailing", "board", "surfing", "kiting", "snow", "skiing"),
    )
    assert SPORT.categories == ("sailing", "surfing", "kiting", "skiing")
    assert SPORT.depth_first == SPORT.categories
    assert SPORT.children("water") == ("sailing", "board")
    assert SPORT.children("skiing") == ()
    assert SPORT.parents("board") == ("water",)
    assert SPORT.parents("sport") == ()
    assert SPORT.ancestors("kiting") == {"kiting", "board", "water", "sport"}
    assert SPORT.ancestors("sport") == {"sport"}
    # kiting and surfing: 3 of 5 in common; kiting and skiing: 1 of 6; skiing and its root: 1 of 3
    assert SPORT.jaccard("kiting", "surfing") == Fraction(2, 5)
    assert SPORT.jaccard("kiting", "skiing") == Fraction(5, 6)
    assert SPORT.jaccard("skiing", "sport") == Fraction(2, 3)
    assert SPORT.jaccard("board", "board") == SPORT.jaccard("kiting", "kiting") == 0
    assert SPORT.distance("kiting", "surfing") == pytest.approx(math.log2(1.4))
    assert SPORT.diameter == pytest.approx(math.log2(1 + 5 / 6))


def test_a_diamond_by_hand() -> None:
    assert DIAMOND.concepts == ("root", "a", "c", "d", "e", "b")
    assert DIAMOND.categories == ("c", "e")
    assert DIAMOND.parents("d") == ("a", "b")
    assert DIAMOND.ancestors("e") == {"e", "d", "a", "b", "root"}
    # a path-counting distance would miss that b, too, lies above e
    assert DIAMOND.jaccard("e", "b") == Fraction(3, 5)
    assert DIAMOND.jaccard("e", "c") == Fraction(4, 6)
    assert DIAMOND.jaccard("a", "b") == Fraction(2, 3)
    # the two furthest concepts are not both categories
    assert DIAMOND.diameter == pytest.approx(math.log2(1 + 4 / 5))
    assert DIAMOND.marginality_sensitivity == DIAMOND.rational_distance("e", "c")


def test_flat_puts_every_category_below_one_root() -> None:
    tree = Taxonomy.flat(["x", "any", "y"])
    assert tree.categories == tree.depth_first == ("x", "any", "y")
    assert tree.root == "any_"
    for a, b in itertools.permutations(tree.categories, 2):
        assert tree.jaccard(a, b) == Fraction(2, 3)
    assert tree.marginality_sensitivity == tree.rational_diameter
    assert Taxonomy.flat(["any", "any_"]).root == "any__"


def test_one_category_has_no_diameter_but_its_concepts_have() -> None:
    tree = Taxonomy.flat(["x"])
    assert tree.marginality_sensitivity == 0
    assert tree.rational_diameter == tree.rational_distance("x", "any") > 0
    assert tree.boundaries() == ("x", "x")


def test_a_taxonomy_is_a_value() -> None:
    same = Taxonomy.from_nested(SPORT_NESTED)
    assert same == SPORT
    assert hash(same) == hash(SPORT)
    assert {same, SPORT} == {SPORT}
    assert repr(SPORT) == "Taxonomy(root='sport', categories=4, concepts=8)"
    with pytest.raises(FrozenInstanceError):
        same.edges = ()  # type: ignore[misc]


def test_a_copy_is_the_same_value() -> None:
    pickled = pickle.loads(pickle.dumps(DIAMOND))  # noqa: S301
    for copied in (copy.copy(DIAMOND), copy.deepcopy(DIAMOND), pickled):
        assert copied == DIAMOND
        assert copied.digest == DIAMOND.digest
        assert copied.marginality_sensitivity == DIAMOND.marginality_sensitivity


@given(dags())
def test_edges_give_the_taxonomy_back(tree: Taxonomy) -> None:
    again = Taxonomy.from_edges(tree.to_edges(), dict(tree.labels))
    assert again == tree
    assert again.digest == tree.digest
    assert again.depth_first == tree.depth_first


def test_the_digest_is_stable_and_sees_every_change() -> None:
    assert (
        Taxonomy.flat(["x", "y"]).digest
        == "58d48551e77302af28c8c3eedb134c2338165fa239814a19c7893a56bf6bc145"
    )
    others = [
        Taxonomy.from_edges(SPORT_EDGES[::-1]),  # siblings in another order
        Taxonomy.from_edges(SPORT_EDGES[:-1]),
        Taxonomy.from_edges([*SPORT_EDGES, ("kiting", "snow")]),
        Taxonomy.from_edges(SPORT_EDGES, SPORT.categories[:-1]),
        Taxonomy.from_edges(SPORT_EDGES, SPORT.categories[::-1]),
        Taxonomy.from_edges(
            SPORT_EDGES, {"Kiting" if c == "kiting" else c: c for c in SPORT.categories}
        ),
    ]
    digests = {other.digest for other in others} | {SPORT.digest}
    assert len(digests) == len(others) + 1


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Taxonomy.flat([]), "empty"),
        (lambda: Taxonomy.flat(["x", "y", "x"]), "more than once: `x`"),
        (lambda: Taxonomy.flat("abc"), "`categories` is 'abc'"),
        (lambda: Taxonomy.flat([None]), "is None"),
    ],
)
def test_what_is_no_flat_list_is_refused(make: Callable[[], object], says: str) -> None:
    assert says in refusal(make).what


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
