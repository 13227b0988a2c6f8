"""Categories on a line: depth first in their taxonomy, as far apart as one can tell them apart.

Whoever chooses a category for a group of rows scores every candidate c by its distances δ̃(c, v) to
the rows' categories v, from one fixed table of whole numbers. A row that changes from v to w moves
a score by at most D(v, w) = max over c of |δ̃(c, v) − δ̃(c, w)|. D obeys the triangle inequality
whatever the table is, so on a line where neighbours are D apart no two categories lie closer than
their D, and a walk along it in one direction is never longer than the line.

Source
    Thesis, chapter 6, for the orders; the bound is argued above.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from ..taxonomy import DISTANCE_STEPS, Taxonomy

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CategoryLine:
    """The categories of one column in their fixed order.

    distances: δ̃(c, v) for every candidate c (rows) and category v (columns), in whole steps.
    """

    distances: Numbers

    @cached_property
    def metric(self) -> Numbers:
        """D(v, w): how far a row that changes from v to w can move a score."""
        size = self.distances.shape[1]
        found = np.zeros((size, size), np.int64)
        for v in range(size):
            apart = np.abs(self.distances - self.distances[:, v : v + 1])
            found[v] = apart.max(axis=0)
        return found

    @cached_property
    def positions(self) -> Numbers:
        """Where each category lies, in steps from the first: D cumulated along the order."""
        if self.distances.shape[1] == 0:
            return np.zeros(0, np.int64)
        steps = np.abs(np.diff(self.distances, axis=1)).max(axis=0)
        return np.concatenate([[0], np.cumsum(steps)]).astype(np.int64)

    @property
    def length(self) -> int:
        """From the first to the last: S."""
        return int(self.positions[-1])


@lru_cache(maxsize=32)
def taxonomy_line(taxonomy: Taxonomy, blank: bool = False) -> CategoryLine:
    """The line of a taxonomy's categories, depth first; `blank` adds a last one for missing values.

    Distances are those of the rational table, in multiples of 2**-32. A blank is as far from every
    category as the two that are furthest apart, or one step if none are.

    Example
        >>> line = taxonomy_line(Taxonomy.flat(["x", "y", "z"]))
        >>> (line.positions / line.positions[1]).tolist()
        [0.0, 1.0, 2.0]
    """
    names = [taxonomy.concept_of(label) for label in taxonomy.depth_first]
    table = np.zeros((len(names), len(names)), np.int64)
    if all(taxonomy.parents(name) == (taxonomy.root,) for name in names):
        known = np.unique(names, return_inverse=True)[1].reshape(-1)  # one level: all equally far
        apart = int(taxonomy.marginality_sensitivity * DISTANCE_STEPS)
        table[known[:, None] != known[None, :]] = apart
    else:
        for i, one in enumerate(names):
            before = names[:i]
            row = [int(taxonomy.rational_distance(one, other) * DISTANCE_STEPS) for other in before]
            table[i, :i] = table[:i, i] = row
    return CategoryLine(_with_blank(table) if blank else table)


def plain_line(size: int, blank: bool = False) -> CategoryLine:
    """Categories that are all equally far from each other, by one whole."""
    apart = (1 - np.eye(size, dtype=np.int64)) * DISTANCE_STEPS
    return CategoryLine(_with_blank(apart) if blank else apart)


def _with_blank(table: Numbers) -> Numbers:
    wider = np.pad(table, (0, 1), constant_values=int(table.max(initial=0)) or 1)
    wider[-1, -1] = 0
    return wider
