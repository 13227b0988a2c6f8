"""The value as a whole: small taxonomies by hand, equality, digest."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from fractions import Fraction

import pytest
from hypothesis import given

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
