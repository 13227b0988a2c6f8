"""The same groups as `plain`, where many records are equal: each distance is computed once for all.

Distances depend on the record alone, and equal records leave in row order: the rule on ties never
takes a later one first. So the live rows of a record are the rest of a list, and a search looks at
different records only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .plain import Rows, Space

Numbers = NDArray[np.int64]


def mdav(space: Space, kinds: Numbers, k: int) -> Numbers:
    """What `plain.mdav` gives for these records.

    Parameters
        space: where all rows lie.
        kinds: which record each row has, numbered from 0 without gaps; rows of one kind must lie
            at the same place.
    """
    live = _Live(space, kinds)
    labels = np.full(space.size, -1, np.int64)
    tally = space.tally(np.arange(space.size))
    group, count = 0, space.size

    def leave(members: Rows) -> None:
        nonlocal tally, group, count
        labels[members] = group
        tally = tally - space.tally(members)
        group += 1
        count -= k

    while count >= 3 * k:
        first = live.farthest(live.distances(space.centre(tally, count)))
        point = space.record(first)
        from_first = live.distances(point)
        second = live.farthest(from_first)
        leave(live.take(from_first, first, k))
        if labels[second] >= 0:
            second = live.farthest(live.distances(point))
        leave(live.take(live.distances(space.record(second)), second, k))
    if count >= 2 * k:
        first = live.farthest(live.distances(space.centre(tally, count)))
        leave(live.take(live.distances(space.record(first)), first, k))
    labels[labels < 0] = group
    return labels


class _Live:
    """The live rows of each kind: a slice of all rows sorted by kind, from its head to its end."""

    def __init__(self, space: Space, kinds: Numbers) -> None:
        self._space = space
        self._kinds = kinds
        self._rows = np.argsort(kinds, kind="stable")
        self._ends = np.cumsum(np.bincount(kinds))
        self._heads = np.append(0, self._ends[:-1])
        self._alive = np.arange(self._ends.size)
        self._places: Rows = self._rows[self._heads]  # a row of each kind, live or not

    def distances(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far each live kind is from a point."""
        return self._space.distances(self._places[self._alive], point)

    def farthest(self, distances: NDArray[np.float64]) -> int:
        """The live row at the greatest distance, the first in row order among equals."""
        equal = self._alive[distances == distances.max()]
        return int(self._rows[self._heads[equal]].min())

    def take(self, distances: NDArray[np.float64], seed: int, k: int) -> Rows:
        """The seed, which is the first live row of its kind, and its k - 1 nearest leave."""
        own = self._kinds[seed]
        self._heads[own] += 1
        counts = self._ends[self._alive] - self._heads[self._alive]
        wanted = k - 1
        taken = [np.array([seed])]
        if wanted:
            # each kind has a row at least, but for the seed's own
            limit = np.partition(distances, min(k, distances.size) - 1)[min(k, distances.size) - 1]
            near = np.flatnonzero(distances <= limit)
            near = near[np.argsort(distances[near], kind="stable")]
            reached = np.cumsum(counts[near])
            last = distances[near[np.searchsorted(reached, wanted)]]
            for kind in self._alive[near[distances[near] < last]]:
                taken.append(self._rows[self._heads[kind] : self._ends[kind]])
                self._heads[kind] = self._ends[kind]
            wanted -= sum(part.size for part in taken) - 1
            taken.append(self._first_of(self._alive[near[distances[near] == last]], wanted))
        self._alive = self._alive[self._heads[self._alive] < self._ends[self._alive]]
        return np.concatenate(taken)

    def _first_of(self, kinds: Numbers, wanted: int) -> Rows:
        """The first rows of several kinds, in row order."""
        lists = [
            self._rows[head : min(head + wanted, end)]
            for head, end in zip(self._heads[kinds], self._ends[kinds], strict=True)
        ]
        chosen = np.sort(np.concatenate(lists))[:wanted]
        np.add.at(self._heads, self._kinds[chosen], 1)
        return chosen
