"""A taxonomy, its distances, and the one concept that covers a set of categories."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import random
from collections.abc import Callable, Iterable
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.errors import InvalidArgument, InvalidTaxonomy
from tenue.taxonomy import DISTANCE_STEPS, Taxonomy
from tenue.taxonomy.distance import Ancestry, furthest, rounded_up_steps
from tenue.taxonomy.graph import Graph
from tenue.taxonomy.tree import Tree
from unit.taxonomy.examples import (
    DIAMOND,
    SPORT_EDGES,
    SPORT_NESTED,
    dags,
    plain_ancestors,
    refusal,
)
from unit.taxonomy.examples import SPORT as TAXONOMY_SPORT


def plain_jaccard(tree: Taxonomy, a: str, b: str) -> Fraction:
    left, right = plain_ancestors(tree, a), plain_ancestors(tree, b)
    return Fraction(len(left ^ right), len(left | right))


@given(dags())
def test_the_distance_is_that_of_plain_sets_of_ancestors(tree: Taxonomy) -> None:
    for a, b in itertools.product(tree.concepts, repeat=2):
        assert tree.jaccard(a, b) == plain_jaccard(tree, a, b)
        assert tree.distance(a, b) == math.log2(1 + tree.jaccard(a, b))


@given(dags())
@settings(max_examples=50)
def test_both_distances_are_metrics_within_zero_and_one(tree: Taxonomy) -> None:
    exact = {p: tree.rational_distance(*p) for p in itertools.product(tree.concepts, repeat=2)}
    for (a, b), d in exact.items():
        assert d == exact[b, a]
        assert tree.distance(a, b) == tree.distance(b, a)
        assert 0 <= tree.distance(a, b) < 1
        assert 0 <= d <= 1
        assert (d == 0) == (tree.distance(a, b) == 0) == (a == b)
    for a, b, c in itertools.product(tree.concepts, repeat=3):
        assert exact[a, c] <= exact[a, b] + exact[b, c]


def test_deep_taxonomies_need_no_recursion() -> None:
    depth = 3_000
    tree = Taxonomy.from_edges([(f"c{i + 1}", f"c{i}") for i in range(depth)])
    assert tree.jaccard("c0", f"c{depth}") == Fraction(depth, depth + 1)


def is_least_upper_bound(steps: int, p: int, q: int) -> bool:
    with mpmath.workdps(60):
        truth = mpmath.log(1 + mpmath.mpf(p) / q, 2) * DISTANCE_STEPS
        return bool(truth <= steps < truth + 1)


RATIOS = sorted({Fraction(p, q) for q in range(2, 60) for p in range(1, q)})


def violations_of_the_table(entry: Callable[[int, int], int]) -> int:
    """How often a table fails to round log2(1 + p / q) up to the next multiple of 2**-32."""
    bad, before = 0, 0
    for ratio in RATIOS:
        steps = entry(ratio.numerator, ratio.denominator)
        bad += not is_least_upper_bound(steps, *ratio.as_integer_ratio()) or steps < before
        before = steps
    return bad


def test_the_rational_table_is_the_least_upper_bound_and_monotone() -> None:
    assert violations_of_the_table(rounded_up_steps) == 0

    def rounded_to_nearest(p: int, q: int) -> int:
        return round(math.log2(1 + p / q) * 2**32)

    def rounded_down(p: int, q: int) -> int:
        return math.floor(math.log2(1 + p / q) * 2**32)

    assert violations_of_the_table(rounded_to_nearest) > 100
    assert violations_of_the_table(rounded_down) > 1000


@pytest.mark.parametrize("spare", [1, 2, 3, 5])
def test_the_table_is_done_again_when_its_bits_do_not_suffice(spare: int) -> None:
    def from_little(p: int, q: int) -> int:
        return rounded_up_steps(p, q, spare)

    assert violations_of_the_table(from_little) == 0

    def done_once(p: int, q: int) -> int:
        precision = 34 + spare
        number, found = ((p + q) << precision) // q, 0
        for _ in range(32 + spare):
            number = number * number >> precision
            bit = number >> (precision + 1)
            number >>= bit
            found = 2 * found + bit
        return (found >> spare) + 1

    assert violations_of_the_table(done_once) > 0


@pytest.mark.parametrize(("p", "q"), [(1, 220), (43, 451), (15, 472), (1, 492), (15, 538)])
def test_rounding_down_all_the_way_stays_below_one_unit(p: int, q: int) -> None:
    """With one bit of precision less, these ratios lose more than a unit and come out too small."""
    assert is_least_upper_bound(rounded_up_steps(p, q, 1), p, q)


def test_the_table_is_right_where_entries_are_close() -> None:
    q = 200_000
    for p in (1, 2, q // 2, q - 2, q - 1):
        assert is_least_upper_bound(rounded_up_steps(p, q), p, q)
    assert rounded_up_steps(0, 5) == 0


@given(dags())
def test_the_table_is_monotone_in_the_jaccard_distance(tree: Taxonomy) -> None:
    pairs = itertools.combinations(tree.concepts, 2)
    ordered = sorted((tree.jaccard(*pair), tree.rational_distance(*pair)) for pair in pairs)
    entries = [entry for _, entry in ordered]
    assert entries == sorted(entries)
    for jaccard, entry in ordered:
        assert (entry * DISTANCE_STEPS).denominator == 1
        assert is_least_upper_bound(int(entry * DISTANCE_STEPS), *jaccard.as_integer_ratio())


Edges = list[tuple[str, str]]


def dense(name: str, size: int, parents: int, rng: random.Random) -> Edges:
    """Concepts that each stand below several of those before them."""
    return [
        (f"{name}{child}", f"{name}{rng.randrange(child)}")
        for child in range(1, size)
        for _ in range(rng.randint(1, parents))
    ]


def layered(width: int, layers: int, parents: int, rng: random.Random) -> Edges:
    edges = [(f"0 {i}", "root") for i in range(width)]
    for layer in range(1, layers):
        for i in range(width):
            above = rng.sample(range(width), parents)
            edges += [(f"{layer} {i}", f"{layer - 1} {parent}") for parent in above]
    return edges


def exhaustive(ancestry: Ancestry, among: Iterable[str]) -> Fraction:
    pairs = itertools.combinations_with_replacement(among, 2)
    return max(Fraction(*ancestry.apart(*pair)) for pair in pairs)


@given(dags())
def test_the_diameters_are_those_of_exhaustive_search(tree: Taxonomy) -> None:
    pairs = list(itertools.product(tree.concepts, repeat=2))
    assert tree.rational_diameter == max(tree.rational_distance(*pair) for pair in pairs)
    assert tree.diameter == max(tree.distance(*pair) for pair in pairs)
    domain = itertools.product(tree.categories, repeat=2)
    assert tree.marginality_sensitivity == max(tree.rational_distance(*pair) for pair in domain)


def test_the_search_is_exhaustive_search_among_any_concepts() -> None:
    rng = random.Random(7)
    one_walk_too_small = 0
    for parents in [1, 2, 3, 5] * 30:
        ancestry = Ancestry(Graph.of(dense("c", rng.choice([6, 20, 60]), parents, rng)))
        concepts = ancestry.graph.concepts
        for among in (concepts, rng.sample(concepts, min(len(concepts), rng.randint(1, 20)))):
            largest = exhaustive(ancestry, among)
            assert Fraction(*furthest(ancestry, among)) == largest
            deepest = max(among, key=ancestry.sizes.__getitem__)
            one_walk = max(Fraction(*ancestry.apart(deepest, other)) for other in among)
            one_walk_too_small += one_walk < largest
    assert one_walk_too_small > 0


@pytest.mark.parametrize(("width", "layers", "parents"), [(40, 5, 3), (12, 3, 6), (5, 30, 2)])
def test_the_search_is_exhaustive_search_in_layers(width: int, layers: int, parents: int) -> None:
    ancestry = Ancestry(Graph.of(layered(width, layers, parents, random.Random(7))))
    concepts = ancestry.graph.concepts
    for among in (concepts, [c for c in concepts if not ancestry.graph.children[c]]):
        assert Fraction(*furthest(ancestry, among)) == exhaustive(ancestry, among)


def test_one_concept_or_none_has_no_distance() -> None:
    ancestry = Ancestry(Graph.of([("a", "root"), ("b", "a")]))
    for among in ([], ["root"], ["a"], ["b"]):
        assert Fraction(*furthest(ancestry, among)) == 0


def test_ten_thousand_dense_concepts_are_searched() -> None:
    """Two halves that share the root only: the furthest are the deepest of each."""
    rng = random.Random(7)
    edges = [(half, "root") for half in ("left0", "right0")]
    for half in ("left", "right"):
        edges += dense(half, 5_000, 6, rng)
    ancestry = Ancestry(Graph.of(edges))
    assert len(ancestry.sizes) == 10_001
    deepest = [
        max(size for concept, size in ancestry.sizes.items() if concept.startswith(half))
        for half in ("left", "right")
    ]
    total = sum(deepest) - 1
    assert furthest(ancestry, ancestry.graph.concepts) == (total - 1, total)


# -- The value as a whole: small taxonomies by hand, equality, digest ------------------------------


def test_a_tree_by_hand() -> None:
    assert TAXONOMY_SPORT.root == "sport"
    assert TAXONOMY_SPORT.concepts == (
        *("sport", "water", "sailing", "board", "surfing", "kiting", "snow", "skiing"),
    )
    assert TAXONOMY_SPORT.categories == ("sailing", "surfing", "kiting", "skiing")
    assert TAXONOMY_SPORT.depth_first == TAXONOMY_SPORT.categories
    assert TAXONOMY_SPORT.children("water") == ("sailing", "board")
    assert TAXONOMY_SPORT.children("skiing") == ()
    assert TAXONOMY_SPORT.parents("board") == ("water",)
    assert TAXONOMY_SPORT.parents("sport") == ()
    assert TAXONOMY_SPORT.ancestors("kiting") == {"kiting", "board", "water", "sport"}
    assert TAXONOMY_SPORT.ancestors("sport") == {"sport"}
    # kiting and surfing: 3 of 5 in common; kiting and skiing: 1 of 6; skiing and its root: 1 of 3
    assert TAXONOMY_SPORT.jaccard("kiting", "surfing") == Fraction(2, 5)
    assert TAXONOMY_SPORT.jaccard("kiting", "skiing") == Fraction(5, 6)
    assert TAXONOMY_SPORT.jaccard("skiing", "sport") == Fraction(2, 3)
    assert (
        TAXONOMY_SPORT.jaccard("board", "board") == TAXONOMY_SPORT.jaccard("kiting", "kiting") == 0
    )
    assert TAXONOMY_SPORT.distance("kiting", "surfing") == pytest.approx(math.log2(1.4))
    assert TAXONOMY_SPORT.diameter == pytest.approx(math.log2(1 + 5 / 6))


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
    assert same == TAXONOMY_SPORT
    assert hash(same) == hash(TAXONOMY_SPORT)
    assert {same, TAXONOMY_SPORT} == {TAXONOMY_SPORT}
    assert repr(TAXONOMY_SPORT) == "Taxonomy(root='sport', categories=4, concepts=8)"
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
        Taxonomy.from_edges(SPORT_EDGES, TAXONOMY_SPORT.categories[:-1]),
        Taxonomy.from_edges(SPORT_EDGES, TAXONOMY_SPORT.categories[::-1]),
        Taxonomy.from_edges(
            SPORT_EDGES, {"Kiting" if c == "kiting" else c: c for c in TAXONOMY_SPORT.categories}
        ),
    ]
    digests = {other.digest for other in others} | {TAXONOMY_SPORT.digest}
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
    margin = TAXONOMY_SPORT.marginality("surfing", sample)
    assert margin == pytest.approx(2 * math.log2(1.4) + 0 + math.log2(1 + 5 / 6), abs=1e-9)
    assert TAXONOMY_SPORT.marginality("surfing", {"kiting": 2, "surfing": 1, "skiing": 1}) == margin
    assert TAXONOMY_SPORT.marginality("surfing", []) == 0


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
    assert TAXONOMY_SPORT.boundaries() == ("skiing", "surfing")


def test_labels_of_one_concept_weigh_as_often_as_they_are() -> None:
    twice = Taxonomy.from_edges(
        [("a", "r"), ("b", "r"), ("c", "b")], [("A", "a"), ("AA", "a"), ("AAA", "a"), ("C", "c")]
    )
    assert twice.boundaries() == ("C", "A")


def test_a_sample_must_count_something() -> None:
    bad: Any
    for bad in ({}, [], {"kiting": 0}, {"kiting": -1}, {"kiting": 0.5}, {"kiting": None}):
        with pytest.raises(InvalidArgument):
            TAXONOMY_SPORT.least_marginal(bad)
    assert (
        "`sample` is 'kiting'"
        in refusal(lambda: TAXONOMY_SPORT.marginality("kiting", "kiting")).what
    )


# A concept covers a run of leaves; names are different; nothing that covers nothing is kept.

SPORT = Taxonomy.from_nested(
    {"sport": {"water": {"sail": ["dinghy", "yacht"], "surf": []}, "snow": ["ski", "sled"]}}
)


def covering(tree: Tree, *labels: str) -> str:
    leaves = [tree.leaf_of[label] for label in labels]
    return tree.names[tree.covering(np.array([min(leaves)]), np.array([max(leaves)]))[0]]


def test_the_lowest_concept_covers() -> None:
    tree = Tree.of(SPORT)
    assert covering(tree, "dinghy") == "dinghy"
    assert covering(tree, "dinghy", "yacht") == "sail"
    assert covering(tree, "yacht", "surf") == "water"
    assert covering(tree, "surf", "ski") == "sport"
    assert tree.leaves == 5


def test_every_pair_is_covered_by_a_common_ancestor_and_by_none_lower() -> None:
    tree = Tree.of(SPORT)
    for one, other in itertools.product(SPORT.categories, repeat=2):
        common = SPORT.ancestors(one) & SPORT.ancestors(other)
        lowest = max(common, key=lambda concept: len(SPORT.ancestors(concept)))
        assert covering(tree, one, other) == lowest


def test_a_concept_covers_the_leaves_below_it() -> None:
    tree = Tree.of(SPORT)
    for place, name in enumerate(tree.names):
        below = {label for label in SPORT.categories if name in SPORT.ancestors(label)}
        run = range(tree.first[place], tree.last[place] + 1)
        assert {label for label, leaf in tree.leaf_of.items() if leaf in run} == below


def test_a_chain_keeps_the_concept_that_says_most() -> None:
    chain = Taxonomy.from_nested({"entity": {"thing": {"animal": ["cat", "dog"]}}})
    assert Tree.of(chain).names == ("animal", "cat", "dog")


def test_what_covers_no_category_is_left_out() -> None:
    some = Taxonomy.from_nested({"any": {"a": ["x", "y"], "b": ["z"]}}, ["x", "y"])
    assert Tree.of(some).names == ("a", "x", "y")


def test_a_category_that_is_a_concept_too_is_told_from_what_lies_below_it() -> None:
    """The name alone would stand for the category and for all below it."""
    inner = Taxonomy.from_nested({"any": {"water": ["sail", "surf"]}}, ["water", "sail", "surf"])
    tree = Tree.of(inner)
    assert covering(tree, "water") == "water"
    assert covering(tree, "sail", "surf") == covering(tree, "water", "surf") == "water*"
    assert len(set(tree.names)) == len(tree.names)


def test_labels_of_one_concept_are_one_leaf_and_go_by_the_first() -> None:
    words = Taxonomy(
        [("cat", "pet"), ("dog", "pet")], {"Katze": "cat", "Kater": "cat", "Hund": "dog"}
    )
    tree = Tree.of(words)
    assert tree.leaf_of["Katze"] == tree.leaf_of["Kater"]
    assert covering(tree, "Kater") == "Katze"
    assert tree.leaves == 2


def test_a_concept_with_two_parents_hangs_below_the_first() -> None:
    graph = Taxonomy([("a", "top"), ("b", "top"), ("x", "a"), ("x", "b"), ("y", "a"), ("z", "b")])
    assert covering(Tree.of(graph), "x", "y") == "a"
    assert covering(Tree.of(graph), "x", "z") == "top"


def test_what_is_too_deep_is_refused() -> None:
    chain = [(f"{i + 1}", f"{i}") for i in range(9000)]
    leaves = [(f"leaf {i}", f"{i}") for i in range(9000)]
    with pytest.raises(InvalidTaxonomy, match="concepts deep"):
        Tree.of(Taxonomy([*chain, *leaves]))
