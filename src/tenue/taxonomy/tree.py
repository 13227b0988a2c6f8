"""A taxonomy as a tree of what rows may hold: the one concept that covers a set of categories.

A concept with several parents is placed below the first of them. A concept that covers no category
is left out, and so is one that covers exactly what its only child covers, because the child is more
specific. Leaves are numbered depth first, so that a concept covers consecutive ones.
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
"""Ends the name of a concept that covers more than the category of that name."""

_MOST_CELLS = 2**25


@dataclass(frozen=True, eq=False)
class Tree:
    """Concepts and the leaves they cover.

    names: the name of each concept, all different; that of a leaf is its label in the rows.
    leaf_of: the leaf of each category.
    lines: for each leaf, its concepts from the root down, with the leaf itself as padding.
    first, last: the first and last leaf that each concept covers.

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
        """The tree of a taxonomy; refused if it is too deep for memory."""
        labels_of: dict[str, list[str]] = {}
        for label, concept in taxonomy.labels:
            labels_of.setdefault(concept, []).append(label)
        children: dict[str, list[str]] = {concept: [] for concept in taxonomy.concepts}
        categories_below = {concept: int(concept in labels_of) for concept in children}
        for concept in reversed(taxonomy.concepts):
            for parent in taxonomy.parents(concept)[:1] if categories_below[concept] else ():
                categories_below[parent] += categories_below[concept]
                children[parent].append(concept)  # the last one first
        used = {labels[0] for labels in labels_of.values()}
        names: list[str] = []
        lines: list[tuple[int, ...]] = []
        first: list[int] = []
        leaf_of: dict[str, int] = {}

        def leaf(concept: str, above: tuple[int, ...]) -> None:
            names.append(labels_of[concept][0])
            first.append(len(lines))
            leaf_of.update(dict.fromkeys(labels_of[concept], len(lines)))
            lines.append((*above, len(names) - 1))

        pending: list[tuple[str, tuple[int, ...]]] = [(taxonomy.root, ())]
        while pending:
            concept, above = pending.pop()
            if len(above) * len(labels_of) > _MOST_CELLS:
                raise refuse(
                    "taxonomy.taxonomy-too-deep", depth=len(above), categories=len(labels_of)
                )
            below = children[concept]
            if not below:
                leaf(concept, above)
            elif len(below) == 1 and concept not in labels_of:
                pending.append((below[0], above))
            else:
                name = concept
                while name in used:
                    name += ITSELF
                used.add(name)
                names.append(name)
                first.append(len(lines))
                above = (*above, len(names) - 1)
                if concept in labels_of:
                    leaf(concept, above)
                pending.extend((child, above) for child in below)
        longest = max(map(len, lines))
        table = np.array([line + line[-1:] * (longest - len(line)) for line in lines], np.int64)
        last: NDArray[Any] = np.zeros(len(names), np.int64)
        for deep in range(longest):
            np.maximum.at(last, table[:, deep], np.arange(len(lines)))
        return cls(tuple(names), leaf_of, table, np.array(first, np.int64), last)

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return int(self.lines.shape[0])

    @property
    def depth(self) -> int:
        """The largest number of concepts above one another below the root."""
        return int(self.lines.shape[1]) - 1

    def depth_of(self, low: Whole, high: Whole) -> Whole:
        """For each pair of leaves, the depth of the lowest concept that covers both."""
        shared: Whole = (self.lines[low] == self.lines[high]).cumprod(axis=1).sum(axis=1) - 1
        return shared.astype(np.int64)

    def covering(self, low: Whole, high: Whole) -> Whole:
        """For each pair of leaves, the lowest concept that covers both."""
        found: Whole = self.lines[low, self.depth_of(low, high)]
        return found
