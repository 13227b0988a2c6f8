"""Files read from end to end, once: their digest, and whether they are well formed.

Size limits are checked before any row is decoded, against the size that a file states.

How fields are separated is decided by the first line and the schema, not by other rows: the values
of rows do not change how a file is read.

An accepted file has one reading only, which DuckDB's and Python's readers share: fields are plain,
or quoted from their first byte to their last; every row has as many as the first line; every line
ends like the first; all of it is UTF-8. Files that readers understand differently are refused: a
quote behind a space, text behind a closing quote, a carriage return alone, one field too many
although it is empty.

A refusal names the file's last name and the line, never the contents.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from ...errors import Refused, refuse
from ..fingerprint import together

MOST_FILES = 10_000
"""A table may have this many files."""
MOST_COLUMNS = 10_000
"""A table may have this many columns."""
MOST_ROWS = 10**11
"""A table may have this many rows."""
LARGEST_FILE = 2**42
"""A file may have this many bytes once it is decompressed."""
MOST_ROWS_PER_BYTE = 100
"""A Parquet file of more than a million rows may hold this many in a byte."""
MOST_SPILL = "64GB"
"""DuckDB may put this much on disk while it answers."""

_FEW_ROWS = 10**6
_DEFLATE = 1032  # what one byte of gzip can become at most


def check_size(path: Path, *, zipped: bool) -> None:
    """Refuses a text file that is, or may become, too large."""
    if path.stat().st_size * (_DEFLATE if zipped else 1) > LARGEST_FILE:
        raise _too_large(path, "a compressed file is counted at its largest" if zipped else "")


def check_parquet(path: Path, *, rows: int, columns: int, decoded: int) -> None:
    """Refuses a Parquet file by the sizes in its footer."""
    dense = rows > _FEW_ROWS and rows > MOST_ROWS_PER_BYTE * path.stat().st_size
    if rows > MOST_ROWS or columns > MOST_COLUMNS or decoded > LARGEST_FILE or dense:
        raise _too_large(path, f"{MOST_ROWS_PER_BYTE} rows in a byte")


def _too_large(path: Path, also: str) -> Refused:
    return refuse(
        "engine.file-too-large",
        name=path.name,
        most_rows=MOST_ROWS,
        most_columns=MOST_COLUMNS,
        largest_file=LARGEST_FILE,
        word=f"; {also}" if also else "",
    )


# -- The first line of a CSV file, which names its columns and is no row ---------------------------

_LONGEST = 2**20
_SEPARATORS = {"csv": (",", ";", "\t", "|"), "tsv": ("\t",)}


@dataclass(frozen=True)
class Header:
    """The names in a first line, and their separator."""

    names: tuple[str, ...]
    separator: str


def read_header(
    path: Path,
    kind: str,
    *,
    zipped: bool,
    wanted: Collection[str] | None,
    separator: str | None = None,
) -> Header:
    """The header of a file: separated as declared, or so that most `wanted` names are found.

    Parameters
        wanted: the declared names, in lower case; None to prefer the separator that yields the most
            pieces of the line.
        separator: the declared separator, if there is one.
    """
    opened, broken = gzip.open if zipped else open, False
    try:
        with opened(path, "rb") as file:
            start = file.read(_LONGEST)
        signs = _SEPARATORS[kind] if separator is None else (separator,)
        found = [_split(start, sign) for sign in signs]
        if wanted is None:
            line = start.split(b"\n", 1)[0].decode("utf-8-sig", errors="replace")
            wanted = {word.strip().strip('"').lower() for word in re.split(r"[,;\t|]", line)}
    except (EOFError, gzip.BadGzipFile, zlib.error):
        broken = True
    except (OSError, csv.Error, StopIteration):
        found = []
    if broken:
        raise refuse("engine.malformed-file", where=path.name, why="is not a whole gzip file")
    headers = [header for header in found if len(header.names) <= MOST_COLUMNS]
    if not headers:
        raise refuse("engine.header-missing", name=path.name, most_columns=MOST_COLUMNS)
    known = set(wanted or ())
    return max(headers, key=lambda header: len({name.lower() for name in header.names} & known))


def _split(start: bytes, separator: str) -> Header:
    # strict decoding would fail for an odd byte in a row
    text = start.decode("utf-8-sig", errors="replace")
    names = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    return Header(tuple(name.strip() for name in names), separator)


# -- Whether a CSV file is well formed as a whole, and how many rows it has ------------------------

LONGEST_ROW = 2_000_000
"""A row may have this many bytes; DuckDB's reader keeps to the same."""

