"""A taxonomy as a tree of what rows may hold: the one concept that covers a set of categories.

A concept with several parents hangs below the first of them, which is above it all the same. What
covers no category is left out, and so is a concept that covers exactly what its only child covers:
the child says more. Leaves are numbered depth first, so that a concept covers a run of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import refuse
from .taxonomy import Taxonomy

Whole = NDArray[np.int64]

ITSELF = "*"
"""Marks a concept that covers more than the category of its own name."""

_MOST_CELLS = 2**25


@dataclass(frozen=True, eq=False)
class Tree:
    """What covers what.

    names: of each concept, all different; a leaf has the name that rows have for it.
    leaf_of: the leaf of each category.
    lines: of each leaf its concepts from the root down, the leaf itself repeated at the end.
    first, last: the leaves that each concept covers.

    Example
        >>> sport = Taxonomy.from_nested({"sport": {"water": ["sailing", "surfing"], "snow": []}})
        >>> tree = Tree.of(sport)
        >>> tree.names[tree.covering(np.array([0]), np.array([1]))[0]]
        'water'
    """

    names: tuple[str, ...]
    leaf_of: Mapping[str, int]
    lines: Whole
    first: Whole
    last: Whole

    @classmethod
    def of(cls, taxonomy: Taxonomy) -> Tree:
        """The tree of a taxonomy; refused if it is too deep to be held."""
        return _built(taxonomy)

    @property
    def leaves(self) -> int:
        """How many different things rows may hold."""
        return int(self.lines.shape[0])

    @property
    def depth(self) -> int:
        """How many concepts stand above each other below the root, at most."""
        return int(self.lines.shape[1]) - 1

    def depth_of(self, low: Whole, high: Whole) -> Whole:
        """How far below the root the lowest concept is that covers both leaves, pair by pair."""
        shared = (self.lines[low] == self.lines[high]).cumprod(axis=1).sum(axis=1) - 1
        deep: Whole = shared.astype(np.int64)
        return deep

    def covering(self, low: Whole, high: Whole) -> Whole:
        """The lowest concept that covers both leaves, pair by pair."""
        found: Whole = self.lines[low, self.depth_of(low, high)]
        return found


def _built(taxonomy: Taxonomy) -> Tree:
    held: dict[str, list[str]] = {}
    for label, concept in taxonomy.labels:
        held.setdefault(concept, []).append(label)
    children: dict[str, list[str]] = {concept: [] for concept in taxonomy.concepts}
    weight = {concept: int(concept in held) for concept in children}
    for concept in reversed(taxonomy.concepts):
        for parent in taxonomy.parents(concept)[:1] if weight[concept] else ():
            weight[parent] += weight[concept]
            children[parent].append(concept)  # the last one first
    taken = {labels[0] for labels in held.values()}
    names: list[str] = []
    lines: list[tuple[int, ...]] = []
    first: list[int] = []
    leaf_of: dict[str, int] = {}

    def leaf(concept: str, above: tuple[int, ...]) -> None:
        names.append(held[concept][0])
        first.append(len(lines))
        leaf_of.update(dict.fromkeys(held[concept], len(lines)))
        lines.append((*above, len(names) - 1))

    waiting: list[tuple[str, tuple[int, ...]]] = [(taxonomy.root, ())]
    while waiting:
        concept, above = waiting.pop()
        if len(above) * len(held) > _MOST_CELLS:
            raise refuse("taxonomy.taxonomy-too-deep", depth=len(above), categories=len(held))
        below = children[concept]
        if not below:
            leaf(concept, above)
        elif len(below) == 1 and concept not in held:
            waiting.append((below[0], above))
        else:
            name = concept
            while name in taken:
                name += ITSELF
            taken.add(name)
            names.append(name)
            first.append(len(lines))
            above = (*above, len(names) - 1)
            if concept in held:
                leaf(concept, above)
            waiting.extend((child, above) for child in below)
    deepest = max(map(len, lines))
    table = np.array([line + line[-1:] * (deepest - len(line)) for line in lines], np.int64)
    last: NDArray[Any] = np.zeros(len(names), np.int64)
    for deep in range(deepest):
        np.maximum.at(last, table[:, deep], np.arange(len(lines)))
    return Tree(tuple(names), leaf_of, table, np.array(first, np.int64), last)
