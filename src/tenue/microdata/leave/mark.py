"""Marks by which a ledger knows a table again that comes under another name.

They are kept in the holder's ledger and never in a certificate. Digests stand for the whole: of the
files' bytes, of all rows in any order, and of all rows without one column. A few rows and a few
names of persons, drawn by their hashes, leave twelve bits each: so few that one in sixty-four of
all conceivable ones has a mark of the table, and yet two tables that share most of them share most
of their marks.

What is found again: the same file; the same rows in any order, file, schema or names of columns,
also with some rows more or less; exactly the same rows with one column more, less or
changed; mostly the same persons, if an identifier names them. What is not, where no identifier is
declared: rows that differ in several columns, or in rows and columns at once; and a small part of a
table, or a table that is a small part of another.
Marks catch a mistake. They do not stop a holder who means to publish twice.
"""

from __future__ import annotations

import hashlib
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.source.location import Files, locate
from ...schema import Bounded, Category
from ..table.cells import Cells
from ..table.original import Original

WHOLE = "whole:"
"""Begins a mark of a whole source, as the ledger reads it (`ledger/overlap`)."""

MARKED = 64
"""How many rows of a table leave a mark."""
_BITS = 0xFFF
_COUNTING = 4

Words = NDArray[np.uint64]


def marks_of(source: object, original: Original, name: str = "table") -> tuple[str, ...]:
    """The marks of a table, as the head of this file says.

    Where more than half of the rows have a double, single rows identify nothing and leave no mark.
    Neither do identifiers that merely count the rows.

    Parameters
        source: what was read; a file is known by its bytes too.
        name: what the table is called in the source, if that is a connection.
    """
    columns = [_mixed(_values(column)) for column in original.cells.values()]
    total = np.zeros(original.size, np.uint64)
    for column in columns:
        total += column
    rows = np.sort(_mixed(total))
    marks = [_whole(rows)]
    found = locate(source, name)
    if isinstance(found, Files):
        whole = hashlib.sha256(b"files")
        for path in found.paths:
            with path.open("rb") as file:
                whole.update(hashlib.file_digest(file, "sha256").digest())
        marks.append(WHOLE + whole.hexdigest())
    for column in columns if len(columns) > 1 else ():
        fewer = np.sort(_mixed(total - column))
        if _tell_apart(fewer):
            marks.append(_whole(fewer))
    if _tell_apart(rows):
        marks += _drawn("row", rows)
    for names in original.names:
        marks += _drawn("id", _persons(names))
    return tuple(dict.fromkeys(marks))


def _whole(ordered: Words) -> str:
    return WHOLE + hashlib.sha256(b"rows" + ordered.tobytes()).hexdigest()


def _tell_apart(ordered: Words) -> bool:
    return bool(2 * (1 + np.count_nonzero(ordered[1:] != ordered[:-1])) >= ordered.size)


def _drawn(kind: str, hashes: Words) -> list[str]:
    drawn = np.unique(np.unique(hashes)[:MARKED] & np.uint64(_BITS))
    return [f"{kind}:{mark:03x}" for mark in drawn.tolist()]


def _persons(names: Any) -> Words:
    """A number for each name; none where names are numbers that count the rows."""
    import pyarrow
    import pyarrow.compute as pc

    words = pc.drop_null(pc.unique(pc.cast(names, pyarrow.large_string())))
    words = pc.utf8_lower(pc.utf8_trim_whitespace(words))
    digits = pc.match_substring_regex(words, "^[0-9]{1,15}$")
    if len(words) == 0:
        return np.zeros(0, np.uint64)
    if pc.all(digits).as_py():
        ends = pc.min_max(pc.cast(words, pyarrow.int64())).as_py()
        if ends["max"] - ends["min"] < _COUNTING * len(words):
            return np.zeros(0, np.uint64)
    texts = pc.cast(words, pyarrow.large_binary()).to_pylist()
    return _mixed(np.array([zlib.crc32(text) for text in texts], np.uint64))


def _values(column: Cells) -> Words:
    """A number for each value: the same for the same number in any type and on any grid."""
    if isinstance(column.column, Category):
        known: Words = np.array([_label(label) for label in column.labels], np.uint64)
        found = known[np.where(column.present, column.numbers, 0)]
    else:
        values: NDArray[Any] = column.numbers.astype(np.float64)
        if isinstance(column.column, Bounded):
            # the value itself, so that a finer grid does not make it another
            steps = column.numbers - column.first
            values = float(column.column.low) + steps * float(column.column.grid)
        found = (np.round(values, 9) + 0.0).view(np.uint64)
    return np.where(column.present, found, _word("missing"))


def _label(label: str) -> np.uint64:
    """Of a category that is a number, the number's own."""
    try:
        value = np.float64(round(float(label), 9) + 0.0)
    except ValueError:
        return _word(f"label {label}")
    return np.uint64(value.view(np.uint64))


def _word(text: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little"))


def _mixed(words: Words) -> Words:
    """A bijection of 64-bit words that spreads every bit over all of them (splitmix64)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
