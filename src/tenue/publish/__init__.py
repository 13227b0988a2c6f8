"""Publishing: from a table to a release.

mdav, v_mdav, individual_ranking     partition rows into groups of similar rows
ordered, reference_points            partition rows by an order of the declared domain
records                              numbers, dates and categories, as these compare them
permuted                             a random permutation within groups
Release                              a protected copy of a table, made by `tn.publish`
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazily
from .partition import (
    Partition,
    Records,
    individual_ranking,
    mdav,
    ordered,
    reference_points,
    v_mdav,
)

if TYPE_CHECKING:
    from .assessment import Step
    from .permute import permuted
    from .release import Release
    from .table.records import records

__all__ = [
    "Partition",
    "Records",
    "Release",
    "Step",
    "individual_ranking",
    "mdav",
    "ordered",
    "permuted",
    "records",
    "reference_points",
    "v_mdav",
]

lazily(
    __name__,  # a partition of numbers needs neither engine nor ledger
    {
        ".assessment": "Step",
        ".permute": "permuted",
        ".release": "Release",
        ".table.records": "records",
    },
)
