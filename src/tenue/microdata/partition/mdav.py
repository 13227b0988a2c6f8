"""MDAV: groups of k similar records, from the outside in."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from ...number import checked_call
from ..kernels import kernels
from . import collapsed, plain
from .individual_ranking import univariate_mdav
from .mixed import Mixed, Records, kinds_of, placed
from .partition import Partition
from .points import enough_rows

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
        distances are rounded: `points`. Categories: `mixed`.
    """
    points, semantic = placed(X, scale)
    k = enough_rows(points, k)
    if semantic:
        space, kinds = Mixed(points, semantic), kinds_of(points, semantic)
        if 2 * (int(kinds.max()) + 1) <= len(points):
            return Partition(collapsed.mdav(space, kinds, k))
        return Partition(plain.mdav(space, k))
    n, columns = points.shape
    if columns == 1:
        return Partition(univariate_mdav(points[:, 0], k))
    if n * n * columns >= COMPILED_FROM * k:
        return Partition(kernels().mdav(points, k))
    return Partition(plain.mdav(plain.Euclidean(points), k))
