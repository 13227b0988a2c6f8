"""Confidential values change places inside groups: probabilistic k-anonymity.

A value stays in the table; only whose it is becomes uncertain. Inside a group of |G| units every
assignment of records to units is equally likely, so a value in a unit's row came from that unit's
record with probability 1/|G|, at most 1/k. What the value is may be known all the same: all of a
group may have it, and whoever knows more than quasi-identifiers may weigh the assignments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from ...noise.source import Source
from ..table.cells import Cells
from .permute import permuted

Labels = NDArray[np.int64]
Grouping = Callable[[str, Mapping[str, Cells]], Labels]
"""The groups in which a column's values change places, given the table as it is by then."""


def swap(
    cells: Mapping[str, Cells],
    confidential: tuple[str, ...],
    grouping: Grouping,
    source: Source,
    persons: Labels | None = None,
) -> tuple[dict[str, Cells], dict[str, Labels]]:
    """The table after each confidential column was permuted inside its groups.

    Guarantee
        For each column a fresh permutation, uniform inside every group and independent of those of
        the other columns. Columns that are not confidential stay as they are, and so does the
        multiset of values of each column in each group.

    Parameters
        cells: the columns, by name.
        confidential: which of them are permuted, in this order.
        grouping: gives the groups of a column. It sees the columns permuted before it as they are
            by then, as in the thesis, section 3.3.2.
        source: where uniform words come from.
        persons: whose each row is; values then move between persons, and a person's rows must agree
            in each confidential column. None if each row is a person.

    Source
        Thesis, section 3.3; the permutations are independent by soundness.md, section 6.
    """
    table = dict(cells)
    groups = {}
    for name in confidential:
        labels = grouping(name, table)
        groups[name] = labels
        if persons is None:
            table[name] = table[name].take(permuted(labels, source))
        else:
            table[name] = _between_persons(table[name], labels, persons, source)
    return table, groups


def _between_persons(column: Cells, labels: Labels, persons: Labels, source: Source) -> Cells:
    first = np.unique(persons, return_index=True)[1]  # one row of each person stands for all
    giver = permuted(labels[first], source)
    return column.take(first[giver][persons])
