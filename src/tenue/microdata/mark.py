"""Marks by which a ledger knows a table again that comes under another name.

They are kept in the holder's ledger and never in a certificate. Two digests stand for the whole:
that of the files' bytes, and that of all rows in any order. A few rows, drawn by their hashes,
leave twelve bits each: so few that one in sixty-four of all conceivable rows has a mark of the
table, and yet two tables that share most of their rows share most of their marks.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engine.source import Files, locate
from ..schema import Bounded, Category
from .cells import Cells
from .original import Original

__all__ = ["MARKED", "WHOLE", "marks_of"]

WHOLE = "whole:"
"""Begins a mark of a whole source, as the ledger reads it (`ledger/overlap`)."""

MARKED = 64
"""How many rows of a table leave a mark."""
_BITS = 0xFFF

Words = NDArray[np.uint64]


def marks_of(source: object, original: Original, name: str = "table") -> tuple[str, ...]:
    """The marks of a table: equal for equal rows, whatever file, order, name or schema they have.

    Rows are compared by the declared columns without identifiers. Where more than half of the rows
    have a double, single rows identify nothing and leave no mark.

    Parameters
        source: what was read; a file is known by its bytes too.
        name: what the table is called in the source, if that is a connection.
    """
    hashes = np.sort(_hashes(original))
    marks = [WHOLE + hashlib.sha256(b"rows" + hashes.tobytes()).hexdigest()]
    found = locate(source, name)
    if isinstance(found, Files):
        whole = hashlib.sha256(b"files")
        for path in found.paths:
            with path.open("rb") as file:
                whole.update(hashlib.file_digest(file, "sha256").digest())
        marks.append(WHOLE + whole.hexdigest())
    different = np.unique(hashes)
    if 2 * different.size > hashes.size:
        drawn = np.unique(different[:MARKED] & np.uint64(_BITS))
        marks += [f"row:{mark:03x}" for mark in drawn.tolist()]
    return tuple(marks)


def _hashes(original: Original) -> Words:
    """One number for each row, from the values of its columns in any order."""
    total = np.zeros(original.size, np.uint64)
    for column in original.cells.values():
        values = np.where(column.present, _values(column), _word("missing"))
        total += _mixed(values ^ _word(f"column {column.name.lower()}"))
    return _mixed(total)


def _values(column: Cells) -> Words:
    if isinstance(column.column, Category):
        known: Words = np.array([_word(f"label {label}") for label in column.labels], np.uint64)
        return known[np.where(column.present, column.numbers, 0)]
    values: NDArray[Any] = column.numbers.astype(np.float64)
    if isinstance(column.column, Bounded):
        # the value itself, so that a finer grid does not make it another
        steps = column.numbers - column.first
        values = float(column.column.low) + steps * float(column.column.grid)
    return (np.round(values, 9) + 0.0).view(np.uint64)


def _word(text: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little"))


def _mixed(words: Words) -> Words:
    """A bijection of 64-bit words that spreads every bit over all of them (splitmix64)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
