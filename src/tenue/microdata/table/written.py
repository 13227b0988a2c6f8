"""A released table that need not fit into memory: a Parquet file in a private folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ...engine.contract import FAULT
from ...engine.open import Scratch
from ...errors import EngineFault

if TYPE_CHECKING:
    import pyarrow

_PIECE = 1 << 18


class WrittenTable:
    """As much of an Arrow table as leaving needs, read from its file piece by piece.

    The file is removed with the last who knows the table, and with the process.
    """

    def __init__(self, scratch: Scratch) -> None:
        import pyarrow.parquet

        self._scratch = scratch
        with pyarrow.parquet.ParquetFile(_file(scratch)) as file:
            self.schema = file.schema_arrow
            self.num_rows: int = file.metadata.num_rows
        self.column_names = self.schema.names

    def combine_chunks(self) -> WrittenTable:
        """The same: pieces are those of the file."""
        return self

    def to_batches(self) -> Iterator[pyarrow.RecordBatch]:
        """The rows in their order, some at a time."""
        import pyarrow.parquet

        # what is read ahead would be the whole file
        with pyarrow.parquet.ParquetFile(_file(self._scratch), pre_buffer=False) as file:
            yield from file.iter_batches(_PIECE)

    def read(self) -> pyarrow.Table:
        """All rows, in memory."""
        import pyarrow as pa

        return pa.Table.from_batches(self.to_batches(), self.schema)


def write_table(pieces: Iterable[pyarrow.Table]) -> WrittenTable:
    """The pieces one after the other, at least one; nothing is left behind if that fails."""
    import pyarrow as pa
    import pyarrow.parquet

    scratch = Scratch()
    sink = None
    try:
        for piece in pieces:
            if sink is None:
                sink = pyarrow.parquet.ParquetWriter(_file(scratch), piece.schema)
            sink.write_table(piece)
        assert sink is not None  # noqa: S101 - no table without rows is published
        sink.close()
        return WrittenTable(scratch)
    except BaseException as error:
        scratch.close()
        if not isinstance(error, OSError | pa.ArrowException):
            raise
    # raised out of reach of the error above, which may quote a value
    raise EngineFault(FAULT)


@contextmanager
def private_folder() -> Iterator[Path]:
    """A folder for what must lie on disk for a while; gone with the context."""
    scratch = Scratch()
    try:
        yield scratch.path
    finally:
        scratch.close()


def _file(scratch: Scratch) -> str:
    return str(scratch.path / "table.parquet")
