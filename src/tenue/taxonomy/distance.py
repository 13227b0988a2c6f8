"""The semantic distance of two concepts, its rounded table, and the largest distance of all."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from .graph import Graph

_STEP_BITS = 32
DISTANCE_STEPS = 2**_STEP_BITS
"""Entries of the rational table of distances are whole multiples of 1 over this."""


@dataclass(frozen=True, eq=False)
class Ancestry:
    """The ancestors of each concept as the bits of a number, for fast comparison."""

    graph: Graph

    @cached_property
    def masks(self) -> dict[str, int]:
        """The ancestors that have children, as bits.

        A leaf is an ancestor of itself only. Without bits of their own, 100,000 leaves share the
        masks of their parents.
        """
        masks: dict[str, int] = {}
        bit = 1
        for concept in self.graph.top_down:
            above = [masks[parent] for parent in self.graph.parents[concept]]
            if self.graph.children[concept]:
                above.append(bit)
                bit <<= 1
            masks[concept] = functools.reduce(operator.or_, above)
        return masks

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The number of ancestors of each concept, itself included."""
        children = self.graph.children
        return {c: mask.bit_count() + (not children[c]) for c, mask in self.masks.items()}

    def apart(self, a: str, b: str) -> tuple[int, int]:
        """The number of ancestors not in common, and the number of all ancestors of the two."""
        if a == b:
            return 0, self.sizes[a]
        common = (self.masks[a] & self.masks[b]).bit_count()
        total = self.sizes[a] + self.sizes[b] - common
        return total - common, total

    def steps(self, a: str, b: str) -> int:
        """The entry of the rational table, in multiples of 2**-32."""
        return rounded_up_steps(*self.apart(a, b))


@functools.lru_cache(maxsize=2**16)
def rounded_up_steps(apart: int, total: int, spare: int = 16) -> int:
    """The least m with m / 2**32 >= log2(1 + apart / total), in whole numbers; apart < total.

    Each squaring doubles the logarithm and shows one more of its bits. Every number is rounded
    down, at most once before the first squaring and twice at each, by less than one unit of
    `precision`, the second time by half a unit: less than 1.45 * (1 + 1.5) * 2**-precision of the
    logarithm, which is less than one unit of the last bit shown. So the true logarithm lies less
    than two such units above what is shown, and short of the next multiple of 2**-32 unless all
    `spare` bits are ones. Then it is done again with twice as many. That ends: for
    0 < apart < total the logarithm is irrational.

    Example
        >>> rounded_up_steps(2, 3) / 2**32
        0.7369655943475664
    """
    if apart == 0:
        return 0
    while True:
        bits = _STEP_BITS + spare
        precision = bits + 2
        number = ((total + apart) << precision) // total
        found = 0
        for _ in range(bits):
            number = number * number >> precision
            bit = number >> (precision + 1)
            number >>= bit
            found = 2 * found + bit
        if (found + 1) % 2**spare:
            return (found >> spare) + 1
        spare *= 2


def furthest(ancestry: Ancestry, among: Iterable[str]) -> tuple[int, int]:
    """Numerator and denominator of the largest Jaccard distance between two of `among`.

    Each concept, those with many ancestors first, is compared with those that have no more
    ancestors than itself, walking down from the root. Below a concept the number of common
    ancestors can only grow, so a branch is skipped when even its largest number of ancestors would
    not give a pair less similar than the best so far.

    A taxonomy that resembles a tree takes a few walks. Any other takes at most as many comparisons
    as there are pairs of concepts, and no more memory than the ancestors.
    """
    candidates = set(among)
    sizes, masks = ancestry.sizes, ancestry.masks
    reach, branches = _branches(ancestry, candidates)
    root = ancestry.graph.root
    least, total = 1, 1  # the least similarity so far: common ancestors, and all of them
    for a in sorted(candidates, key=sizes.__getitem__, reverse=True):
        mine, mask = sizes[a], masks[a]
        if total >= least * (2 * mine - 1):  # even with nothing but the root in common
            break
        pending = [root]
        while pending:
            b = pending.pop()
            common = (mask & masks[b]).bit_count()
            if b in candidates and b != a and common * total < least * (mine + sizes[b] - common):
                least, total = common, mine + sizes[b] - common
            for branch in branches[b]:
                most = mine + min(mine, reach[branch]) - common
                if common * total >= least * most:
                    break
                pending.append(branch)
    return total - least, total


def _branches(
    ancestry: Ancestry, candidates: set[str]
) -> tuple[dict[str, int], dict[str, list[str]]]:
    """A tree within the graph: each concept below the one of its parents with most ancestors.

    `reach` is the largest number of ancestors of a candidate at or below a concept. Branches are
    ordered by it, and those without a candidate are left out.
    """
    graph, sizes = ancestry.graph, ancestry.sizes
    reach = {concept: sizes[concept] if concept in candidates else 0 for concept in graph.concepts}
    branches: dict[str, list[str]] = {concept: [] for concept in graph.concepts}
    for concept in reversed(graph.top_down):
        branches[concept].sort(key=reach.__getitem__, reverse=True)
        if reach[concept] and graph.parents[concept]:
            stem = max(graph.parents[concept], key=sizes.__getitem__)
            branches[stem].append(concept)
            reach[stem] = max(reach[stem], reach[concept])
    return reach, branches
