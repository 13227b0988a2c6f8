"""Complete sort keys: one total order of all records, in which only identical ones are equal.

The key of a record is the place of its cell along the Hilbert curve, then its values column by
column. It is a function of the record alone: neither another row nor the order of the rows decides
between two records that differ. Cells are cut from the declared line of each column.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .hilbert import index

Numbers = NDArray[np.int64]

_FINEST = 16
_WORD = 62


def bits_for(columns: int) -> int:
    """How many times the line of each column is halved: a public number.

    Bounds on chains rest on cells that are at least as coarse (`sensitivity/chain.py`).
    """
    return min(_FINEST, _WORD // columns)


def cells(positions: Numbers, length: int, bits: int) -> Numbers:
    """The cell of each position of a line: ⌊position / length · 2^bits⌋, its end in the last one.

    Exact whole numbers, whatever the length, which is below 2^62.

    Example
        >>> cells(np.array([0, 3, 4, 8]), length=8, bits=1).tolist()
        [0, 0, 1, 1]
    """
    found = np.zeros_like(positions)
    if length == 0:
        return found
    rest = positions
    step = _WORD + 1 - length.bit_length()  # so that what is left still fits when shifted
    done = 0
    while done < bits:
        now = min(step, bits - done)
        shifted = rest << now
        part = shifted // length
        rest = shifted - part * length
        found = (found << now) + part
        done += now
    return np.minimum(found, (1 << bits) - 1)


def ranked(cells: Numbers, bits: int, values: Sequence[NDArray[np.generic]]) -> NDArray[np.intp]:
    """The rows in the order of their keys.

    Parameters
        cells: one row for each record, one column for each dimension of the curve; none is allowed.
        values: the columns that decide inside a cell, the first one first. Rows that agree in all
            of them must be interchangeable.
    """
    first = [index(cells, bits)] if cells.shape[1] else []
    return np.lexsort([*reversed(values), *first])
