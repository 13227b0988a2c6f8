"""The levels of generalisation, one for each column, that lose least of all that keep the promise.

Every level of every column is considered. A search goes up from the values themselves, always on
from where least is lost. Two facts spare it most of the lattice. What keeps k keeps it further up,
so that two columns which together break it, all others generalised to everything, break it on every
level of those. And what is lost grows upwards: once the least that any open levels can lose is no
better than what was found, nothing better is left.

Source
    Samarati 2001 for levels; LeFevre, DeWitt and Ramakrishnan 2005 (Incognito) for pruning by
    subsets of columns; Kohlmayer et al. 2012 for the search of a globally optimal node.
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...errors import Fault
from ..table.cells import Numbers
from .lattice import Lattice, Levels
from .loss import Measure
from .need import Flags, Need


@dataclass(frozen=True, eq=False)
class Found:
    """The best levels.

    labels: the class of each row, numbered from 0; -1 of a row that is suppressed.
    """

    levels: Levels
    labels: Numbers
    loss: Fraction


def full_domain(lattice: Lattice, need: Need, measure: Measure, most: int = 0) -> Found:
    """The levels with the least loss of all that keep what is needed.

    Guarantee
        No other levels lose less; of those that lose as little, the first that the search meets,
        which follows from how often each combination of values occurs, not from the order of rows.

    Parameters
        most: how many rows may be suppressed.
    """
    allowed = _Pairs(lattice, need, most)
    bottom = allowed.lowest
    best: tuple[Fraction, Levels, Numbers] | None = None
    waiting = [(measure(lattice.classes(bottom)), sum(bottom), bottom)]
    seen = {bottom}
    while waiting:
        bound, _, levels = heapq.heappop(waiting)
        if best is not None and bound >= best[0]:
            break
        if allowed(levels):
            bound = measure(lattice.classes(levels))
            if best is None or bound < best[0]:
                kept = _kept(lattice, levels, need, most)
                if kept is not None:
                    lost = measure(lattice.classes(levels, *kept))
                    if best is None or lost < best[0]:
                        best = lost, levels, kept[0]
                    if kept[1] == 0:
                        continue  # all above lose more
        for higher in lattice.above(levels):
            if higher not in seen:
                seen.add(higher)
                heapq.heappush(waiting, (bound, sum(higher), higher))
    if best is None:
        raise Fault("the whole table as one class does not keep what it must")
    loss, levels, classes = best
    labels, count = lattice.labels(levels)
    number = np.full(count, -1, np.int64)
    number[classes] = np.arange(classes.size)
    return Found(levels, number[labels], loss)


def _kept(lattice: Lattice, levels: Levels, need: Need, most: int) -> tuple[Numbers, int] | None:
    """The classes that are published, and how many rows are not; None if these are too many."""
    units, rows = lattice.units(levels, need)
    if not need.looks_inside:
        good = units >= need.k
    else:
        if int(rows[units < need.k].sum()) > most:
            return None
        labels, count = lattice.labels(levels)
        good = (units >= need.k) & need.diverse(labels, count)
        good = _close(need, labels, good)
    lost = int(rows[~good].sum())
    return None if lost > most or not good.any() else (np.flatnonzero(good), lost)


def _close(need: Need, labels: Numbers, good: Flags) -> Flags:
    """Those classes that are also close to all that is published, which changes with each that is
    left out."""
    while need.t is not None and good.any():
        rows = np.flatnonzero(good[labels])
        found, dense = np.unique(labels[rows], return_inverse=True)
        near = need.of(rows).close(dense.astype(np.int64).reshape(-1), found.size)
        if near.all():
            break
        good = good.copy()
        good[found[~near]] = False
    return good


class _Pairs:
    """Which levels may keep k, by what every two columns show on their own."""

    def __init__(self, lattice: Lattice, need: Need, most: int) -> None:
        self._least: dict[tuple[int, int], list[int]] = {}
        top = lattice.top

        def keeps(levels: Levels) -> bool:
            units, rows = lattice.units(levels, need)
            return int(rows[units < need.k].sum()) <= most

        lowest = []
        for column, highest in enumerate(top):
            level = 0
            while level < highest and not keeps(_with(top, {column: level})):
                level += 1
            lowest.append(level)
        self.lowest: Levels = tuple(lowest)
        for one, other in itertools.combinations(range(len(top)), 2):
            keeps(_with(top, {one: 0, other: 0}))  # the others are made of its classes
            level, least = top[other], []
            for first in range(lowest[one], top[one] + 1):
                while level > lowest[other] and keeps(_with(top, {one: first, other: level - 1})):
                    level -= 1
                least.append(level)
            self._least[one, other] = least

    def __call__(self, levels: Levels) -> bool:
        return all(
            levels[other] >= least[levels[one] - self.lowest[one]]
            for (one, other), least in self._least.items()
        )


def _with(levels: Levels, changed: dict[int, int]) -> Levels:
    return tuple(changed.get(column, level) for column, level in enumerate(levels))
