"""The part that all engines share whose tables are read by SQL."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import EngineFault, InvalidTable, Refused, refuse
from ..noise.source import SYSTEM
from ..schema import Category, Column, Identifier, Number, Table
from .contract import FAULT, Cells, HandedOver, Profile, Profiles, Rows
from .fingerprint import Known
from .request import ContributionRequest, RankRequest, Request
from .sql.dialect import Dialect
from .sql.logical_table import Held, Logical, Stored
from .sql.order_statistics import profiles
from .sql.row_checks import Statements, Types, hand_over, read_rows
from .sql.statement import write, write_counts, write_lookup
from .storage import Storage, read_as
from .waiting import waiting

if TYPE_CHECKING:
    import pyarrow

    from .contribution_bounds.measure import Bench, Place

Made = TypeVar("Made")
State = TypeVar("State", bound=Statements)


class Relational(ABC, Generic[State]):
    """Measures requests on one table by SQL.

    Guarantee
        As `Engine`. All statements of a question see what `_state` opened, one question at a time.
        Every failure but a refusal is an `EngineFault` of one text, out of reach of the engine's
        own words.

    title: the server or cluster that is waited for; empty if rows are read in this process.

    Parameters
        unit: the declared unit of the table.
        bench: opens the database that measures the rows chosen of people; `spoken` is its dialect.
    """

    files: Known | None = None
    excess: tuple[str, ...] = ()
    reopens: bool = True
    title: str = ""
    _table: Stored
    _session: Any = None

    def __init__(self, unit: str, bench: Callable[[], Bench], spoken: Dialect) -> None:
        self._unit = unit.lower()
        self._lock = threading.Lock()
        self._bench: Bench | None = None
        self._new_bench, self._spoken = bench, spoken

    @abstractmethod
    def _state(self) -> AbstractContextManager[State]:
        """Where the statements of one question run; fails if the engine was closed."""

    @abstractmethod
    def _types(self, state: State) -> Types:
        """How the source stores each column."""

    def measure(self, request: Request) -> Cells:
        if request.people is not None:
            from .contribution_bounds.measure import measure_people

            return self._within(lambda state: measure_people(request, self._people(state)))
        statement = write(request, self._read_by(request))
        return statement.cells(self._run(statement.sql))

    def ranks(self, request: RankRequest) -> Profiles:
        if request.people is not None:
            from .contribution_bounds.measure import rank_people

            return self._within(lambda state: rank_people(request, self._people(state)))
        table = self._read_by(request)
        return self._within(lambda state: profiles(request, table, state.run))

    def contributions(self, request: ContributionRequest) -> Profile:
        from .contribution_bounds.unit_totals import contributions

        return self._within(lambda state: contributions(request, self._table, state.run))

    def look_up(self, unit: str, name: str, column: str) -> list[int | None]:
        rows = self._run(write_lookup(unit, name, column, self._table))
        return [None if value is None else int(value) for (value,) in rows]

    def column_steps(self, *columns: str) -> NDArray[np.int64]:
        sql = write_counts(columns, self._table)
        table = self._within(lambda state: state.arrow(sql))
        *values, counts = (column.to_numpy() for column in table.columns)
        order = np.lexsort(values[::-1])
        return np.repeat(np.stack(values, axis=1)[order], counts[order], axis=0)

    def read_all(self) -> Rows:
        return self._within(lambda state: read_rows(self._table, state, self._types(state)))

    def hand_over(
        self, take: Callable[[pyarrow.RecordBatch], None], batch: int, *, names: bool = False
    ) -> HandedOver:
        return self._within(
            lambda state: hand_over(
                self._table, state, self._types(state), take, batch, names=names
            )
        )

    def close(self) -> None:
        """Closes files and connections, and removes files of our own."""
        with self._lock:
            for opened in (self._session, self._bench):
                if opened is not None:
                    opened.close()
            self._session = self._bench = None

    def _read_by(self, request: Request | RankRequest) -> Stored:
        """The table that a request is about: of rows, or of units."""
        if request.units is None:
            return self._table
        from .contribution_bounds.unit_totals import persons_table

        return persons_table(request.units, self._table)

    @property
    def _optional_unit(self) -> str | None:
        """The column of the unit, if rows may lack it: no value replaces a missing one."""
        held = self._table.held.get(self._unit)
        return None if held is None or held.column.missing is not None else held.column.name

    def _people(self, state: State) -> Place:
        from .contribution_bounds.measure import Place
        from .contribution_bounds.rows_by_unit import Reader

        reader = Reader(state.run, state.arrow)
        return Place(self._table, reader, self._opened_bench, self._spoken, SYSTEM)

    def _opened_bench(self) -> Bench:
        self._bench = self._bench or self._new_bench()
        return self._bench

    def _run(self, sql: str) -> Sequence[tuple[Any, ...]]:
        return self._within(lambda state: state.run(sql))

    def _within(self, work: Callable[[State], Made]) -> Made:
        with self._lock:
            try:
                with waiting(self.title), self._state() as state:
                    return work(state)
            except Refused:
                raise
            except Exception:  # noqa: S110
                pass
        # raised out of reach of the error above, so that none of the engine's words are its cause
        raise EngineFault(FAULT)

    def _check(self) -> None:
        """Refuses, from schema and types, what no question could compute."""
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


def stored_columns(schema: Table) -> list[Column]:
    """The declared columns that a source must have: all but the derived ones."""
    return [
        column
        for column in schema.columns.values()
        if not (isinstance(column, Number) and column.expression is not None)
    ]


def how_read(schema: Table) -> list[str]:
    """How a table is read, in words: its columns as they are spelled, which decides among keys of
    JSON, and whether rows are compared."""
    columns = [f"{column.name} {column.type}" for column in stored_columns(schema)]
    return [*columns, f"rows {schema.rows}", f"{schema.neighbours} {schema.unit}"]


def held_as(
    column: Column,
    columns: Iterable[tuple[str, Storage]],
    words: Callable[[tuple[str, ...]], str],
) -> Held:
    """A declared column as a source stores it; refused unless exactly one of the source's columns
    has the name, and can be read as declared.

    Parameters
        columns: the names of the source's columns, and how each is stored.
        words: gives what the dialect needs to number categories.
    """
    found = [one for one in columns if one[0].lower() == column.name.lower()]
    if len(found) > 1:
        raise refuse("engine.ambiguous-column-case", column=column.name, many=len(found))
    if not found:
        raise refuse("engine.source-lacks-column", column=column.name)
    ((name, stored),) = found
    words_of = words(column.categories) if isinstance(column, Category) else ""
    return Held(column, name, read_as(column, stored), words_of)
