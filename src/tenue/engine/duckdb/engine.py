"""The engine that comes with Tenue: DuckDB, inside the process.

Nothing is left out in silence: a file is read as a whole first, and refused with the line if one
is no row, for a group whose rows were skipped would look smaller or safer than it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from ...errors import Refused, refuse
from ...schema import Table
from ..contract import Rows, Validated
from ..fingerprint import Watched
from ..registry import Load
from ..source import count_queries
from ..source.count_queries import Cell, Tally
from ..source.file_check import read_whole
from ..source.location import Database, Files, Local, Relation, names_of, paths_of
from ..sql.logical_table import Stored
from ..sql.row_checks import Types, read_rows
from ..sql_engine import Relational, held_as, how_read, stored_columns
from ..storage import Written
from .dialect import DOUBTED, DUCKDB
from .sandbox import ArrowBench, Borrowed, Sandbox, Store
from .sources import Readable, prepare

if TYPE_CHECKING:
    import pyarrow

Made = TypeVar("Made")


@contextmanager
def open_tally(source: Files | Database | Relation, memory: int) -> Iterator[Tally]:
    """The counts of a table, as long as the context lasts; refused if it is none.

    DuckDB holds `memory` bytes and puts the rest on disk; a relation's connection keeps its own
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
        columns, table = _by_number(readable)

        @cache
        def one_reading() -> bool:
            if not readable.separated:
                return True
            many = read_whole(readable.texts)[1]
            (counts,) = store.run(f"SELECT COUNT(*), COUNT(f0) FROM {table}")  # noqa: S608
            return bool(counts[0] == many)

        def run(sql: str) -> Iterator[pyarrow.RecordBatch]:
            refusal: Refused | None = None
            try:
                if one_reading():
                    yield from store.batches(sql, count_queries.BATCH)
                else:
                    refusal = refuse("engine.ambiguous-csv", names=names_of(readable.paths))
            except duckdb.OutOfMemoryException:
                refusal = refuse("engine.count-out-of-memory")
            except duckdb.Error:
                refusal = refuse(f"engine.{'file' if readable.paths else 'rows'}-not-read")
            # raised out of reach of the error above, which may quote a row
            if refusal is not None:
                raise refusal
            _check_unchanged(watched, readable)

        cells = {
            name: Cell(column, stored)
            for column, (name, stored) in zip(columns, readable.columns, strict=True)
        }
        # the statistics of a file may rule out values that it holds, and nobody compared them
        yield Tally("DuckDB", DOUBTED, table, cells, run)


def open_whole(source: Files | Database | Relation) -> tuple[tuple[str, ...], Load]:
    """The names of a table's columns, and how they are read; refused if it is no table.

    A file is read as a whole before the first column is handed over.
    """
    import duckdb

    if isinstance(source, Relation):
        return tuple(source.relation.columns), lambda chosen: source.relation.project(
            ", ".join(map(DUCKDB.quoted, chosen))
        ).to_arrow_table()
    connection = duckdb.connect()
    watched = Watched(paths_of(source))
    readable = None
    with suppress(duckdb.Error):
        readable = prepare(connection, source, None)
    if readable is None:
        raise refuse("engine.unopenable-file")
    columns, table = _by_number(readable)
    names = tuple(name for name, _ in readable.columns)
    rows = cache(lambda: read_whole(readable.texts)[1])

    def load(chosen: Sequence[str]) -> pyarrow.Table:
        many = rows()
        picked = ", ".join(columns[names.index(name)] for name in chosen)
        sql = f"SELECT {picked} FROM {table}"  # noqa: S608
        loaded = _read(lambda: connection.sql(sql).to_arrow_table(), "file")
        _check_unchanged(watched, readable)
        if readable.separated and loaded.num_rows != many:
            raise refuse("engine.ambiguous-csv", names=names_of(readable.paths))
        return loaded

    return names, load


def _by_number(readable: Readable) -> tuple[list[str], str]:
    """New names for all columns, for a file may use any names, and the table that has them."""
    columns = [f"f{i}" for i in range(len(readable.columns))]
    return columns, f"{readable.sql} AS whole({', '.join(columns)})"


def _check_unchanged(watched: Watched, readable: Readable) -> None:
    if not watched.unchanged():
        raise refuse("engine.table-changed-meanwhile", names=names_of(readable.paths))


def _read(run: Callable[[], Made], what: str) -> Made:
    import duckdb

    with suppress(duckdb.Error):
        return run()
    # raised out of reach of the error above, which may quote a row
    raise refuse(f"engine.{what}-not-read")


class DuckDB(Relational[Store]):
    """Measures requests on one table.

    Guarantee
        As `Engine`: exact integers that depend on the multiset of rows only, and one `EngineFault`
        of fixed text for every failure. Opening a file or database looks at names, types and
        footers only, and at the first MiB of a CSV file for its header; a data frame is converted,
        value by value. `validate` reads every row. A column that is not declared is invisible.

    Parameters
        source: what `locate` found.
        schema: what is declared about the table.
        memory: how many bytes may be held before rows are put on disk.

    Files, databases and data frames are read in a sandbox. A relation is read through the holder's
    own connection, which must not be used elsewhere while a question runs.
    """

    _session: Store | None

    def __init__(self, source: Local, schema: Table, memory: int | None = None) -> None:
        super().__init__(schema.unit, ArrowBench, DUCKDB)
        columns = stored_columns(schema)
        wanted = {column.name.lower(): column.name for column in columns}
        paths = paths_of(source)
        self._watched = Watched(paths)  # before a byte of them is read
        store: Store = (
            Borrowed(source.relation)
            if isinstance(source, Relation)
            else Sandbox(source, wanted, schema.separator, memory)
        )
        self._session, readable = store, store.readable
        if paths:
            self.files = self._watched.read_as("\n".join([readable.how, *how_read(schema)]))
        try:
            held = {
                column.name.lower(): held_as(column, readable.columns, store.enumeration)
                for column in columns
            }
            # what a relation reads, and whether that has true statistics, is not known here
            dialect = DOUBTED if isinstance(source, Relation) else DUCKDB
            self._table = Stored(readable.sql, held, schema.columns, dialect)
            self._check()
        except BaseException:
            self.close()
            raise

    def validate(self) -> Validated:
        """Reads every row once; refused with the line, or the column, that cannot be read."""
        from .validate import validate

        def read(store: Store) -> Validated:
            facts = validate(self._table, store.readable, store.run, self._optional_unit)
            _check_unchanged(self._watched, store.readable)
            return facts

        return self._within(read)

    def read_all(self) -> Rows:
        return self._within(
            lambda store: _read(lambda: read_rows(self._table, store, self._types(store)), "rows")
        )

    def _types(self, state: Store) -> Types:
        names = ", ".join(DUCKDB.quoted(held.name) for held in self._table.held.values())
        stored = state.arrow(f"SELECT {names} FROM {self._table.sql} LIMIT 0").schema  # noqa: S608
        return lambda held: None if held.stored == Written() else stored.field(held.name).type

    @contextmanager
    def _state(self) -> Iterator[Store]:
        if self._session is None:
            raise ConnectionError
        yield self._session
