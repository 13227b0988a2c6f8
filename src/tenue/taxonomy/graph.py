"""Concepts below one root, without a cycle, and the labels that rows may hold."""

from __future__ import annotations

import reprlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..errors import nearest, refuse

_MOST_NAMED = 8
_LONGEST = 60
_short = reprlib.Repr()
_short.maxstring = _short.maxother = _LONGEST


def shown(given: object) -> str:
    """What was given, in at most 60 characters, however deep, long or recursive it is."""
    try:
        return _short.repr(given)[:_LONGEST]
    except ValueError:  # Python does not print numbers of thousands of digits
        return f"a large {type(given).__name__}"


def named(names: Iterable[str], link: str = ", ") -> str:
    """The first eight names, and how many more there are."""
    listed = list(names)
    text = link.join(f"`{name:.60}`" for name in listed[:_MOST_NAMED])
    more = len(listed) - _MOST_NAMED
    return f"{text} and {more} more" if more > 0 else text


def sequence(given: object, name: str) -> list[Any]:
    """What was given as a list; refused if it is a text or not iterable."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise refuse("taxonomy.labels-not-a-list", name=name, given=shown(given))
    return list(given)


def text(given: object) -> str:
    """The name of a concept or category, as plain text."""
    if isinstance(given, str) and given:
        try:
            given.encode()  # half a surrogate pair cannot be written anywhere
        except UnicodeEncodeError:
            pass
        else:
            return str(given)
    raise refuse("taxonomy.invalid-label", given=shown(given))


def pair(given: object, kind: str, parts: str) -> tuple[object, object]:
    """The two parts of an edge, or of a category."""
    if isinstance(given, Sequence) and not isinstance(given, str) and len(given) == 2:
        return given[0], given[1]
    raise refuse("taxonomy.invalid-taxonomy-pair", kind=kind, given=shown(given), parts=parts)


def refuse_repeated(names: Iterable[str], allowed: str) -> None:
    """Refuses names that occur more than once."""
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise refuse("taxonomy.declared-twice", named=named(repeated), rule=allowed)


MOST_CONCEPTS = 100_001  # a root and as many categories as an answer may have cells
"""The largest number of concepts in a taxonomy."""

Edge = tuple[str, str | None]
Categories = Mapping[str, str] | Iterable[str | tuple[str, str]]


@dataclass(frozen=True, eq=False)
class Graph:
    """Concepts below one root, without a cycle.

    children: the concepts depth first from the root, each with its children in declared order. No
        algorithm recurses, so depth is unlimited.
    """

    children: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, edges: Iterable[Edge]) -> Graph:
        """The graph with these (child, parent) pairs; refused unless it has one root and no cycle.

        Example
            >>> Graph.of([("dog", "pet"), ("cat", "pet"), ("pet", "animal")]).concepts
            ('animal', 'pet', 'dog', 'cat')
        """
        children = _children(edges)
        order = _top_down(children)
        below_something = {child for below in children.values() for child in below}
        roots = tuple(concept for concept in children if concept not in below_something)
        if len(roots) > 1:
            raise refuse("taxonomy.several-roots", roots=roots, many=len(roots), named=named(roots))
        return cls(_depth_first(children, order[0]))

    @cached_property
    def root(self) -> str:
        """The one concept without a parent."""
        return next(iter(self.children))

    @cached_property
    def concepts(self) -> tuple[str, ...]:
        """Each concept once, depth first from the root."""
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
        """The concepts, each after all of its parents."""
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


def _top_down(children: Mapping[str, Iterable[str]]) -> list[str]:
    """The concepts, each after all of its parents; a cycle is refused and named."""
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
    # every concept left over has a parent left over, so walking up ends in a cycle
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


def attached(
    categories: Categories | None, children: Mapping[str, tuple[str, ...]]
) -> tuple[tuple[str, str], ...]:
    """Each label with its concept, in declared order; without categories, the leaves.

    Example
        >>> attached({"Katze": "cat"}, {"animal": ("cat", "dog"), "cat": (), "dog": ()})
        (('Katze', 'cat'),)
        >>> attached(None, {"animal": ("cat", "dog"), "cat": (), "dog": ()})
        (('cat', 'cat'), ('dog', 'dog'))
    """
    if categories is None:
        return tuple((leaf, leaf) for leaf in children if not children[leaf])
    given = categories.items() if isinstance(categories, Mapping) else categories
    labels = []
    for entry in sequence(given, "categories"):
        both = (entry, entry) if isinstance(entry, str) else entry
        label, concept = pair(both, "A category", "label, concept")
        labels.append((text(label), text(concept)))
    if not labels:
        raise refuse("taxonomy.taxonomy-without-category")
    refuse_repeated((label for label, _ in labels), "Each category is declared once")
    for label, concept in labels:
        if concept not in children:
            near = nearest(concept, children)
            raise refuse("taxonomy.unknown-concept", label=label, concept=concept, nearest=near)
        if label != concept and label in children:
            raise refuse("taxonomy.concept-and-category", label=label, concept=concept)
    return tuple(labels)
