"""What a partition is: every row in one group, every group numbered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import refuse

if TYPE_CHECKING:
    from ...report.picture import Picture


@dataclass(frozen=True, eq=False)
class Partition:
    """Rows in groups: each row in exactly one, no group empty.

    It promises nothing about the table that is published from it.

    Parameters
        labels: one whole number for each row, its group; the groups are 0, 1, 2, ... and none of
            them is empty.

    Example
        >>> partition = Partition([0, 1, 0, 1, 1])
        >>> partition.sizes.tolist()
        [2, 3]
        >>> [group.tolist() for group in partition.groups()]
        [[0, 2], [1, 3, 4]]
    """

    labels: NDArray[np.int64]
    sizes: NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        given = np.asarray(self.labels)
        if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iu":
            wrong = "is not a list of whole numbers, one for each row"
            raise refuse("publish.invalid-group-labels", wrong=wrong)
        labels = given.astype(np.int64)
        if labels.min() < 0 or labels.max() >= labels.size:
            raise refuse(
                "publish.invalid-group-labels", wrong="has a number that no group can have"
            )
        sizes = np.bincount(labels)
        if sizes.min() == 0:
            raise refuse(
                "publish.invalid-group-labels", wrong="leaves out a number below its largest one"
            )
        labels.flags.writeable = False
        sizes.flags.writeable = False
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "sizes", sizes)

    def groups(self) -> list[NDArray[np.intp]]:
        """The rows of each group, ascending, in the order of the labels."""
        rows = np.argsort(self.labels, kind="stable")
        return np.split(rows, np.cumsum(self.sizes)[:-1])

    def picture(self) -> Picture:
        """The picture of `tn.report.plot`: how many groups have how many rows."""
        from ...report.figure import group_sizes

        size, times = np.unique(self.sizes, return_counts=True)
        counted = dict(zip(size.tolist(), times.tolist(), strict=True))
        title = f"{self.labels.size:,} rows in {len(self):,} groups"
        return group_sizes(counted, None, title)

    def __len__(self) -> int:
        """How many groups there are."""
        return self.sizes.size

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Partition):
            return NotImplemented
        return np.array_equal(self.labels, other.labels)

    def __hash__(self) -> int:
        return hash(self.labels.tobytes())