_SMALL = 2**20  # below, plain Python is done before numba is imported

# the places of a state
_AT, _BEFORE, _FIELDS, _WIDTH, _ROWS, _LINE, _BEGIN, _LENGTH, _ENDING = range(9)
_MORE, _LOW, _HIGH = range(9, 12)
# where in a field: at its begin, in plain text, behind leading spaces, in quotes, behind a quote in
# quotes, behind a carriage return
_FRESH, _PLAIN, _SPACED, _QUOTED, _CLOSED, _RETURN = range(6)
_LF, _CRLF = 1, 2
_WRONG = (
    "",
    "has too many or too few values",
    "has something behind a closing quote",
    "has a quote behind a space",
    "has a carriage return that ends no line",
    "ends unlike the first line",
    "has bytes that are not UTF-8",
    "is longer than a row may be",
    "opens a quote that is never closed",
    "is empty and should name the columns",
)
_COUNT, _BEHIND, _SPACE, _BARE, _UNLIKE, _BYTES, _LONG, _OPEN, _NAMELESS = range(1, 10)


class Scan:
    """Checks a file block by block.

    Parameters
        separator: the character between fields.
        size: the most bytes there may be; few are not worth a compiler.
    """

    def __init__(self, separator: str, size: int) -> None:
        self._separator = ord(separator)
        self._kernel = _compiled() if size >= _SMALL else None
        self._state: Any = [0] * 12
        self._state[_LINE] = self._state[_BEGIN] = 1
        if self._kernel is not None:
            self._state = np.array(self._state, dtype=np.int64)

    @property
    def rows(self) -> int:
        """How many rows there were so far, without the first line."""
        return max(int(self._state[_ROWS]) - 1, 0)

    @property
    def line(self) -> int:
        """The line on which the row begins that is being read."""
        return int(self._state[_BEGIN])

    def feed(self, block: bytes) -> str:
        """Reads on; the reason why a line is no row, or an empty text."""
        if self._kernel is None:
            return _WRONG[advance(block, self._state, self._separator)]
        numbers = np.frombuffer(block, dtype=np.uint8)
        return _WRONG[self._kernel(numbers, self._state, self._separator)]

    def finish(self) -> str:
        """The same, for a last line without a line end."""
        state = self._state
        if state[_MORE]:
            return _WRONG[_BYTES]
        if state[_AT] == _QUOTED:
            return _WRONG[_OPEN]
        if state[_AT] == _RETURN:
            return _WRONG[_BARE]
        if state[_AT] != _FRESH or state[_FIELDS]:
            return self.feed(b"\r\n" if state[_ENDING] == _CRLF else b"\n")
        return "" if state[_WIDTH] else _WRONG[_NAMELESS]


@cache
def _compiled() -> Callable[..., int] | None:
    """`advance`, compiled and kept on disk; None where numba is not installed."""
    try:
        from numba import njit
    except ImportError:
        return None
    try:
        return cast("Callable[..., int]", njit(advance, cache=True, nogil=True))
    except RuntimeError:  # no folder can keep it
        return cast("Callable[..., int]", njit(advance, nogil=True))


