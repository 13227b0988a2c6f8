"""A concept covers a run of leaves; names are different; nothing that covers nothing is kept."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tenue.errors import InvalidTaxonomy
from tenue.taxonomy import Taxonomy
from tenue.taxonomy.tree import Tree

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
    with pytest.raises(InvalidTaxonomy, match="stand above each other"):
        Tree.of(Taxonomy([*chain, *leaves]))
