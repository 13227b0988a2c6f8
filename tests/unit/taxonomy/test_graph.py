"""What people give becomes a graph with one root, and labels that rows may hold."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

from tenue.taxonomy import MOST_CONCEPTS, Taxonomy
from tenue.taxonomy.graph import Graph, attached, named, pair, sequence, shown, text
from unit.taxonomy.examples import DIAMOND_EDGES, SPORT, SPORT_EDGES, dags, plain_ancestors, refusal


def deep_list(depth: int) -> list[Any]:
    inner: list[Any] = []
    for _ in range(depth):
        inner = [inner]
    return inner


def endless_list() -> list[Any]:
    inner: list[Any] = []
    inner.append(inner)
    return inner


@pytest.mark.parametrize(
    "given",
    [deep_list(100_000), endless_list(), 10**6_000, "x" * 10**6, ["x" * 50] * 6],
    ids=["deep", "endless", "large", "long", "wide"],
)
def test_whatever_is_given_is_shown_briefly(given: object) -> None:
    assert 1 < len(shown(given)) <= 60
    if not isinstance(given, str):
        assert len(refusal(lambda: text(given)).what) < 100


def test_small_things_are_shown_whole() -> None:
    for each_given in (None, 1.5, ("a", "b", "c"), {"m": []}, "a" * 50):
        assert shown(each_given) == repr(each_given)


def test_eight_names_are_named() -> None:
    assert named("abcdefgh") == "`a`, `b`, `c`, `d`, `e`, `f`, `g`, `h`"
    assert named("abcdefghi").endswith("`g`, `h` and 1 more")
    assert named("abcdefghij", " below ").endswith("`g` below `h` and 2 more")


def test_text_of_other_types_becomes_plain_text() -> None:
    class Quoted(str):
        __slots__ = ()

    tree = Taxonomy.flat([Quoted("x"), Quoted("y")])
    assert all(type(name) is str for name in (*tree.concepts, *tree.categories))


@pytest.mark.parametrize("given", ["", "\ud800", 1, None, b"a", ["a"]])
def test_what_is_no_text_is_refused(given: object) -> None:
    assert "A concept or category is" in refusal(lambda: text(given)).what


@pytest.mark.parametrize("given", ["ab", ["a"], ("a", "b", "c"), {"a": 1, "b": 2}, 7])
def test_what_is_no_pair_is_refused(given: object) -> None:
    assert refusal(lambda: pair(given, "An edge", "child, parent")).what.startswith("An edge is ")


@pytest.mark.parametrize("given", ["ab", 7, None])
def test_what_is_no_list_is_refused(given: object) -> None:
    assert refusal(lambda: sequence(given, "sample")).what == f"`sample` is {given!r}."


# -- One root, no cycle, and the depth-first order ------------------------------------------------


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


def test_a_cycle_is_named() -> None:
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


def test_a_cycle_beside_or_instead_of_a_root_is_refused() -> None:
    refusal(lambda: Graph.of([("a", "b"), ("b", "a")]))
    error = refusal(lambda: Graph.of([("a", "root"), ("b", "c"), ("c", "b")]))
    assert "cycle" in error.what
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


# -- Labels are what rows hold; each is attached to one concept ------------------------------------

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
        (["rot"], "`rot`, which is not a concept"),
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
