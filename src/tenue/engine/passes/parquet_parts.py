"""Parquet files that are written a part at a time, where the rows of the part lie.

A part has its name only once it is complete. Written again, because a machine was lost, it has the
same contents and takes the same name.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import EngineFault
from ..contract import FAULT, Part

if TYPE_CHECKING:
    import pyarrow


def part_name(number: int) -> str:
    """The name of the part of this number, in the order of parts."""
    return f"part-{number:05}.parquet"


def write_part(tables: Iterator[pyarrow.Table], folder: Path, number: int) -> Part | None:
    """Writes tables one after the other; None, and no file, if there is none.

    Guarantee
        The file is complete when it has its name, and nothing is left behind if that fails.
    """
    import pyarrow.parquet

    name, rows, sink = part_name(number), 0, None
    handle, unnamed = tempfile.mkstemp(prefix=".", dir=folder)
    os.close(handle)
    draft = Path(unnamed)
    try:
        for table in tables:
            if sink is None:
                sink = pyarrow.parquet.ParquetWriter(draft, table.schema)
            sink.write_table(table)
            rows += table.num_rows
        if sink is None:
            return None
        sink.close()
        with draft.open("rb") as written:
            digest = hashlib.file_digest(written, "sha256").hexdigest()
            os.fsync(written.fileno())
        draft.replace(folder / name)
        return Part(name, rows, digest)
    finally:
        if sink is not None:
            sink.close()
        draft.unlink(missing_ok=True)


def one_part(tables: Iterator[pyarrow.Table], folder: Path) -> list[Part]:
    """All tables in one file; one `EngineFault` if that fails."""
    import pyarrow

    with suppress(OSError, pyarrow.ArrowException):
        part = write_part(tables, folder, 0)
        return [] if part is None else [part]
    # raised out of reach of the error above, which may quote a value
    raise EngineFault(FAULT)


def check_parts(parts: Sequence[Part], rows: int, folder: Path) -> list[Part]:
    """The parts that machines wrote, in their order, each once; an `EngineFault` if rows are
    missing, or if a file is not visible here."""
    each = {part.name: part for part in parts}
    found = [each[name] for name in sorted(each)]
    there = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    if sum(part.rows for part in found) != rows or there != set(each):
        raise EngineFault(FAULT)
    return found
