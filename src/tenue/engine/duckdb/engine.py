"""The engine that comes with Tenue: DuckDB, inside the process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...errors import EngineFault, InvalidTable, Refused, refuse
from ...noise.source import SYSTEM
from ...schema import Category, Column, Identifier, Number, Table
from ..contract import FAULT, Cells, HandedOver, Profile, Profiles, Rows, Validated
from ..request import ContributionRequest, RankRequest, Request
from ..source.location import Local, Relation, names_of, paths_of
from ..sql.logical import Held, Logical, Stored
from ..sql.statement import write, write_counts, write_lookup
from ..storage import read_as
from ..watch import Known, Watched
from .dialect import DOUBTED, DUCKDB
from .sandbox import Bench, Borrowed, Sandbox, Store

if TYPE_CHECKING:
    import pyarrow

    from ..people.measure import Place

Found = TypeVar("Found")


class DuckDB:
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

    excess: tuple[str, ...] = ()

    def __init__(self, source: Local, schema: Table, memory: int | None = None) -> None:
        self._unit = schema.unit.lower()
        self._lock = threading.Lock()
        self._bench: Bench | None = None
        stored = {column.name.lower(): column.name for column in _stored(schema)}
        paths = paths_of(source)
        self.files: Known | None = None
        watched = Watched(paths)  # before a byte of them is read
        self._store: Store | None = (
            Borrowed(source.relation)
            if isinstance(source, Relation)
            else Sandbox(source, stored, schema.separator, memory)
        )
        self._readable = self._store.readable
        # names as they are spelled, for so are keys of JSON; and whether rows are compared
        how = [self._readable.how, *(f"{c.name} {c.type}" for c in _stored(schema))]
        how += [f"rows {schema.rows}", f"{schema.neighbours} {schema.unit}"]
        if paths:
            self.files = watched.read_as("\n".join(how))
        try:
            held = {column.name.lower(): _held(column, self._store) for column in _stored(schema)}
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
                raise refuse("engine.changed-while-it-was-read", names=names)
            return found

        return self._with_store(read)

    def measure(self, request: Request) -> Cells:
        """The measures of every cell that has rows."""
        if request.people is not None:
            from ..people.measure import measure_people

            return self._with_store(lambda store: measure_people(request, self._people(store)))
        statement = write(request, self._read_by(request))
        return statement.cells(self._run(statement.sql))

    def ranks(self, request: RankRequest) -> Profiles:
        """The profile of every cell with rows that have the column."""
        if request.people is not None:
            from ..people.measure import rank_people

            return self._with_store(lambda store: rank_people(request, self._people(store)))
        from ..sql.rank import profiles

        return profiles(request, self._read_by(request), self._run)

    def contributions(self, request: ContributionRequest) -> Profile:
        """The profile of one number for each unit."""
        from ..people.contribution import contributions

        return self._with_store(lambda store: contributions(request, self._table, store.run))

    def look_up(self, unit: str, name: str, column: str) -> list[int | None]:
        """The values of a column in the first two rows of one unit."""
        rows = self._run(write_lookup(unit, name, column, self._table))
        return [None if value is None else int(value) for (value,) in rows]

    def column_steps(self, *columns: str) -> NDArray[np.int64]:
        """The logical values of the rows that have all these columns, sorted."""
        sql = write_counts(columns, self._table)
        table = self._with_store(lambda store: store.arrow(sql))
        *values, counts = (column.to_numpy() for column in table.columns)
        order = np.lexsort(values[::-1])
        return np.repeat(np.stack(values, axis=1)[order], counts[order], axis=0)

    def read_all(self) -> Rows:
        """Every row, for those who publish the table."""
        from .rows import read_rows

        return self._with_store(lambda store: read_rows(self._table, store.arrow))

    def hand_over(
        self, take: Callable[[pyarrow.RecordBatch], None], batch: int, *, names: bool = False
    ) -> HandedOver:
        """Every row once, in batches."""
        from .rows import hand_over

        return self._with_store(
            lambda store: hand_over(self._table, store, take, batch, names=names)
        )

    def close(self) -> None:
        """Lets go of files and connections, and removes what was put on disk."""
        with self._lock:
            if self._store is not None:
                self._store.close()
            if self._bench is not None:
                self._bench.close()
            self._store = self._bench = None

    def _read_by(self, request: Request | RankRequest) -> Stored:
        """The table that a request is about: that of rows, or that of units."""
        if request.units is None:
            return self._table
        from ..people.persons import persons_table

        return persons_table(request.units, self._table)

    def _people(self, store: Store) -> Place:
        from ..people.crowd import Reader
        from ..people.measure import Place

        reader = Reader(store.run, store.arrow)
        return Place(self._table, reader, self._opened_bench, DUCKDB, SYSTEM)

    def _opened_bench(self) -> Bench:
        self._bench = self._bench or Bench()
        return self._bench

    def _run(self, sql: str) -> list[tuple[Any, ...]]:
        return self._with_store(lambda store: store.run(sql))

    def _with_store(self, work: Callable[[Store], Found]) -> Found:
        with self._lock:
            try:
                found = None if self._store is None else work(self._store)
            except Refused:
                raise
            except Exception:
                found = None
        # raised out of reach of the error above, so that none of DuckDB's is its cause or context
        if found is None:
            raise EngineFault(FAULT)
        return found

    def _check(self) -> None:
        """Refuses now, from schema and types, what could not be computed later."""
        for column in self._table.declared.values():
            if isinstance(column, Identifier):
                if column.name.lower() == self._unit:
                    Logical(self._table).unit(column.name)
                continue
            try:
                Logical(self._table).value(column.name)
            except InvalidTable as refused:
                what = f"`{column.name}` cannot be computed exactly: {refused.what}"
                raise InvalidTable(what, refused.allowed, refused.fix, column=column.name) from None


def _stored(schema: Table) -> list[Column]:
    """The declared columns that a source must have: all but the derived ones."""
    return [
        column
        for column in schema.columns.values()
        if not (isinstance(column, Number) and column.expression is not None)
    ]


def _held(column: Column, store: Store) -> Held:
    for name, stored in store.readable.columns:
        if name.lower() == column.name.lower():
            words = store.enumeration(column.categories) if isinstance(column, Category) else ""
            return Held(column, name, read_as(column, stored), words)
    raise refuse("engine.source-has-no-column", column=column.name)