def advance(block: Any, state: Any, separator: int) -> int:
    """Reads a block; the number of the fault of the row it stopped at, or 0.

    One loop over bytes, so that numba can compile it as it stands.
    """
    at, before, fields, width = state[_AT], state[_BEFORE], state[_FIELDS], state[_WIDTH]
    rows, line, begin, length = state[_ROWS], state[_LINE], state[_BEGIN], state[_LENGTH]
    ending, more, low, high = state[_ENDING], state[_MORE], state[_LOW], state[_HIGH]
    wrong = 0
    for byte in block:
        length += 1
        if at == _PLAIN and 44 < byte < 128 and byte != separator and more == 0:
            continue
        if more:
            if byte < low or byte > high:
                wrong = _BYTES
                break
            more -= 1
            low, high = 128, 191
        elif byte >= 128:
            if at >= _CLOSED or byte < 194 or byte > 244:
                wrong = _BEHIND if at == _CLOSED else _BARE if at == _RETURN else _BYTES
                break
            # what may follow is narrower where it would be too long, a surrogate or too large
            low = 160 if byte == 224 else 144 if byte == 240 else 128
            high = 159 if byte == 237 else 143 if byte == 244 else 191
            more = 1 if byte < 224 else 2 if byte < 240 else 3
            if at != _QUOTED:
                at = _PLAIN
        elif at == _QUOTED:
            if byte == 34:
                at = _CLOSED
            elif byte == 10:
                line += 1
        elif at == _RETURN and byte != 10:
            wrong = _BARE
            break
        elif byte == separator:
            fields += 1
            at = _FRESH
        elif byte == 34:
            if at == _SPACED:
                wrong = _SPACE
                break
            if at != _PLAIN:
                at = _QUOTED
        elif byte == 13:
            if ending == _LF:
                wrong = _BARE
                break
            before, at = at, _RETURN
        elif byte != 10:
            if at == _CLOSED:
                wrong = _BEHIND
                break
            at = _SPACED if byte == 32 and at != _PLAIN else _PLAIN
        else:
            ended = _LF
            if at == _RETURN:
                ended, at = _CRLF, before
            blank = fields == 0 and at == _FRESH
            if width == 0:
                ending, width = ended, fields + 1
                wrong = _NAMELESS if blank else 0
            # a blank line is no row, unless a row is one value, which may be missing
            if not blank or width == 1:
                wrong = wrong if fields + 1 == width else _COUNT
                rows += 1
            if ended != ending:
                wrong = _UNLIKE
            if length > LONGEST_ROW:
                wrong = _LONG
            if wrong:
                break
            line += 1
            begin, fields, at, length = line, 0, _FRESH, 0
    if not wrong and length > LONGEST_ROW:
        wrong = _LONG
    state[_AT], state[_BEFORE], state[_FIELDS], state[_WIDTH] = at, before, fields, width
    state[_ROWS], state[_LINE], state[_BEGIN], state[_LENGTH] = rows, line, begin, length
    state[_ENDING], state[_MORE], state[_LOW], state[_HIGH] = ending, more, low, high
    return wrong


# -- Digest and well-formedness of whole files -----------------------------------------------------

_BLOCK = 2**22
_LARGE = 2**62
_MARK = b"\xef\xbb\xbf"  # of UTF-8, before the first line


@dataclass(frozen=True)
class TextFile:
    """A file of text, and how it is read.

    separator: the character between its fields; empty if its structure is not checked here.
    zipped: whether it is compressed by gzip.
    """

    path: Path
    separator: str = ""
    zipped: bool = False


class _Hashed(io.RawIOBase):
    """A file that is hashed as it is read."""

    def __init__(self, file: IO[bytes], digest: hashlib._Hash) -> None:
        self._file, self._digest = file, digest

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        self._digest.update(block)
        return block


def read_whole(files: Sequence[TextFile]) -> tuple[str, int]:
    """The digest of the files, and how many rows the files have whose structure is checked.

    Refused if one is not a whole gzip file, or not a whole CSV file.
    """
    read = list(map(_read, files))
    return together([digest for digest, _ in read]), sum(rows for _, rows in read)


def _read(file: TextFile) -> tuple[str, int]:
    digest, scan, where = hashlib.sha256(), None, file.path.name
    try:
        size = _LARGE if file.zipped else file.path.stat().st_size
        scan = Scan(file.separator, size) if file.separator else None
        with file.path.open("rb", buffering=0) as opened:
            wrong = _scanned(_Hashed(opened, digest), scan, zipped=file.zipped)
        if scan is not None:
            where = f"Line {scan.line} of {where}"
    except (EOFError, gzip.BadGzipFile, zlib.error):
        wrong = "is not a whole gzip file"
    except OSError:
        wrong = "could not be read to its end"
    if wrong:
        raise refuse("engine.malformed-file", where=where, why=wrong)
    return digest.hexdigest(), 0 if scan is None else scan.rows


def _scanned(file: _Hashed | gzip.GzipFile, scan: Scan | None, *, zipped: bool = False) -> str:
    """The fault of the row at which the scan stopped; empty if the file ended."""
    if zipped:
        with gzip.GzipFile(fileobj=file) as unzipped:
            return _scanned(unzipped, scan)
    mark = _MARK
    while block := file.read(_BLOCK):
        wrong = "" if scan is None else scan.feed(block.removeprefix(mark))
        if wrong:
            return wrong
        mark = b""
    return "" if scan is None else scan.finish()
