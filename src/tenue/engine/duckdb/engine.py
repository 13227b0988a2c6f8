"""The engine that comes with Tenue: DuckDB, inside the process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...errors import refuse
from ...schema import Table
from ..contract import Rows, Validated
from ..relational import Relational, held_as, how_read, stored_columns
from ..source.location import Local, Relation, names_of, paths_of
from ..sql.logical import Stored
from ..sql.rows import Types
from ..watch import Watched
from .dialect import DOUBTED, DUCKDB
from .sandbox import Bench, Borrowed, Sandbox, Store


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
        super().__init__(schema.unit, Bench, DUCKDB)
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
        from .rows import read_all

        return self._within(lambda store: read_all(self._table, store))

    def _types(self, state: Store) -> Types:
        from .rows import types_of

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
