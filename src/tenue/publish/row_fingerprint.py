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
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..engine.contract import Passes
from ..engine.source.location import Files, locate
from ..schema import Bounded, Category
from .table.cells import Cells, Coding, Numbers
from .table.input_table import Original

WHOLE = "whole:"
"""Begins a mark of a whole source, as the ledger reads it (`ledger/overlap`)."""

MARKED = 64
"""How many rows of a table leave a mark."""
_BITS = 0xFFF
_COUNTING = 4

Words = NDArray[np.uint64]


class NameMarks:
    """The names of persons in a table that is read in passes, of which few are kept.

    Each name is shown once, as they are where every row is a unit.
    """

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}

    def show(self, identifier: str, names: Any) -> None:
        """Some stored values of an identifier."""
        self._seen.setdefault(identifier, _Seen()).add(_words(names))

    def marks(self) -> list[str]:
        """Those of all identifiers, one after the other."""
        return [mark for one in self._seen.values() for mark in _drawn("id", one.hashes())]


class Marking:
    """Looks at the rows of a table as they are read.

    marks: of the rows, once they were shown; none where nobody asks for them.
    """

    def __init__(
        self, source: object, name: str, check: Callable[[tuple[str, ...]], None] | None
    ) -> None:
        self._source, self._table, self._check = source, name, check
        self._names = NameMarks()
        self.name: Callable[[str, Any], None] | None = None if check is None else self._names.show
        self.marks: tuple[str, ...] = ()

    def held(self, read: Original) -> None:
        """Refuses rows of which there is a release, as `check` knows."""
        if self._check is not None:
            self.marks = marks_of(self._source, read, self._table)
            self._check(self.marks)

    def rows(self, passes: Passes, coding: Coding) -> None:
        """The same of rows that are read in passes."""
        if self._check is not None:
            self.marks = marks_in_passes(self._source, passes, coding, self._names, self._table)
            self._check(self.marks)


def marks_in_passes(
    source: object, passes: Passes, coding: Coding, names: NameMarks, name: str = "table"
) -> tuple[str, ...]:
    """What `marks_of` gives of the same table.

    Parameters
        passes: its rows, as the coding has them, none of them changed or left out.
        names: the names of persons that were read with them.
    """

    def hashed(without: str | None = None) -> _Sorted:
        found = _Sorted()
        for (words,) in passes.sort(lambda rows: [_sortable(_row_words(coding, rows, without))]):
            found.add(_unsortable(words))
        return found

    rows = hashed()
    marks = [rows.whole(), *_of_files(source, name)]
    columns = coding.names if len(coding.names) > 1 else ()
    marks += [fewer.whole() for fewer in map(hashed, columns) if fewer.tell_apart]
    marks += rows.drawn() + names.marks()
    return tuple(dict.fromkeys(marks))


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
    rows = _Sorted().add(np.sort(_mixed(total)))
    marks = [rows.whole(), *_of_files(source, name)]
    for column in columns if len(columns) > 1 else ():
        fewer = _Sorted().add(np.sort(_mixed(total - column)))
        if fewer.tell_apart:
            marks.append(fewer.whole())
    marks += rows.drawn()
    for names in original.names:
        marks += _drawn("id", _Seen().add(_words(_unique(names))).hashes())
    return tuple(dict.fromkeys(marks))


class _Sorted:
    """Words in their order, of which few are kept."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256(b"rows")
        self._count = self._distinct = 0
        self._last = np.zeros(0, np.uint64)
        self._first = np.zeros(0, np.uint64)

    def add(self, words: Words) -> Self:
        """The words that come next."""
        self._digest.update(words.tobytes())
        self._count += words.size
        beside = np.concatenate([self._last, words])
        self._distinct += int(np.count_nonzero(beside[1:] != beside[:-1]))
        self._distinct += not self._last.size and words.size > 0
        self._last = beside[-1:]
        if self._first.size < MARKED:
            self._first = np.unique(np.concatenate([self._first, words]))[:MARKED]
        return self

    def whole(self) -> str:
        """The mark of all of them."""
        return WHOLE + self._digest.hexdigest()

    @property
    def tell_apart(self) -> bool:
        """Whether at most half of them have a double."""
        return 2 * self._distinct >= self._count

    def drawn(self) -> list[str]:
        """The marks of a few rows, if rows identify anything."""
        return _drawn("row", self._first) if self.tell_apart else []


class _Seen:
    """Names of persons, of which few are kept."""

    def __init__(self) -> None:
        self._count, self._digits = 0, True
        self._ends: list[int] = []
        self._least = np.zeros(0, np.uint64)

    def add(self, words: Any) -> Self:
        """Some more names, as texts."""
        import pyarrow
        import pyarrow.compute as pc

        if len(words) == 0:
            return self
        self._count += len(words)
        self._digits &= pc.all(pc.match_substring_regex(words, "^[0-9]{1,15}$")).as_py()
        if self._digits:
            ends = pc.min_max(pc.cast(words, pyarrow.int64())).as_py()
            all_ends = [*self._ends, ends["min"], ends["max"]]
            self._ends = [min(all_ends), max(all_ends)]
        texts = pc.cast(words, pyarrow.large_binary()).to_pylist()
        fresh = _mixed(np.array([zlib.crc32(text) for text in texts], np.uint64))
        self._least = np.unique(np.concatenate([self._least, fresh]))[:MARKED]
        return self

    def hashes(self) -> Words:
        """The least of their numbers; none where names are numbers that count the rows."""
        if self._digits and self._ends and self._ends[1] - self._ends[0] < _COUNTING * self._count:
            return np.zeros(0, np.uint64)
        return self._least


def _of_files(source: object, name: str) -> list[str]:
    """The mark of a file's bytes, if it is one."""
    found = locate(source, name)
    if not isinstance(found, Files):
        return []
    whole = hashlib.sha256(b"files")
    for path in found.paths:
        with path.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return [WHOLE + whole.hexdigest()]


def _row_words(coding: Coding, rows: Numbers, without: str | None) -> Words:
    """A word for each row, of all columns but one."""
    total = np.zeros(len(rows), np.uint64)
    for name, column in coding.cells(rows).items():
        if name != without:
            total += _mixed(_values(column))
    return _mixed(total)


def _sortable(words: Words) -> Numbers:
    """As signed numbers in the same order."""
    return (words ^ np.uint64(1 << 63)).view(np.int64)


def _unsortable(numbers: Numbers) -> Words:
    return numbers.view(np.uint64) ^ np.uint64(1 << 63)


def _drawn(kind: str, hashes: Words) -> list[str]:
    drawn = np.unique(np.unique(hashes)[:MARKED] & np.uint64(_BITS))
    return [f"{kind}:{mark:03x}" for mark in drawn.tolist()]


def _unique(names: Any) -> Any:
    import pyarrow
    import pyarrow.compute as pc

    return pc.unique(pc.cast(names, pyarrow.large_string()))


def _words(names: Any) -> Any:
    """Names as they are compared, without those that are missing."""
    import pyarrow
    import pyarrow.compute as pc

    words = pc.drop_null(pc.cast(names, pyarrow.large_string()))
    return pc.utf8_lower(pc.utf8_trim_whitespace(words))


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
