"""The engine that comes with Tenue: DuckDB, inside the process.

Arrow columns, without a schema, for those who evaluate it.

Nothing is left out in silence: a file is read as a whole first, and refused with the line if one
is no row, for a group whose rows were skipped would look smaller or safer than it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from ...errors import refuse
from ...schema import Table
from ..contract import Rows, Validated
from ..fingerprint import Watched
from ..source import count_queries
from ..source.count_queries import Cell, Tally
from ..source.file_check import read_whole
from ..source.location import Database, Files, Local, Relation, names_of, paths_of
from ..sql.logical_table import Held, Stored
from ..sql.row_checks import Types, read_rows
from ..sql_engine import Relational, held_as, how_read, stored_columns
from ..storage import Written
from .dialect import DOUBTED, DUCKDB
from .sandbox import ArrowBench, Borrowed, Sandbox, Store
from .sources import prepare

if TYPE_CHECKING:
    import pyarrow

    from .sandbox import Store


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
                    yield from store.batches(sql, count_queries.BATCH)
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


# All rows of a table: as whole numbers, and how they were stored, for those who publish it; as.

Load = Callable[[Sequence[str]], "pyarrow.Table"]
"""The columns of these names, in this order."""
Made = TypeVar("Made")


def read_all(table: Stored, store: Store) -> Rows:
    """Every row, as `Engine.read_all` says."""
    return _read(lambda: read_rows(table, store, types_of(table, store)), "rows")


def types_of(table: Stored, store: Store) -> Types:
    """How the source stores each column."""
    names = [
        f"{DUCKDB.quoted(h.name)} AS {DUCKDB.quoted(h.column.name)}" for h in table.held.values()
    ]
    sql = f"SELECT {', '.join(names)} FROM {table.sql} LIMIT 0"  # noqa: S608
    stored = store.arrow(sql).schema

    def type_of(held: Held) -> pyarrow.DataType | None:
        return None if held.stored == Written() else stored.field(held.column.name).type

    return type_of


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
    try:
        readable = prepare(connection, source, None)
    except duckdb.Error:
        readable = None
    if readable is None:
        raise refuse("engine.unopenable-file")
    names = tuple(name for name, _ in readable.columns)
    # by place, for the names of a file may be anything
    table = f"{readable.sql} AS whole({', '.join(f'f{i}' for i in range(len(names)))})"
    rows = cache(lambda: read_whole(readable.texts)[1])

    def load(chosen: Sequence[str]) -> pyarrow.Table:
        many = rows()
        picked = ", ".join(f"f{names.index(name)}" for name in chosen)
        sql = f"SELECT {picked} FROM {table}"  # noqa: S608
        found = _read(lambda: connection.sql(sql).to_arrow_table(), "file")
        if not watched.unchanged():
            raise refuse("engine.table-changed-meanwhile", names=names_of(readable.paths))
        if readable.separated and found.num_rows != many:
            raise refuse("engine.ambiguous-csv", names=names_of(readable.paths))
        return found

    return names, load


def _read(run: Callable[[], Made], what: str) -> Made:
    """What `run` gives, or a refusal."""
    import duckdb

    try:
        return run()
    except duckdb.Error:
        pass
    # raised out of reach of the error above, which may quote a row
    raise refuse(f"engine.{what}-not-read")


# -- The engine that comes with Tenue: DuckDB, inside the process ----------------------------------


class DuckDB(Relational[Store]):
    """Measures requests on one table.

    Guarantee
        As `Engine`: exact integers that depend on the multiset of rows only, and one `EngineFault`
        of fixed text for whatever goes wrong. Opening a file or database looks at names, types and
        footers only, and at the first MiB of a CSV file for its header; a data frame is converted,
        value by value. `validate` reads every row. A column that is not declared is invisible.

    Parameters
        source: what `locate` found.
        schema: what is declared about the table.
        memory: how many bytes may be held before rows are put on disk.

    Files, databases and data frames are read in a sandbox. A relation is read through the holder's
    own connection, which must not be used elsewhere while a question runs.
    """

    def __init__(self, source: Local, schema: Table, memory: int | None = None) -> None:
        super().__init__(schema.unit, ArrowBench, DUCKDB)
        columns = stored_columns(schema)
        stored = {column.name.lower(): column.name for column in columns}
        paths = paths_of(source)
        watched = Watched(paths)  # before a byte of them is read
        self._store: Store | None = (
            Borrowed(source.relation)
            if isinstance(source, Relation)
            else Sandbox(source, stored, schema.separator, memory)
        )
        self._readable = self._store.readable
        if paths:
            self.files = watched.read_as("\n".join([self._readable.how, *how_read(schema)]))
        try:
            held = {
                column.name.lower(): held_as(
                    column, self._readable.columns, self._store.enumeration
                )
                for column in columns
            }
            # what a relation reads, and whether that has true statistics, is not known here
            dialect = DOUBTED if isinstance(source, Relation) else DUCKDB
            self._table = Stored(self._readable.sql, held, schema.columns, dialect)
            self._check()
        except BaseException:
            self.close()
            raise

    def validate(self) -> Validated:
        """Reads every row once; refused with the line, or the column, that cannot be read."""
        from .validate import validate

        def read(store: Store) -> Validated:
            found = validate(self._table, self._readable, store.run)
            if self.files is not None and not self.files.unchanged():
                names = names_of(self._readable.paths)
                raise refuse("engine.table-changed-meanwhile", names=names)
            return found

        return self._within(read)

    def read_all(self) -> Rows:
        """Every row, for those who publish the table."""

        return self._within(lambda store: read_all(self._table, store))

    def _types(self, state: Store) -> Types:

        return types_of(self._table, state)

    def _let_go(self) -> None:
        if self._store is not None:
            self._store.close()
        self._store = None

    @contextmanager
    def _state(self) -> Iterator[Store]:
        if self._store is None:
            raise ConnectionError
        yield self._store
