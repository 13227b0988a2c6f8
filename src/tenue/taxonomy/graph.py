"""What stands directly below what: one root, no circle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property

from ..errors import refuse
from ..frozen import dataclass
from .given import named, pair, sequence, text

MOST_CONCEPTS = 100_001  # a root and as many categories as an answer may have cells
"""A taxonomy may hold this many concepts."""

Edge = tuple[str, str | None]


@dataclass(frozen=True, eq=False)
class Graph:
    """Concepts below one root, without a circle.

    children: the concepts depth first from the root, each with those directly below it, siblings in
        declared order. Nothing of it is recursive, so depth costs nothing.
    """

    children: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, edges: Iterable[Edge]) -> Graph:
        """The graph with these (child, parent) pairs, refused if it is none.

        Example
            >>> Graph.of([("dog", "pet"), ("cat", "pet"), ("pet", "animal")]).concepts
            ('animal', 'pet', 'dog', 'cat')
        """
        children = _children(edges)
        _top_down(children)
        return cls(_depth_first(children, _one_root(children)))

    @cached_property
    def root(self) -> str:
        """The one concept without a parent."""
        return next(iter(self.children))

    @cached_property
    def concepts(self) -> tuple[str, ...]:
        """Each concept once, as a walk from the root meets it first."""
        return tuple(self.children)

    @cached_property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The (child, parent) pairs, by parents in the order of `concepts`."""
        return tuple((child, parent) for parent in self.children for child in self.children[parent])

    @cached_property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """The concepts directly above each, in the order of `concepts`."""
        parents: dict[str, list[str]] = {concept: [] for concept in self.children}
        for child, parent in self.edges:
            parents[child].append(parent)
        return {concept: tuple(above) for concept, above in parents.items()}

    @cached_property
    def top_down(self) -> tuple[str, ...]:
        """The concepts, each after all its parents."""
        return tuple(_top_down(self.children))

    def ancestors(self, concept: str) -> frozenset[str]:
        """The concept, its parents, their parents, up to the root."""
        found = {concept}
        waiting = [concept]
        while waiting:
            above = set(self.parents[waiting.pop()]) - found
            found |= above
            waiting.extend(above)
        return frozenset(found)


def _children(edges: Iterable[Edge]) -> dict[str, dict[str, None]]:
    children: dict[str, dict[str, None]] = {}
    for edge in sequence(edges, "edges"):
        child, parent = pair(edge, "An edge", "child, parent")
        below = text(child)
        children.setdefault(below, {})
        if parent is not None:
            children.setdefault(text(parent), {})[below] = None
    own_parents = [concept for concept, below in children.items() if concept in below]
    if own_parents:
        raise refuse("taxonomy.concept-its-own-parent", named=named(own_parents))
    if len(children) < 2:
        raise refuse("taxonomy.taxonomy-empty")
    if len(children) > MOST_CONCEPTS:
        raise refuse("taxonomy.taxonomy-too-large", many=len(children), most_concepts=MOST_CONCEPTS)
    return children


def _one_root(children: Mapping[str, Iterable[str]]) -> str:
    below_something = {child for below in children.values() for child in below}
    roots = tuple(concept for concept in children if concept not in below_something)
    if len(roots) > 1:
        raise refuse("taxonomy.several-roots", roots=roots, many=len(roots), named=named(roots))
    return roots[0]


def _top_down(children: Mapping[str, Iterable[str]]) -> list[str]:
    """The concepts, each after all its parents; refused with the circle if there is one."""
    open_parents = Counter(child for below in children.values() for child in below)
    order = [concept for concept in children if not open_parents[concept]]
    for concept in order:
        for child in children[concept]:
            open_parents[child] -= 1
            if not open_parents[child]:
                order.append(child)
    if len(order) == len(children):
        return order
    done = set(order)
    # A concept that is left over has a parent that is left over: going up must come round.
    upward = {
        child: parent for parent, below in children.items() if parent not in done for child in below
    }
    path = dict.fromkeys([next(concept for concept in children if concept not in done)])
    while (parent := upward[next(reversed(path))]) not in path:
        path[parent] = None
    members = list(path)
    cycle = (*members[members.index(parent) :], parent)
    raise refuse("taxonomy.taxonomy-cycle", cycle=cycle, named=named(cycle, " below "))


def _depth_first(children: Mapping[str, Iterable[str]], root: str) -> dict[str, tuple[str, ...]]:
    waiting = [root]
    order: dict[str, tuple[str, ...]] = {}
    while waiting:
        concept = waiting.pop()
        if concept not in order:
            order[concept] = tuple(children[concept])
            waiting.extend(reversed(order[concept]))
    return order
