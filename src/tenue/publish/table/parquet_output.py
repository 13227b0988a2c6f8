"""A released table that need not fit into memory: Parquet files in a private folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...engine.contract import Numbers, Part, Passes
from ...engine.passes.parquet_parts import one_part
from ...engine.scratch import Scratch

if TYPE_CHECKING:
    import pyarrow

_PIECE = 1 << 18
_FOLDER = "table"
_READABLE = 0o644


class WrittenTable:
    """The part of an Arrow table's interface that a release needs, read from files in pieces.

    The files are removed with the last reference to the table, and with the process.

    parts: the files, in their order; several if many machines wrote them.
    """

    def __init__(self, scratch: Scratch, parts: Sequence[Part]) -> None:
        import pyarrow.parquet

        self._scratch, self.parts = scratch, tuple(parts)
        with pyarrow.parquet.ParquetFile(self._file(self.parts[0])) as file:
            self.schema = file.schema_arrow
        self.num_rows = sum(part.rows for part in self.parts)
        self.column_names = self.schema.names

    def combine_chunks(self) -> WrittenTable:
        """The same table, whose pieces are those of the files."""
        return self

    def to_batches(self) -> Iterator[pyarrow.RecordBatch]:
        """The rows in their order, some at a time."""
        import pyarrow.parquet

        for part in self.parts:
            # reading ahead would read the whole file
            with pyarrow.parquet.ParquetFile(self._file(part), pre_buffer=False) as file:
                yield from file.iter_batches(_PIECE)

    def read(self) -> pyarrow.Table:
        """All rows, in memory."""
        import pyarrow as pa

        return pa.Table.from_batches(self.to_batches(), self.schema)

    def place(self, part: Part, target: Path) -> None:
        """Adds a name for a file, or copies it to another disk."""
        try:
            os.link(self._file(part), target)
        except OSError:
            shutil.copyfile(self._file(part), target)
        target.chmod(_READABLE)

    def _file(self, part: Part) -> str:
        return str(self._scratch.path / _FOLDER / part.name)


def write_table(pieces: Iterable[pyarrow.Table]) -> WrittenTable:
    """Writes the pieces one after the other, at least one; leaves no file if that fails."""
    return _written(lambda folder: one_part(iter(pieces), folder))


def write_passes(passes: Passes, table: Callable[[Numbers], pyarrow.Table]) -> WrittenTable:
    """Writes the tables of rows, at least one, where the rows are; leaves no file if that fails."""
    return _written(lambda folder: passes.write(table, folder))


def _written(write: Callable[[Path], Sequence[Part]]) -> WrittenTable:
    scratch = Scratch()
    try:
        folder = scratch.path / _FOLDER
        folder.mkdir()
        return WrittenTable(scratch, write(folder))
    except BaseException:
        scratch.close()
        raise
