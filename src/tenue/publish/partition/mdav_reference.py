"""MDAV in its plain form: the definition that every faster version must meet, record by record.

It needs no compiler and no tree; each step looks at every live record. The steps need only
distances and centres of the records, so any `Space` is accepted.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .exact_means import Points, Sums, centroid, cut

Rows = NDArray[np.intp]
Distances = NDArray[np.float64]


class Space(Protocol):
    """The distances and centres of records, which are all that a partition needs.

    Distances may be any increasing function of the real ones; they are compared, never added.
    """

    size: int

    def tally(self, rows: Rows) -> Sums:
        """Whole numbers that add up over records, and from which their centre follows."""
        ...

    def centre(self, tally: Sums, count: int) -> Points:
        """The centre of `count` records with this tally."""
        ...

    def record(self, row: int) -> Points:
        """The point of one record."""
        ...

    def distances(self, rows: Rows, point: Points) -> Distances:
        """The distance of each of these records from a point."""
        ...

    def centres(self, labels: NDArray[np.int64]) -> Space:
        """The centres of groups, as records of a space of their own; -1 means no group."""
        ...


class Euclidean:
    """Numbers with squared Euclidean distances, added column after column, and exact sums."""

    def __init__(self, points: Points) -> None:
        self.size = points.shape[0]
        self.points = points
        self._columns = np.ascontiguousarray(points.T)
        self._parts = cut(points)

    def tally(self, rows: Rows) -> Sums:
        sums: Sums = self._parts[:, rows].sum(axis=1)
        return sums

    def centre(self, tally: Sums, count: int) -> Points:
        return centroid(tally, count)

    def record(self, row: int) -> Points:
        point: Points = self.points[row]
        return point

    def distances(self, rows: Rows, point: Points) -> Distances:
        total = np.zeros(rows.size)
        for column, coordinate in zip(self._columns, point, strict=True):
            difference = column[rows]
            difference -= coordinate
            difference *= difference
            total += difference
        return total

    def centres(self, labels: NDArray[np.int64]) -> Euclidean:
        order = np.argsort(labels, kind="stable")[np.count_nonzero(labels < 0) :]
        sizes = np.bincount(labels[order])
        sums = np.add.reduceat(self._parts[:, order], np.cumsum(sizes) - sizes, axis=1)
        return Euclidean(centroid(sums, sizes[:, np.newaxis]))


def mdav(space: Space, k: int) -> NDArray[np.int64]:
    """The group of each record, numbered in the order in which the groups are formed.

    Source
        Thesis, Algorithm 2.1; ties go to the first row, also for the second seed.
    """
    labels = np.full(space.size, -1, np.int64)
    live: Rows = np.arange(space.size)
    tally = space.tally(live)
    group = 0

    def leave(members: Rows) -> None:
        nonlocal live, tally, group
        labels[members] = group
        live = without(live, members)
        tally = tally - space.tally(members)
        group += 1

    while live.size >= 3 * k:
        first = farthest(live, space.distances(live, space.centre(tally, live.size)))
        from_first = space.distances(live, space.record(first))
        second = farthest(live, from_first)
        leave(nearest(live, from_first, first, k))
        if labels[second] >= 0:
            second = farthest(live, space.distances(live, space.record(first)))
        leave(nearest(live, space.distances(live, space.record(second)), second, k))
    if live.size >= 2 * k:
        first = farthest(live, space.distances(live, space.centre(tally, live.size)))
        leave(nearest(live, space.distances(live, space.record(first)), first, k))
    labels[live] = group
    return labels


def farthest(live: Rows, distances: Distances) -> int:
    """The live record at the greatest distance, the first in row order among equals."""
    return int(live[np.argmax(distances)])


def nearest(live: Rows, distances: Distances, seed: int, k: int) -> Rows:
    """The seed and the k - 1 other live records nearest to it, by (distance, row)."""
    distances[np.searchsorted(live, seed)] = -1.0
    last = np.partition(distances, k - 1)[k - 1]
    closer = live[distances < last]
    return np.concatenate([closer, live[distances == last][: k - closer.size]])


def without(live: Rows, members: Rows) -> Rows:
    """The live records, in row order, that are not among `members`."""
    stay = np.ones(live.size, dtype=bool)
    stay[np.searchsorted(live, members)] = False
    return live[stay]
