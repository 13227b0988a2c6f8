"""The first line of a CSV file, which names its columns and is no row.

How fields are separated is decided by that line and the schema, not by looking at rows: a file is
read alike whatever its rows hold.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Collection
from pathlib import Path

from ...errors import refuse
from ...frozen import dataclass
from .limit import MOST_COLUMNS

_LONGEST = 2**20
_SEPARATORS = {"csv": (",", ";", "\t", "|"), "tsv": ("\t",)}


@dataclass(frozen=True)
class Header:
    """The names in a first line, and the sign between them."""

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

    If it is not known what is wanted, the sign that occurs between most pieces of the line wins.

    Parameters
        wanted: the declared names, in lower case.
        separator: the sign between names, if it is declared.
    """
    opened, broken = gzip.open if zipped else open, False
    try:
        with opened(path, "rb") as file:
            start = file.read(_LONGEST)
        signs = _SEPARATORS[kind] if separator is None else (separator,)
        found = [_split(start, sign) for sign in signs]
        if wanted is None:
            wanted = _pieces(start)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        broken = True
    except (OSError, csv.Error, StopIteration):
        found = []
    if broken:
        raise refuse("engine.malformed-file", where=path.name, why="is not a whole gzip file")
    headers = [header for header in found if len(header.names) <= MOST_COLUMNS]
    if not headers:
        raise refuse("engine.header-missing", name=path.name, most_columns=MOST_COLUMNS)
    return max(headers, key=lambda header: _known(header, wanted or ()))


def _split(start: bytes, separator: str) -> Header:
    # strictness would be about rows: an odd byte further down is none of the header's business
    text = start.decode("utf-8-sig", errors="replace")
    names = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    return Header(tuple(name.strip() for name in names), separator)


def _pieces(start: bytes) -> set[str]:
    """The first line, cut at every sign that may separate names: the right one finds most."""
    line = start.split(b"\n", 1)[0].decode("utf-8-sig", errors="replace")
    return {piece.strip().strip('"').lower() for piece in re.split(r"[,;\t|]", line)}


def _known(header: Header, wanted: Collection[str]) -> int:
    return len({name.lower() for name in header.names} & set(wanted))
