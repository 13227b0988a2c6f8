"""Parquet files whose footer speaks of other values than they hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def spliced(path: Path, *, data: pa.Table, footer: pa.Table, **how: Any) -> None:
    """Writes the pages of one table with the footer, and so the statistics, of another.

    Both have columns of fixed width and as many rows, so that all pages begin where they should.
    """
    parts = []
    for table in (data, footer):
        pq.write_table(table, path, compression="none", use_dictionary=False, **how)
        written = path.read_bytes()
        parts.append((written, len(written) - 8 - int.from_bytes(written[-8:-4], "little")))
    (pages, end), (other, start) = parts
    path.write_bytes(pages[:end].ljust(start, b"\0") + other[start:])
