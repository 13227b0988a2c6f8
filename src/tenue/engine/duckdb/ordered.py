"""One column of a stored table that is sorted on disk, whatever the memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import EngineFault
from ..contract import FAULT
from ..source.location import Database, Files
from .dialect import DUCKDB
from .reader import Readable, prepare
from .scratch import Scratch

if TYPE_CHECKING:
    import duckdb
    import pyarrow


_WHOLE = 2**53  # doubles hold every whole number up to here


@contextmanager
def order(source: Files | Database, *, memory: int, batch: int) -> Iterator[OnDisk]:
    """A pass over the table; everything it puts on disk is removed at its end.

    Parameters
        memory: how many bytes sorting may hold.
        batch: how many rows are handed over at a time.
    """
    import duckdb

    scratch = Scratch()
    try:
        sorted_file = str(scratch.path / "sorted.duckdb")
        with duckdb.connect() as outside, duckdb.connect(sorted_file) as inside:
            spill = DUCKDB.literal(str(scratch.path / "spill"))
            inside.execute(f"SET memory_limit = '{memory}B'")
            inside.execute(f"SET temp_directory = {spill}")
            yield OnDisk(outside, inside, prepare(outside, source, None), scratch.path, batch)
            return
    except duckdb.Error:
        pass
    finally:
        scratch.close()
    # raised out of reach of the error above, which may quote a value
    raise EngineFault(FAULT)


class OnDisk:
    """The pass, as `Ordered` says: a copy of the column lies in a database of its own."""

    def __init__(
        self,
        outside: duckdb.DuckDBPyConnection,
        inside: duckdb.DuckDBPyConnection,
        readable: Readable,
        folder: Path,
        batch: int,
    ) -> None:
        self._outside, self._inside, self._table = outside, inside, readable.sql
        self._batch = batch
        self._value = "CAST(value AS DOUBLE)"
        self.folder = folder
        self.names = tuple(name for name, _ in readable.columns)

    def take(
        self, name: str, ties: Callable[[NDArray[np.int64]], NDArray[np.int64]]
    ) -> tuple[int, int, float] | None:
        """Copies the column, with the number of each row and what decides ties."""
        import pyarrow as pa

        sql = f"SELECT {DUCKDB.quoted(name)} AS value FROM {self._table}"  # noqa: S608
        reader = self._outside.sql(sql).to_arrow_reader(self._batch)
        kind = reader.schema.field("value").type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            return None

        def numbered() -> Iterator[tuple[Any, ...]]:
            begin = 0
            for batch in reader:
                rows = np.arange(begin, begin + batch.num_rows)
                begin += batch.num_rows
                yield rows, ties(rows), batch.column("value")

        fields = [("row", pa.int64()), ("tie", pa.int64()), ("value", kind)]
        self._keep("base", pa.schema(fields), numbered())
        bad = "value IS NULL OR NOT isfinite(CAST(value AS DOUBLE))"
        sql = f"SELECT count(*), count_if({bad}), min(value), max(value) FROM base"  # noqa: S608
        ((rows, unfit, low, high),) = self._inside.execute(sql).fetchall()
        if pa.types.is_integer(kind) and max(-(low or 0), high or 0) > _WHOLE:
            self._value = f"CAST(CAST(value AS HUGEINT) - {low} AS DOUBLE)"
            low, high = 0, high - low
        return rows, unfit, max(-float(low or 0), float(high or 0))

    def sort(self) -> Iterator[tuple[NDArray[Any], ...]]:
        """Rows, ties and values, sorted by value and tie."""
        read = f"SELECT row, tie, {self._value} AS number FROM base"  # noqa: S608
        sql = f"{read} ORDER BY value, tie"
        for batch in self._inside.cursor().sql(sql).to_arrow_reader(self._batch):
            yield tuple(column.to_numpy() for column in batch.columns)

    def group(self, labels: Iterator[tuple[Any, ...]]) -> Iterator[pyarrow.Table]:
        """Labels, rows and values, sorted by label."""
        import pyarrow as pa

        self._keep("grouped", pa.schema([("row", pa.int64()), ("label", pa.int64())]), labels)
        joined = "SELECT g.label, g.row, b.value FROM grouped g JOIN base b ON g.row = b.row"
        sql = f"{joined} ORDER BY g.label"
        for batch in self._inside.cursor().sql(sql).to_arrow_reader(self._batch):
            yield pa.Table.from_batches([batch])

    def write(self, out: Path, name: str, values: Iterator[tuple[Any, ...]]) -> None:
        """Sorts by row and writes the file, which has its name only once it is whole."""
        import pyarrow as pa

        first = next(values)
        schema = pa.table(dict(zip(("row", "value"), first, strict=True))).schema
        self._keep("result", schema, chain([first], values))
        draft = out.with_name(f".{out.name}.{self.folder.name}")
        try:
            ordered = f"SELECT value AS {DUCKDB.quoted(name)} FROM result ORDER BY row"  # noqa: S608
            target = DUCKDB.literal(str(draft))
            self._inside.execute(f"COPY ({ordered}) TO {target} (FORMAT parquet)")
            draft.replace(out)
        finally:
            draft.unlink(missing_ok=True)

    def _keep(self, name: str, schema: pyarrow.Schema, batches: Iterator[Sequence[Any]]) -> None:
        import pyarrow as pa

        made = (pa.record_batch(list(batch), schema=schema) for batch in batches)
        self._inside.register("incoming", pa.RecordBatchReader.from_batches(schema, made))
        self._inside.execute(f"CREATE TABLE {name} AS SELECT * FROM incoming")  # noqa: S608
        self._inside.unregister("incoming")
