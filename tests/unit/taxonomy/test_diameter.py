"""The search for the two furthest concepts finds what comparing all of them finds."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable
from fractions import Fraction

import pytest
from hypothesis import given

from tenue.taxonomy import Taxonomy
from tenue.taxonomy.diameter import furthest
from tenue.taxonomy.distance import Ancestry
from tenue.taxonomy.graph import Graph
from unit.taxonomy.examples import dags

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
