"""The distance of two concepts, and the table of its values rounded up."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterable
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings

from tenue.taxonomy import DISTANCE_STEPS, Taxonomy
from tenue.taxonomy.distance import Ancestry, furthest, rounded_up_steps
from tenue.taxonomy.graph import Graph
from unit.taxonomy.examples import dags, plain_ancestors


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
