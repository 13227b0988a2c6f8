"""A table becomes a publishable table.

mdav, v_mdav, individual_ranking     rows into groups of similar rows
ordered, reference_points            rows into groups by an order of the declared domain
records                              numbers, dates and categories, as these compare them
permuted                             for each row of a group, another one whose value it gets
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
