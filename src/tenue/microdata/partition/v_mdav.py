"""V-MDAV: groups that grow from k to 2k - 1 records where the next record clearly belongs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import refuse
from ...number import Number, checked_call, exact
from ..kernels import kernels
from .mdav import COMPILED_FROM
from .mixed import Mixed, Records, placed
from .partition import Partition
from .plain import Euclidean, Rows, Space, farthest, nearest, without
from .points import enough_rows

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
    of exactly k free records. The last group can then always take in whoever is left.

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
        raise refuse("microdata.gamma-out-of-range", gamma=gamma, largest_gain=LARGEST_GAIN)
    # Distances are squared throughout.
    squared_gain = float(gain * gain)
    n, columns = points.shape
    space: Space = Mixed(points, semantic) if semantic else Euclidean(points)
    large = n * n * columns >= COMPILED_FROM
    if large and not semantic:
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
    """Gives each record labelled -1 the nearest group that has room; there always is one."""
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
