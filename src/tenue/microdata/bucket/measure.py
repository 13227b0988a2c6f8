"""How far groups are from the table on buckets: the same measure that `check` states as ratio."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...evaluate.code import Codes
from ...evaluate.group.closeness import ratio
from ...evaluate.group.count import Counts, Groups, counted

Numbers = NDArray[np.int64]


def ratio_of(groups: Numbers, buckets: Numbers) -> Fraction | None:
    """The largest quotient of a bucket's shares in a group and in the table; None if infinite.

    Parameters
        groups, buckets: of each unit, both numbered from 0 without gaps.

    Example
        >>> ratio_of(np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 0, 1, 1]))
        Fraction(3, 2)
    """
    values = Codes(buckets, int(buckets.max()) + 1)
    return ratio(counted(Groups(groups, int(groups.max()) + 1), values))


def ratio_of_counts(counts: Numbers) -> Fraction | None:
    """The same of counts: a row for each group, a column for each bucket."""
    group, value = np.nonzero(counts)
    return ratio(Counts(group, value, counts[group, value], counts.sum(axis=1), counts.sum(axis=0)))
