"""Counts of files, of tables in DuckDB files and of relations, made by DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from typing import TYPE_CHECKING

from ...errors import refuse
from ..source import tally
from ..source.location import Database, Files, Relation, names_of, paths_of
from ..source.tally import Cell, Tally
from ..source.whole import read_whole
from ..watch import Watched
from .dialect import DOUBTED
from .sandbox import Borrowed, Sandbox

if TYPE_CHECKING:
    import pyarrow


@contextmanager
def open_tally(source: Files | Database | Relation, memory: int) -> Iterator[Tally]:
    """The counts of a table, as long as the context lasts; refused if it is none.

    DuckDB holds so many bytes and puts the rest on disk; the connection of a relation keeps its own
    limit. Nothing but the table can be reached, except from such a connection. Files of text are
    read as wholes first, and refused with the line that is no row.
    """
    import duckdb

    watched = Watched(paths_of(source))
    with closing(
        Borrowed(source.relation)
        if isinstance(source, Relation)
        else Sandbox(source, None, memory=memory)
    ) as store:
        readable = store.readable
        # by place, for the names of a file may be anything
        places = [f"f{i}" for i in range(len(readable.columns))]
        table = f"{readable.sql} AS whole({', '.join(places)})"

        @cache
        def agree() -> bool:
            if not readable.separated:
                return True
            many = read_whole(readable.texts)[1]
            (found,) = store.run(f"SELECT COUNT(*), COUNT(f0) FROM {table}")  # noqa: S608
            return bool(found[0] == many)

        def run(sql: str) -> Iterator[pyarrow.RecordBatch]:
            ended = fits = alike = False
            try:
                alike = agree()
                if alike:
                    yield from store.batches(sql, tally.BATCH)
                ended = True
            except duckdb.OutOfMemoryException:
                pass
            except duckdb.Error:
                fits = True
            # raised out of reach of the error above, which may quote a row
            if not ended:
                if not fits:
                    raise refuse("engine.count-out-of-memory")
                raise refuse(f"engine.{'file' if readable.paths else 'rows'}-not-read")
            if not alike:
                raise refuse("engine.ambiguous-csv", names=names_of(readable.paths))
            if not watched.unchanged():
                raise refuse("engine.table-changed-meanwhile", names=names_of(readable.paths))

        cells = {
            name: Cell(place, stored)
            for place, (name, stored) in zip(places, readable.columns, strict=True)
        }
        # the statistics of a file may rule out what it holds, and nobody compared them
        yield Tally("DuckDB", DOUBTED, table, cells, run)
