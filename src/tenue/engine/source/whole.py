"""Files read from end to end, once: their digest, and whether they are well formed.

A refusal says the file's last name and the line, never what stands there.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from ...errors import refuse
from ...frozen import dataclass
from ..watch import together
from .scan import Scan

_BLOCK = 2**22
_LARGE = 2**62
_MARK = b"\xef\xbb\xbf"  # of UTF-8, before the first line


@dataclass(frozen=True)
class Text:
    """A file of text, and how it is read.

    separator: the sign between its fields; empty if its structure is not looked at here.
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


def read_whole(files: Sequence[Text]) -> tuple[str, int]:
    """The digest of the files, and how many rows those have whose structure is looked at.

    Refused if one is not a whole gzip file, or not a whole CSV file.
    """
    digests, rows = [], 0
    for file in files:
        digest, found = _read(file)
        digests.append(digest)
        rows += found
    return together(digests), rows


def _read(file: Text) -> tuple[str, int]:
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
    """What is wrong with the row at which the scan stopped; nothing if the file ended."""
    if zipped:
        with gzip.GzipFile(fileobj=file) as unzipped:
            return _scanned(unzipped, scan)
    first = True
    while block := file.read(_BLOCK):
        if scan is not None:
            wrong = scan.feed(block.removeprefix(_MARK) if first else block)
            if wrong:
                return wrong
        first = False
    return "" if scan is None else scan.finish()
