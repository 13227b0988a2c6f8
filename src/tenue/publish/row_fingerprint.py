"""Row fingerprints, by which a ledger recognises a table under another name.

They are kept in the holder's ledger and never in a certificate. Digests represent the whole table:
the files' bytes, all rows in any order, and all rows without one column. A few rows and a few names
of persons, selected by their hashes, leave twelve bits each: so few that one in sixty-four of all
possible rows has a fingerprint of the table, while two tables that share most rows share most
fingerprints.

Recognised: the same file; the same rows in any order, file, schema or names of columns, also with
some rows more or less; exactly the same rows with one column more, less or changed; mostly the same
persons, if an identifier names them. Not recognised, where no identifier is declared: rows that
differ in several columns, or in rows and columns at once; and a small part of a table, or a table
that is a small part of another.
Fingerprints catch mistakes. They do not stop a holder who means to publish twice.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..engine.contract import Passes
from ..engine.source.location import Files, locate
from ..schema import Bounded, Category
from .table.cells import Cells, Coding, Numbers
from .table.input_table import Original

WHOLE = "whole:"
"""The prefix of a fingerprint of the whole table, which the ledger recognises."""

MARKED = 64
"""How many rows of a table have a fingerprint."""
_BITS = 0xFFF
_COUNTING = 4

Words = NDArray[np.uint64]


class Marking:
    """Computes fingerprints of the rows of a table as they are read, if there is a `check`.

    marks: the fingerprints, once the rows were shown.
    """

    def __init__(
        self, source: object, name: str, check: Callable[[tuple[str, ...]], None] | None
    ) -> None:
        self._source, self._table, self._check = source, name, check
        self._names: dict[str, _Seen] = {}
        self.name = None if check is None else self._show
        self.marks: tuple[str, ...] = ()

    def _show(self, identifier: str, names: Any) -> None:
        """Some stored values of an identifier; each once, because every row is a unit."""
        self._names.setdefault(identifier, _Seen()).add(_words(names))

    def held(self, read: Original) -> None:
        """Refuses rows that were released before, as `check` decides."""
        if self._check is not None:
            self.marks = marks_of(self._source, read, self._table)
            self._check(self.marks)

    def rows(self, passes: Passes, coding: Coding) -> None:
        """The same for rows that are read in passes."""
        if self._check is not None:
            people = [m for one in self._names.values() for m in _drawn("id", one.hashes())]
            self.marks = _marks_in_passes(self._source, passes, coding, people, self._table)
            self._check(self.marks)


def _marks_in_passes(
    source: object, passes: Passes, coding: Coding, people: list[str], name: str
) -> tuple[str, ...]:
    """As `marks_of`, for the same table in passes, whose rows are unchanged.

    Parameters
        people: the fingerprints of the names of persons.
    """
    sign = np.uint64(1 << 63)  # signed numbers in the order of words

    def hashed(without: str | None = None) -> _Sorted:
        def words(rows: Numbers) -> list[Numbers]:
            return [(_row_words(coding, rows, without) ^ sign).view(np.int64)]

        found = _Sorted()
        for (numbers,) in passes.sort(words):
            found.add(numbers.view(np.uint64) ^ sign)
        return found

    columns = coding.names if len(coding.names) > 1 else ()
    return _all_marks(hashed(), map(hashed, columns), _of_files(source, name), people)


def _all_marks(
    rows: _Sorted, without_one: Iterable[_Sorted], files: list[str], people: list[str]
) -> tuple[str, ...]:
    fewer = [words.whole() for words in without_one if words.tell_apart]
    return tuple(dict.fromkeys([rows.whole(), *files, *fewer, *rows.drawn(), *people]))


def marks_of(source: object, original: Original, name: str = "table") -> tuple[str, ...]:
    """The fingerprints of a table.

    Where more than half of the rows are duplicates, single rows identify nothing and have none.
    Neither have identifiers that merely count the rows.

    Parameters
        source: what was read; a file is also recognised by its bytes.
        name: the name of the table in the source, if that is a connection.
    """
    columns = [_mixed(_values(column)) for column in original.cells.values()]
    total = np.zeros(original.size, np.uint64)
    for column in columns:
        total += column
    rows = _Sorted().add(np.sort(_mixed(total)))
    reduced = columns if len(columns) > 1 else ()
    without_one = (_Sorted().add(np.sort(_mixed(total - column))) for column in reduced)
    people = [
        mark
        for names in original.names
        for mark in _drawn("id", _Seen().add(_words(names, unique=True)).hashes())
    ]
    return _all_marks(rows, without_one, _of_files(source, name), people)


class _Sorted:
    """Words in ascending order, of which few are kept."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256(b"rows")
        self._count = self._distinct = 0
        self._last = np.zeros(0, np.uint64)
        self._first = np.zeros(0, np.uint64)

    def add(self, words: Words) -> Self:
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
        return WHOLE + self._digest.hexdigest()

    @property
    def tell_apart(self) -> bool:
        """Whether at most half of the words are duplicates."""
        return 2 * self._distinct >= self._count

    def drawn(self) -> list[str]:
        """The fingerprints of a few rows, if rows identify anything."""
        return _drawn("row", self._first) if self.tell_apart else []


class _Seen:
    """Names of persons, of which few hashes are kept."""

    def __init__(self) -> None:
        self._count, self._digits = 0, True
        self._ends: list[int] = []
        self._least = np.zeros(0, np.uint64)

    def add(self, words: Any) -> Self:
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
        """The least hashes; none if names are numbers that count the rows."""
        if self._digits and self._ends and self._ends[1] - self._ends[0] < _COUNTING * self._count:
            return np.zeros(0, np.uint64)
        return self._least


def _of_files(source: object, name: str) -> list[str]:
    """The fingerprint of the bytes, if the source is files."""
    found = locate(source, name)
    if not isinstance(found, Files):
        return []
    whole = hashlib.sha256(b"files")
    for path in found.paths:
        with path.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return [WHOLE + whole.hexdigest()]


def _row_words(coding: Coding, rows: Numbers, without: str | None) -> Words:
    """A hash of each row, of all columns but one."""
    total = np.zeros(len(rows), np.uint64)
    for name, column in coding.cells(rows).items():
        if name != without:
            total += _mixed(_values(column))
    return _mixed(total)


def _drawn(kind: str, hashes: Words) -> list[str]:
    drawn = np.unique(np.unique(hashes)[:MARKED] & np.uint64(_BITS))
    return [f"{kind}:{mark:03x}" for mark in drawn.tolist()]


def _words(names: Any, *, unique: bool = False) -> Any:
    """Names as they are compared, without missing ones."""
    import pyarrow
    import pyarrow.compute as pc

    words = pc.drop_null(pc.cast(names, pyarrow.large_string()))
    return pc.utf8_lower(pc.utf8_trim_whitespace(pc.unique(words) if unique else words))


def _values(column: Cells) -> Words:
    """A word for each value; equal for equal numbers of any type and on any grid."""
    if isinstance(column.column, Category):
        known: Words = np.array([_label(label) for label in column.labels], np.uint64)
        found = known[np.where(column.present, column.numbers, 0)]
    else:
        values: NDArray[Any] = column.numbers.astype(np.float64)
        if isinstance(column.column, Bounded):
            # the value itself, so that a finer grid does not change it
            steps = column.numbers - column.first
            values = float(column.column.low) + steps * float(column.column.grid)
        found = (np.round(values, 9) + 0.0).view(np.uint64)
    return np.where(column.present, found, _word("missing"))


def _label(label: str) -> np.uint64:
    """A category that is a number has the word of that number."""
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
