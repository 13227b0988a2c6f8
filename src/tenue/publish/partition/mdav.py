"""MDAV and V-MDAV: groups of similar records, from the outside in.

Distances depend on the record alone, and equal records leave in row order: the rule on ties never
takes a later one first. So the live rows of a record are the rest of a list, and a search looks at
different records only (`mdav_of_duplicates`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import Number, checked_call, exact
from ...errors import refuse
from ..numba_kernels import kernels
from . import mdav_reference
from .exact_means import enough_rows
from .individual_ranking import univariate_mdav
from .mdav_reference import Euclidean, Rows, Space, farthest, nearest, without
from .mixed_records import Mixed, Numbers, Records, kinds_of, placed
from .partition import Partition


def mdav_of_duplicates(space: Space, kinds: Numbers, k: int) -> Numbers:
    """The groups of `mdav_reference.mdav` for these records.

    kinds: the record of each row, numbered from 0 without gaps; rows of one kind have equal values.
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
        """The distance of each live kind from a point."""
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
            # each kind has at least one row, except for the seed's own
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


# n² × columns / k: above this the plain algorithm takes longer than loading the compiled one.
COMPILED_FROM = 250_000_000


@checked_call
def mdav(X: ArrayLike | Records, k: int, scale: Sequence[object] | None = None) -> Partition:
    """Groups of exactly `k` records that are close to each other; the last has up to 2k - 1.

    Guarantee
        Deterministic: the same table gives the same groups, on every machine, whether compiled or
        not. The groups are numbered as they are formed. Replacing each record by the
        mean of its group gives k-anonymity on these columns, if a row is a person.

    The record farthest from the mean and the record farthest from that one are the seeds; each
    takes its k - 1 nearest, and so on with the rest. Equal distances are decided by row order,
    which must therefore mean nothing: shuffle the rows of a sorted file.

    Parameters
        X: a matrix of finite numbers, one row for each record; or `records` of any columns.
        k: the least size of a group, at least 1 and at most the number of rows.
        scale: a divisor above 0 for each column, to make columns comparable; None means raw values.
            `records` have theirs from the schema.

    Example
        >>> mdav([[0, 0], [9, 9], [1, 0], [9, 8], [0, 1], [8, 9]], k=3).labels.tolist()
        [0, 1, 0, 1, 0, 1]

    Source
        Thesis, Algorithm 2.1; ties go to the first row, also for the second seed. How means and
        distances are rounded: `exact_means`. Categories: `mixed_records`.
    """
    points, semantic = placed(X, scale)
    k = enough_rows(points, k)
    if semantic:
        space, kinds = Mixed(points, semantic), kinds_of(points, semantic)
        if 2 * (int(kinds.max()) + 1) <= len(points):
            return Partition(mdav_of_duplicates(space, kinds, k))
        return Partition(mdav_reference.mdav(space, k))
    n, columns = points.shape
    if columns == 1:
        return Partition(univariate_mdav(points[:, 0], k))
    if n * n * columns >= COMPILED_FROM * k:
        return Partition(kernels().mdav(points, k))
    return Partition(mdav_reference.mdav(Euclidean(points), k))


GAIN = Fraction(1, 5)
"""The gain factor for scattered records."""
LARGEST_GAIN = 1_000_000


@checked_call
def v_mdav(
    X: ArrayLike | Records, k: int, gamma: Number = GAIN, scale: Sequence[object] | None = None
) -> Partition:
    """Groups of `k` to 2k - 1 records; a group grows while growing gains more than it costs.

    Guarantee
        Deterministic, with or without numba; equal distances are decided by row order. The groups
        are numbered as they are formed.

    The seed is the free record farthest from the mean of the whole table; it takes its k - 1
    nearest free records. Then, as long as the group has fewer than 2k - 1 records, look at the
    free record nearest to any member: it joins if its distance to the group is below `gamma` times
    its distance to the nearest other free record; otherwise the group is closed. When fewer than k
    records are free, each of them, in row order, joins the group with the nearest mean that has
    fewer than 2k - 1 records; means are those before anybody joined in this way.

    One rule is added to the published algorithm, which can exceed 2k - 1: a group does not take one
    of exactly k free records. The last group can then always take in the remaining records.

    Parameters
        X: a matrix of finite numbers, one row for each record; or `records` of any columns.
        k: the least size of a group, at least 1 and at most the number of rows.
        gamma: the gain factor, above 0: about 0.2 for scattered records, about 1.1 for records in
            natural clusters.
        scale: a divisor above 0 for each column, to make columns comparable; None means raw values.

    Example
        >>> v_mdav([[0], [1], [2], [3], [20], [21], [22], [40], [41], [42]], 3, 1.1).sizes.tolist()
        [3, 4, 3]

    Source
        Solanas and Martínez-Ballesté 2006; thesis, section 3.3.1.
    """
    points, semantic = placed(X, scale)
    k = enough_rows(points, k)
    gain = exact(gamma, "gamma")
    if not 0 < gain <= LARGEST_GAIN:
        raise refuse("publish.gamma-out-of-range", gamma=gamma, largest_gain=LARGEST_GAIN)
    # Distances are squared throughout.
    squared_gain = float(gain * gain)
    n, columns = points.shape
    space: Space = Mixed(points, semantic) if semantic else Euclidean(points)
    if n * n * columns >= COMPILED_FROM and not semantic:
        everybody = np.arange(n)
        seeds = np.argsort(-_from_centre(space, everybody), kind="stable")
        labels = kernels().v_mdav(points, seeds, k, squared_gain)
    else:
        labels = grow(space, k, squared_gain)
    settle(space, labels, k)
    return Partition(labels)


def grow(space: Space, k: int, squared_gain: float) -> NDArray[np.int64]:
    """The groups before the last free records, labelled -1, are settled."""
    labels = np.full(space.size, -1, np.int64)
    free: Rows = np.arange(space.size)
    from_centre = _from_centre(space, free)
    group = 0
    while free.size >= k:
        seed = farthest(free, from_centre[free])
        members = nearest(free, space.distances(free, space.record(seed)), seed, k)
        labels[members] = group
        free = without(free, members)
        from_group = np.full(free.size, np.inf)
        for member in members:
            np.minimum(from_group, space.distances(free, space.record(member)), out=from_group)
        size = k
        while size < 2 * k - 1 and free.size not in (0, k):
            place = int(np.argmin(from_group))
            candidate = free[place : place + 1]
            others = without(free, candidate)
            outside = space.distances(others, space.record(int(candidate[0])))
            if not from_group[place] < squared_gain * float(outside.min(initial=np.inf)):
                break
            labels[candidate] = group
            free = others
            from_group = np.minimum(np.delete(from_group, place), outside)
            size += 1
        group += 1
    return labels


def settle(space: Space, labels: NDArray[np.int64], k: int) -> None:
    """Gives each record labelled -1 the nearest group with room; there always is one."""
    free = np.flatnonzero(labels < 0)
    if free.size == 0:
        return
    sizes = np.bincount(labels[labels >= 0])
    centres = space.centres(labels)
    groups: Rows = np.arange(sizes.size)
    for row in free:
        distances = centres.distances(groups, space.record(int(row)))
        distances[sizes == 2 * k - 1] = np.inf
        labels[row] = np.argmin(distances)
        sizes[labels[row]] += 1


def _from_centre(space: Space, everybody: Rows) -> NDArray[np.float64]:
    return space.distances(everybody, space.centre(space.tally(everybody), space.size))
