"""One root, no circle, and the depth-first order."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given

from tenue.taxonomy import MOST_CONCEPTS, Taxonomy
from tenue.taxonomy.graph import Graph
from unit.taxonomy.examples import DIAMOND_EDGES, SPORT_EDGES, dags, plain_ancestors, refusal


@given(dags())
def test_depth_first_is_the_order_of_a_plain_recursive_walk(tree: Taxonomy) -> None:
    order: list[str] = []

    def walk(concept: str) -> None:
        if concept not in order:
            order.append(concept)
            for child in tree.children(concept):
                walk(child)

    walk(tree.root)
    assert list(tree.concepts) == order


@given(dags())
def test_top_down_a_concept_follows_all_its_parents(tree: Taxonomy) -> None:
    graph = Graph.of(tree.edges)
    place = {concept: index for index, concept in enumerate(graph.top_down)}
    assert set(place) == set(graph.concepts)
    assert all(place[parent] < place[child] for child, parent in graph.edges)


@given(dags())
def test_ancestors_are_those_of_a_plain_recursion(tree: Taxonomy) -> None:
    for concept in tree.concepts:
        assert tree.ancestors(concept) == plain_ancestors(tree, concept)


def test_deep_graphs_need_no_recursion() -> None:
    depth = 3_000
    graph = Graph.of([(f"c{i + 1}", f"c{i}") for i in range(depth)])
    assert len(graph.ancestors(f"c{depth}")) == depth + 1
    assert graph.concepts == graph.top_down


def test_repeated_edges_count_once_and_the_first_place_stays() -> None:
    repeated = [*SPORT_EDGES, *SPORT_EDGES[::-1]]
    assert Graph.of(repeated).edges == Graph.of(SPORT_EDGES).edges


def test_a_circle_is_named() -> None:
    edges = [("a", "root"), ("b", "a"), ("c", "b"), ("b", "d"), ("d", "c"), ("x", "d")]
    for declared in itertools.permutations(edges):
        error = refusal(lambda declared=declared: Graph.of(declared))
        cycle = error.facts["cycle"]
        assert isinstance(cycle, tuple)
        assert cycle[0] == cycle[-1]
        assert len(cycle) == 4
        assert set(cycle) == {"b", "c", "d"}
        assert all(step in edges for step in itertools.pairwise(cycle))
        assert all(f"`{name}`" in error.what for name in "bcd")
        assert "`x`" not in error.what


def test_a_circle_beside_or_instead_of_a_root_is_refused() -> None:
    refusal(lambda: Graph.of([("a", "b"), ("b", "a")]))
    error = refusal(lambda: Graph.of([("a", "root"), ("b", "c"), ("c", "b")]))
    assert "circle" in error.what
    long = [(f"c{i}", f"c{(i + 1) % 500}") for i in range(500)]
    assert len(refusal(lambda: Graph.of(long)).what) < 300


def test_several_roots_are_named() -> None:
    error = refusal(lambda: Graph.of([("a", "left"), ("b", "right")]))
    assert error.facts["roots"] == ("left", "right")
    assert "`left`" in error.what
    assert "`right`" in error.what
    assert "2 roots" in refusal(lambda: Graph.of([*DIAMOND_EDGES, ("alone", None)])).what


@pytest.mark.parametrize(
    ("edges", "says"),
    [
        ([], "empty"),
        ([("root", None)], "empty"),
        ([("a", "r"), ("b", "b")], "`b`: a concept is its own parent"),
        ([(1, "r")], "is 1."),
        ([("a", 1.5)], "is 1.5"),
        ([("", "r")], "is ''"),
        ([("\ud800", "r")], "is '\\ud800'"),
        (["ab"], "An edge is 'ab'"),
        ([("a", "b", "c")], "An edge is ('a', 'b', 'c')"),
        (7, "`edges` is 7"),
    ],
)
def test_what_is_no_graph_is_refused(edges: Any, says: str) -> None:
    assert says in refusal(lambda: Graph.of(edges)).what


def test_too_many_concepts_are_refused() -> None:
    edges = [(str(i), "root") for i in range(MOST_CONCEPTS)]
    assert "100002 concepts" in refusal(lambda: Graph.of(edges)).what
    assert len(Graph.of(edges[1:]).concepts) == MOST_CONCEPTS
