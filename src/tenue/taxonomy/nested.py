"""A taxonomy drawn as tables inside tables, read and written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..errors import refuse
from .given import refuse_repeated, shown, text
from .graph import Edge, Graph

DEEPEST = 1_000
"""Tables may stand inside each other this deep."""


def nested_edges(nested: object) -> Iterator[Edge]:
    """The edges that the tables draw, upper levels first.

    What stands in one table is read once, wherever else the same table stands. So a table that
    contains itself gives finitely many edges, and they go in a circle.

    Example
        >>> list(nested_edges({"animal": {"pet": ["cat"]}}))
        [('animal', None), ('pet', 'animal'), ('cat', 'pet')]
    """
    if not isinstance(nested, Mapping):
        raise refuse("taxonomy.nested-taxonomy-invalid", nested=shown(nested))
    yield from ((root, None) for root in nested)
    read = {id(nested): nested}  # holds the tables, lest a new one gets the identity of an old one
    level = list(nested.items())
    for _ in range(DEEPEST):
        deeper: list[tuple[str, object]] = []
        for parent, below in level:
            if isinstance(below, Mapping):
                if id(below) not in read:
                    read[id(below)] = below
                    deeper.extend(below.items())
            elif isinstance(below, list | tuple):
                refuse_repeated(map(text, below), "Each leaf stands once in a list")
            else:
                raise refuse("taxonomy.nested-branch-invalid", parent=parent, below=shown(below))
            yield from ((child, parent) for child in below)
        level = deeper
    if level:
        raise refuse("taxonomy.nested-taxonomy-too-deep", deepest=DEEPEST)


def drawn(graph: Graph) -> dict[str, object]:
    """The tables whose edges are those of the graph.

    Example
        >>> drawn(Graph.of([("cat", "pet"), ("pet", "animal")]))
        {'animal': {'pet': ['cat']}}
    """
    nested: dict[str, dict[str, object] | list[str]] = {}
    for concept in reversed(graph.top_down):
        below = {
            child: nested[child] if graph.parents[child][0] == concept else []
            for child in graph.children[concept]
        }
        nested[concept] = dict(below) if any(below.values()) else list(below)
    return {graph.root: nested[graph.root]}
