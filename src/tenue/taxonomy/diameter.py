"""The two concepts that are furthest apart."""

from __future__ import annotations

from collections.abc import Iterable

from .distance import Ancestry


def furthest(ancestry: Ancestry, among: Iterable[str]) -> tuple[int, int]:
    """Numerator and denominator of the largest Jaccard distance between two of `among`.

    Each concept, those with many ancestors first, is compared with those that have no more
    ancestors than itself, walking down from the root. Below a concept the common ancestors can only
    grow in number, so that a branch is left out when even the most ancestors it has to offer would
    not make a pair less similar than the one found.

    A taxonomy like a tree takes a few walks. Any other takes at most as many comparisons as there
    are pairs of concepts, and no more memory than the ancestors.
    """
    candidates = set(among)
    sizes, masks = ancestry.sizes, ancestry.masks
    reach, branches = _branches(ancestry, candidates)
    root = ancestry.graph.root
    least, total = 1, 1  # the least similarity found: common ancestors, and all of them
    for a in sorted(candidates, key=sizes.__getitem__, reverse=True):
        mine, mask = sizes[a], masks[a]
        if total >= least * (2 * mine - 1):  # even with nothing but the root in common
            break
        waiting = [root]
        while waiting:
            b = waiting.pop()
            common = (mask & masks[b]).bit_count()
            if b in candidates and b != a and common * total < least * (mine + sizes[b] - common):
                least, total = common, mine + sizes[b] - common
            for branch in branches[b]:
                most = mine + min(mine, reach[branch]) - common
                if common * total >= least * most:
                    break
                waiting.append(branch)
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
