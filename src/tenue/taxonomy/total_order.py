"""One fixed total order of all records: cells along the Hilbert curve, complete sort keys.

A cube is halved along every axis. Its 2^D parts are visited in the order of a Gray code, so that
consecutive parts share a face; the corner where the walk starts (`entry`) and the axis it crosses
first (`turn`) follow from the part before. Each part is divided likewise. One level of halving
gives one digit of base 2^D, so

* consecutive cells touch, whatever the number of levels;
* the digits of a coarse cell are the first digits of every fine cell inside it.

How the parts join. Let g(w) = w ^ (w >> 1) be the Gray code, and let part w be left along axis
a(w), the bit in which g(w) and g(w + 1) differ. Part w > 0 is entered at g(2⌊(w − 1)/2⌋): an even
number, so that its last step and the step that leaves the part before it fit together. Its own walk
starts at that corner and ends at the corner across the axis a(w − 1) for even w, a(w) for odd w. So
that axis, and none else, is its last one, and all axes are renumbered by turning their cycle.

Source
    Hilbert 1891; Butz 1971. `tests/unit/taxonomy/test_total_order.py` walks whole curves.

The key of a record is the position of its cell along the Hilbert curve, then its values column by
column. It is a function of the record alone: neither another row nor the order of the rows decides
between two records that differ. Cells divide the declared range of each column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.int64]
Words = NDArray[np.uint64]

MOST_COLUMNS = 16
_FINEST = 16
_WORD = 62
_CHUNK = 1 << 14  # so many rows at once stay in the cache


def index(cells: Cells, bits: int) -> Words:
    """The position of each cell along the curve with `bits` levels, as one number.

    Parameters
        cells: one row for each cell, one column for each of D dimensions, all in [0, 2^bits).
        bits: at least 0; D·bits at most 64.

    Example
        >>> index(np.array([[0, 0], [1, 0], [1, 1], [0, 1]]), bits=1).tolist()
        [0, 1, 2, 3]
    """
    rows, columns = cells.shape
    shift = np.uint64(columns)
    found = np.zeros(rows, np.uint64)
    for begin in range(0, rows, _CHUNK):
        part = found[begin : begin + _CHUNK]
        for digit in _walk(cells[begin : begin + _CHUNK], bits):
            part <<= shift
            part |= digit
    return found


class _Tables(NamedTuple):
    """The effect of a step, by the Gray code of the part it reaches."""

    number: Words
    entry: Words
    turn: Words


@cache
def _tables(columns: int) -> _Tables:
    number = np.arange(1 << columns, dtype=np.int64)
    gray = number ^ (number >> 1)
    position = np.empty_like(number)
    position[gray] = number
    before = 2 * ((number - 1) // 2)
    entry = np.where(number > 0, before ^ (before >> 1), 0)
    # the bit in which g(m) and g(m + 1) differ: the number of ones at the end of m
    leaving = np.where(number % 2 == 0, number - 1, number)
    lowest_zero = ~leaving & (leaving + 1)
    axis = np.where(number > 0, np.log2(np.maximum(lowest_zero, 1)).astype(np.int64), 0)
    turn = (axis + 1) % columns
    parts = (position, entry[position], turn[position])
    return _Tables(*(part.astype(np.uint64) for part in parts))


def _walk(cells: Cells, bits: int) -> Iterator[Words]:
    columns = cells.shape[1]
    tables = _tables(columns)
    lines = [column.astype(np.uint64) for column in cells.T]
    entry, turn = np.zeros(cells.shape[0], np.uint64), np.zeros(cells.shape[0], np.uint64)
    one = np.uint64(1)
    for level in reversed(range(bits)):
        label = entry  # each bit says in which half of the axis the cell lies, seen from the entry
        for column, line in enumerate(lines):
            label = label ^ (((line >> np.uint64(level)) & one) << np.uint64(column))
        right = (np.uint64(columns) - turn) % np.uint64(columns)
        step = _turned_left(label, right, columns)
        yield tables.number[step]
        # the corner where the walk inside the part begins, and the axis it follows first
        entry = entry ^ _turned_left(tables.entry[step], turn, columns)
        turn = turn + tables.turn[step]
        turn -= (turn >= columns) * np.uint64(columns)


def _turned_left(label: Words, turn: Words, columns: int) -> Words:
    ring = np.uint64((1 << columns) - 1)
    return ((label << turn) | (label >> (np.uint64(columns) - turn))) & ring


def bits_for(columns: int) -> int:
    """How many times the range of each column is halved: a public number.

    Bounds on chains rest on cells that are at least as coarse (`sensitivity/chain.py`).
    """
    return min(_FINEST, _WORD // columns)


def cells(positions: Cells, length: int, bits: int) -> Cells:
    """The cell of each position of a line: ⌊position / length · 2^bits⌋; its end is in the last.

    Exact whole numbers for every length below 2^62.

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


def ranked(cells: Cells, bits: int, values: Sequence[NDArray[np.generic]]) -> NDArray[np.intp]:
    """The rows in the order of their keys.

    Parameters
        cells: one row for each record, one column for each dimension of the curve, if any.
        values: the columns that decide inside a cell, the most important first. Rows that agree
            in all of them must be interchangeable.
    """
    first = [index(cells, bits)] if cells.shape[1] else []
    return np.lexsort([*reversed(values), *first])
