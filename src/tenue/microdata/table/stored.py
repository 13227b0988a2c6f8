"""One column of a table that does not fit into memory: groups, and values that change places.

DuckDB sorts, and puts on disk what does not fit. The sorted column then lies in files that are
walked from both ends inwards, so that only the pages around the two ends need to be in memory.
Everything lies in a private folder that is removed at the end; the result is one Parquet file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...engine.duckdb.reader import literal, prepare, quoted
from ...engine.duckdb.scratch import Scratch
from ...engine.source.location import Database, Files, locate
from ...errors import Refused, nearest, refuse
from ...noise.source import SYSTEM, Source
from ...number import checked_call, whole
from ..partition.individual_ranking import sorted_mdav
from ..publish.permute import permuted

if TYPE_CHECKING:
    import pyarrow


MEMORY = 1 << 30
"""What sorting may hold in memory, in bytes, if nothing else is said."""
LEAST_MEMORY = 128 << 20
BATCH = 1 << 20

Numbers = NDArray[np.int64]


@checked_call
def rank_file(
    table: str | os.PathLike[str],
    column: str,
    k: int,
    *,
    out: str | os.PathLike[str],
    memory: int = MEMORY,
) -> int:
    """Groups of at least `k` similar values of a stored column; returns how many.

    Guarantee
        The groups are those of `individual_ranking` on the column, ties included. The memory that
        is held does not grow with the table, but for pages of files that the system may drop.

    Parameters
        table: the path of Parquet files, or duckdb://file#table.
        column: one of its columns, of finite numbers, none missing.
        k: the least size of a group.
        out: a new Parquet file with one column `group`, a row for each of the table's, in order.
        memory: how many bytes sorting may hold in memory.

    Source
        Thesis, sections 2.8 and 3.3.3.
    """
    with _sorted(table, column, k, out, memory, None) as stored:
        stored.write(("row", "group"), stored.places(), 'SELECT "group"')
        return stored.groups


@checked_call
def swap_file(
    table: str | os.PathLike[str],
    column: str,
    k: int,
    *,
    out: str | os.PathLike[str],
    memory: int = MEMORY,
    source: Source = SYSTEM,
) -> int:
    """The values of a stored column after they changed places in groups of similar ones (IR-SWAP).

    Guarantee
        A value is linked to its row with probability at most 1/k, by whoever knows the groups:
        inside each group every order is equally likely. Equal values are divided into groups by
        random words, never by the order of the file or by other columns. It is no release: nothing
        is said of other columns, and nothing is registered.

    Parameters
        out: a new Parquet file with the one column, a row for each of the table's, in order.
        source: where uniform words come from.

    The others are those of `rank_file`. Returns how many groups there are.

    Source
        Thesis, section 3.3.3.
    """
    with _sorted(table, column, k, out, memory, source) as stored:
        name = quoted(stored.column)
        stored.write(("row", "value"), stored.swapped(source), f"SELECT value AS {name}")
        return stored.groups


@dataclass(frozen=True)
class _Stored:
    """The sorted column on disk: the row and the group of each place, and where values lie."""

    folder: Path
    connection: Any
    column: str
    out: Path
    rows: Numbers
    labels: Numbers
    groups: int

    def places(self) -> Iterator[tuple[Any, ...]]:
        """Row and group, a batch of places at a time."""
        for begin in range(0, self.rows.size, BATCH):
            part = slice(begin, begin + BATCH)
            yield np.array(self.rows[part]), np.array(self.labels[part])

    def swapped(self, source: Source) -> Iterator[tuple[Any, ...]]:
        """Row and new value, some whole groups at a time."""
        import pyarrow as pa

        self._keep("grouped", ("row", "label"), self.places())
        joined = "SELECT g.label, g.row, b.value FROM grouped g JOIN base b ON g.row = b.row"
        reader = self.connection.cursor().sql(f"{joined} ORDER BY g.label").to_arrow_reader(BATCH)
        rest = None
        for batch in reader:
            part = pa.Table.from_batches([batch])
            part = part if rest is None else pa.concat_tables([rest, part]).combine_chunks()
            labels = part.column("label").to_numpy()
            # the last group may go on in the next batch
            whole_groups = int(np.searchsorted(labels, labels[-1]))
            rest = part.slice(whole_groups)
            if whole_groups:
                yield _permuted(part.slice(0, whole_groups), source)
        if rest is not None:
            yield _permuted(rest, source)

    def write(
        self, names: tuple[str, str], batches: Iterator[tuple[Any, ...]], select: str
    ) -> None:
        """Puts batches of rows and something into the order of rows, and into the file."""
        self._keep("result", names, batches)
        draft = self.out.with_name(f".{self.out.name}.{self.folder.name}")
        try:
            ordered = f"{select} FROM result ORDER BY row"
            target = literal(str(draft))
            self.connection.execute(f"COPY ({ordered}) TO {target} (FORMAT parquet)")
            draft.replace(self.out)
        finally:
            draft.unlink(missing_ok=True)

    def _keep(self, name: str, names: tuple[str, str], batches: Iterator[tuple[Any, ...]]) -> None:
        import pyarrow as pa

        first = next(batches)
        schema = pa.table(dict(zip(names, first, strict=True))).schema

        def made() -> Iterator[pyarrow.RecordBatch]:
            yield pa.record_batch(list(first), schema=schema)
            for batch in batches:
                yield pa.record_batch(list(batch), schema=schema)

        reader = pa.RecordBatchReader.from_batches(schema, made())
        self.connection.register("incoming", reader)
        self.connection.execute(f"CREATE TABLE {name} AS SELECT * FROM incoming")  # noqa: S608
        self.connection.unregister("incoming")


def _permuted(part: Any, source: Source) -> tuple[Any, Any]:
    labels = part.column("label").to_numpy()
    giver = permuted(labels - labels[0], source)
    values = part.column("value").take(giver).combine_chunks()
    return part.column("row").to_numpy(), values


@contextmanager
def _sorted(
    table: object, column: object, k: object, out: object, memory: object, source: Source | None
) -> Iterator[_Stored]:
    """The column, sorted and in groups; ties by row, or by words of a source if one is given."""
    import duckdb

    size = whole(k, "k", least=1)
    room = whole(memory, "memory", least=LEAST_MEMORY)
    target = _new_file(out)
    found = locate(table, "table")
    if not isinstance(found, Files | Database) or (
        isinstance(found, Files) and found.kind != "parquet"
    ):
        raise refuse("microdata.table-is-neither-parquet-nor-in-duckdb")
    scratch = Scratch()
    try:
        with duckdb.connect(str(scratch.path / "sorted.duckdb")) as connection:
            connection.execute(f"SET memory_limit = '{room}B'")
            connection.execute(f"SET temp_directory = {literal(str(scratch.path / 'spill'))}")
            name = _take_in(connection, found, column, source)
            yield _grouped(connection, scratch.path, name, target, size)
    except duckdb.Error:
        failed = True
    else:
        failed = False
    finally:
        scratch.close()
    if failed:  # raised out of reach of the error above, which may quote a value
        raise refuse("microdata.column-could-not-be-read-sorted-or")


def _take_in(connection: Any, found: Any, column: object, source: Source | None) -> str:
    """Copies the column with the number of each row and what decides ties; refuses bad values."""
    import duckdb
    import pyarrow as pa

    with duckdb.connect() as outside:
        readable = prepare(outside, found, {})
        names = {name.lower(): name for name, _ in readable.columns}
        if not isinstance(column, str) or column.lower() not in names:
            raise refuse(
                "microdata.table-has-no-column",
                column=column,
                nearest=nearest(str(column), names.values()),
            )
        name = names[column.lower()]
        sql = f"SELECT {quoted(name)} AS value FROM {readable.sql}"  # noqa: S608
        reader = outside.sql(sql).to_arrow_reader(BATCH)
        kind = reader.schema.field("value").type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise _no_numbers(name)
        fields = [("row", pa.int64()), ("tie", pa.int64()), ("value", kind)]

        def numbered() -> Iterator[pyarrow.RecordBatch]:
            begin = 0
            for batch in reader:
                rows = np.arange(begin, begin + batch.num_rows)
                begin += batch.num_rows
                ties = rows
                if source is not None:
                    ties = source.words(rows.size, 64).view(np.int64)
                yield pa.record_batch([rows, ties, batch.column("value")], schema=pa.schema(fields))

        stream = pa.RecordBatchReader.from_batches(pa.schema(fields), numbered())
        connection.register("incoming", stream)
        connection.execute("CREATE TABLE base AS SELECT * FROM incoming")
        connection.unregister("incoming")
    bad = "value IS NULL OR NOT isfinite(CAST(value AS DOUBLE))"
    if connection.execute(f"SELECT count_if({bad}) FROM base").fetchall()[0][0]:  # noqa: S608
        raise refuse("microdata.has-missing-or-infinite-value", column=name)
    return name


def _grouped(connection: Any, folder: Path, column: str, out: Path, k: int) -> _Stored:
    rows, largest = connection.execute(
        "SELECT count(*), max(abs(CAST(value AS DOUBLE))) FROM base"
    ).fetchall()[0]
    if rows < k:
        raise refuse("microdata.table-has-fewer-than-k-rows-2", k=k)
    exponent = int(np.frexp(largest)[1])
    on_disk = _Arrays(folder, rows)
    sql = "SELECT row, tie, CAST(value AS DOUBLE) AS value FROM base ORDER BY value, tie"
    place = runs = 0
    last = None
    for batch in connection.cursor().sql(sql).to_arrow_reader(BATCH):
        part = slice(place, place + batch.num_rows)
        values = np.ldexp(batch.column("value").to_numpy(), -exponent) + 0.0
        on_disk.row[part] = batch.column("row").to_numpy()
        on_disk.tie[part] = batch.column("tie").to_numpy()
        begins = np.append(last is None or values[0] != last, values[1:] != values[:-1])
        new = np.flatnonzero(begins)
        on_disk.value[runs : runs + new.size] = values[new]
        on_disk.start[runs : runs + new.size] = place + new
        place, runs, last = place + batch.num_rows, runs + new.size, values[-1]
    on_disk.start[runs] = rows
    on_disk.head[:runs] = on_disk.start[:runs]
    labels = sorted_mdav(
        k,
        on_disk.value[:runs],
        on_disk.tie,
        on_disk.start[: runs + 1],
        on_disk.head[:runs],
        on_disk.label,
    )
    groups = int(labels.max()) + 1
    return _Stored(folder, connection, column, out, on_disk.row, labels, groups)


class _Arrays:
    """Whole numbers and doubles in files, as arrays."""

    def __init__(self, folder: Path, rows: int) -> None:
        def array(name: str, size: int, kind: type) -> Any:
            path = folder / f"{name}.bin"
            return np.asarray(np.memmap(path, kind, mode="w+", shape=(size,)))

        self.row = array("row", rows, np.int64)
        self.tie = array("tie", rows, np.int64)
        self.label = array("label", rows, np.int64)
        self.value = array("value", rows, np.float64)
        self.start = array("start", rows + 1, np.int64)
        self.head = array("head", rows, np.int64)


def _new_file(out: object) -> Path:
    if not isinstance(out, str | os.PathLike):
        raise refuse("microdata.out-is-of-type", type=type(out).__name__)
    target = Path(out)
    if target.exists() or not target.absolute().parent.is_dir():
        raise refuse("microdata.is-there-already-or-its-folder-is", name=target.name)
    return target


def _no_numbers(name: str) -> Refused:
    return refuse("microdata.does-not-hold-numbers", column=name)
