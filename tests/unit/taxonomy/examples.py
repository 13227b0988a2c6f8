"""Small taxonomies made by hand, and random ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st

from tenue.errors import InvalidTaxonomy
from tenue.taxonomy import Taxonomy

SPORT_NESTED: dict[str, Any] = {
    "sport": {"water": {"sailing": [], "board": ["surfing", "kiting"]}, "snow": ["skiing"]}
}
SPORT_EDGES = [
    ("water", "sport"),
    ("snow", "sport"),
    ("sailing", "water"),
    ("board", "water"),
    ("skiing", "snow"),
    ("surfing", "board"),
    ("kiting", "board"),
]
SPORT = Taxonomy.from_edges(SPORT_EDGES)
# root over a and b; d below both; e below d; c below a alone
DIAMOND_EDGES = [("a", "root"), ("b", "root"), ("c", "a"), ("d", "a"), ("d", "b"), ("e", "d")]
DIAMOND = Taxonomy.from_edges(DIAMOND_EDGES)


@st.composite
def dags(draw: st.DrawFn) -> Taxonomy:
    """A random taxonomy whose every concept has one to three parents, with random categories."""
    size = draw(st.integers(2, 12))
    edges = []
    for child in range(1, size):
        parents = draw(st.lists(st.integers(0, child - 1), min_size=1, max_size=3, unique=True))
        edges += [(f"n{child}", f"n{parent}") for parent in parents]
    shuffled = draw(st.permutations(edges))
    labelled = draw(st.none() | st.lists(st.integers(0, size - 1), min_size=1, unique=True))
    if labelled is None:
        return Taxonomy.from_edges(shuffled)
    return Taxonomy.from_edges(shuffled, {f"label {n}": f"n{n}" for n in labelled})


def plain_ancestors(tree: Taxonomy, concept: str) -> set[str]:
    return {concept}.union(*(plain_ancestors(tree, parent) for parent in tree.parents(concept)))


def refusal(call: Callable[[], object]) -> InvalidTaxonomy:
    with pytest.raises(InvalidTaxonomy) as caught:
        call()
    assert type(caught.value).code == "invalid-taxonomy"
    return caught.value
