"""How large a table may be, so that a small file cannot fill the machine.

The limits are compared with what a file says of itself before any of its rows is decoded.
"""

from __future__ import annotations

from pathlib import Path

from ...errors import Refused, refuse

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
    """Refuses a Parquet file by what its footer says."""
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
