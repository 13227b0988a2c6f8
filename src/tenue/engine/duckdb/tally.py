"""Counts of files that need not fit into memory, made by DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from ...errors import refuse
from ..source.location import Files, names_of, paths_of
from ..source.tally import Cell, Tally
from ..source.whole import read_whole
from ..watch import Watched
from .reader import prepare
from .sandbox import limited, quiet
from .scratch import Scratch

if TYPE_CHECKING:
    import pyarrow

_BATCH = 1 << 16


def open_tally(source: Files, memory: int) -> Tally:
    """The counts of files, holding so many bytes; refused if they are no table.

    The files are read as a whole first, and refused with the line that is no row.
    """
    import duckdb

    scratch, watched = Scratch(), Watched(paths_of(source))
    connection, readable = duckdb.connect(":memory:", config=limited(scratch, memory)), None
    quiet(connection)
    with suppress(duckdb.Error):
        readable = prepare(connection, source, None)
    if readable is None:
        raise refuse("engine.file-could-not-be-opened-as-table")
    # by place, for the names of a file may be anything
    table = f"{readable.sql} AS whole({', '.join(f'f{i}' for i in range(len(readable.columns)))})"
    rows = cache(lambda: read_whole(readable.texts)[1])

    def statement(sql: str) -> Iterator[pyarrow.RecordBatch]:
        many, found = rows(), False
        try:
            if readable.separated and counted() != many:
                raise refuse("engine.readers-disagree", names=names_of(readable.paths))
            yield from connection.cursor().sql(sql).to_arrow_reader(_BATCH)
            found = True
        except duckdb.Error:
            pass
        # raised out of reach of the error above, which may quote a row
        if not found:
            raise refuse("engine.file-could-not-be-read")
        if not watched.unchanged():
            raise refuse("engine.changed-while-it-was-read", names=names_of(readable.paths))

    @cache
    def counted() -> int:
        sql = f"SELECT COUNT(*), COUNT(f0) FROM {table}"  # noqa: S608
        return int(connection.cursor().execute(sql).fetchall()[0][0])

    cells = {name: Cell(f"f{i}", stored) for i, (name, stored) in enumerate(readable.columns)}
    return Tally(cells, table, "row_number() OVER () - 1", statement, kept=scratch)
