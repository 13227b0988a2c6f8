"""The engine that comes with Tenue: DuckDB, inside the process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from ...errors import EngineFault, InvalidTable, Refused, refuse
from ...noise.source import SYSTEM
from ...schema import Category, Column, Identifier, Number, Table
from ..contract import Cells, Profiles
from ..people.crowd import Crowd, Reader, passes
from ..request import People, RankRequest, Request
from ..source.location import Relation, Source
from ..sql.logical import Held, Logical
from ..sql.lookup import lookup_sql
from ..sql.rank import profiles, profiles_of_people
from ..sql.statement import Statement, write, write_for_people
from ..storage import Storage, check_readable
from .bench import Bench
from .sandbox import Borrowed, Rows, Sandbox, Store

if TYPE_CHECKING:
    import pyarrow


FAULT = "the engine did not answer"
"""All that is ever said of a failure: DuckDB's own words may quote a row."""

Found = TypeVar("Found")


class DuckDB:
    """Measures requests on one table.

    Guarantee
        As `Engine`: exact integers that depend on the multiset of rows only, and one `EngineFault`
        of fixed text for whatever goes wrong. Opening looks at names, types and footers, never at
        a row. A column that is not declared is invisible.

    Parameters
        source: what `locate` found.
        schema: what is declared about the table.

    Files, databases and data frames are read in a sandbox. A relation is read through the holder's
    own connection, which must not be used elsewhere while a question runs.
    """

    def __init__(self, source: Source, schema: Table) -> None:
        self._declared = schema.columns
        self._unit = schema.unit.lower()
        self._lock = threading.Lock()
        self._bench: Bench | None = None
        stored = {column.name.lower(): column.name for column in _stored(schema)}
        self._store: Store | None = (
            Borrowed(source.relation) if isinstance(source, Relation) else Sandbox(source, stored)
        )
        try:
            self._source = self._store.sql
            self._held = {
                column.name.lower(): _held(column, self._store) for column in _stored(schema)
            }
            self._check()
        except BaseException:
            self.close()
            raise

    def measure(self, request: Request) -> Cells:
        """The measures of every cell that has rows."""
        if request.people is not None:
            return self._measured_people(request, request.people)
        statement = write(request, self._source, self._held, self._declared)
        return _cells(statement, self._run(statement.sql))

    def ranks(self, request: RankRequest) -> Profiles:
        """The profile of every cell with rows that have the column."""
        table = self._source, self._held, self._declared
        people = request.people
        if people is None:
            return profiles(request, *table, self._run)

        def of_people(store: Store) -> Profiles:
            bench = self._cleared()
            try:
                choose = _chooser(people, store)
                return profiles_of_people(request, people, *table, choose, bench)
            finally:
                bench.clear()

        return self._with_store(of_people)

    def look_up(self, unit: str, name: str, column: str) -> list[int | None]:
        """The values of a column in the first two rows of one unit."""
        logical = Logical(self._source, self._held, self._declared)
        rows = self._run(lookup_sql(unit, name, column, logical))
        return [None if value is None else int(value) for (value,) in rows]

    def close(self) -> None:
        """Lets go of files and connections, and removes what was put on disk."""
        with self._lock:
            if self._store is not None:
                self._store.close()
            if self._bench is not None:
                self._bench.close()
            self._store = self._bench = None

    def _measured_people(self, request: Request, people: People) -> Cells:
        asked = write_for_people(request, people, self._source, self._held, self._declared)
        if asked.everybody is not None:
            return _cells(asked.everybody, self._run(asked.everybody.sql))

        def of_people(store: Store) -> Cells:
            found: dict[tuple[int, ...], list[int]] = {}
            bench = self._cleared()
            for table in _chooser(people, store)(asked.rows):
                for statement, places in asked.chosen:
                    cells = _cells(statement, bench.select(table, statement.sql))
                    for key, values in cells.items():
                        numbers = found.setdefault(key, [0] * len(request.measures))
                        for place, value in zip(places, values, strict=True):
                            # a unit is in one pass only, so that units add up as rows do
                            numbers[place] += value
            return {key: tuple(numbers) for key, numbers in found.items()}

        return self._with_store(of_people)

    def _cleared(self) -> Bench:
        self._bench = self._bench or Bench()
        self._bench.clear()
        return self._bench

    def _run(self, sql: str) -> Rows:
        return self._with_store(lambda store: store.run(sql))

    def _with_store(self, work: Callable[[Store], Found]) -> Found:
        found = self._tried(work)
        if found is None:
            raise EngineFault(FAULT)
        return found

    def _tried(self, work: Callable[[Store], Found]) -> Found | None:
        # None instead of an error, so that none of DuckDB's is the cause or context of ours
        with self._lock:
            try:
                return None if self._store is None else work(self._store)
            except Refused:
                raise
            except Exception:
                return None

    def _check(self) -> None:
        """Refuses now, from schema and types, what could not be computed later."""
        for column in self._declared.values():
            if isinstance(column, Identifier):
                if column.name.lower() == self._unit:
                    Logical(self._source, self._held, self._declared).unit(column.name)
                continue
            try:
                Logical(self._source, self._held, self._declared).value(column.name)
            except InvalidTable as refused:
                what = f"`{column.name}` cannot be computed exactly: {refused.what}"
                raise InvalidTable(what, refused.allowed, refused.fix, column=column.name) from None


def _cells(statement: Statement, rows: Rows) -> dict[tuple[int, ...], tuple[int, ...]]:
    cells = {}
    for row in rows:
        key, values = row[: statement.keys], row[statement.keys :]
        if None not in key and (statement.keys or values[-1]):
            measured = (int(value or 0) for value in values[: statement.measures])
            cells[tuple(map(int, key))] = tuple(measured)
    return cells


def _chooser(people: People, store: Store) -> Callable[[Crowd], Iterable[pyarrow.Table]]:
    return lambda rows: passes(people, rows, Reader(store.run, store.arrow), SYSTEM)


def _stored(schema: Table) -> list[Column]:
    """The declared columns that a source must have: all but the derived ones."""
    return [
        column
        for column in schema.columns.values()
        if not (isinstance(column, Number) and column.expression is not None)
    ]


def _held(column: Column, store: Store) -> Held:
    name, stored = _found(column, store.columns)
    check_readable(column, stored)
    enum = store.enumeration(column.categories) if isinstance(column, Category) else ""
    return Held(column, name, stored, enum)


def _found(column: Column, columns: tuple[tuple[str, Storage], ...]) -> tuple[str, Storage]:
    for name, stored in columns:
        if name.lower() == column.name.lower():
            return name, stored
    raise refuse("engine.source-has-no-column", column=column.name)
