"""The engine for a table that stays in a PostgreSQL server: the server counts, we add the noise."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import psycopg
from numpy.typing import NDArray

from ...errors import EngineFault, InvalidTable, Refused, refuse
from ...noise.source import SYSTEM
from ...schema import Category, Column, Identifier, Number, Table
from ..contract import FAULT, Cells, HandedOver, Profile, Profiles, Rows, Validated
from ..duckdb.dialect import DUCKDB
from ..duckdb.sandbox import Bench
from ..request import ContributionRequest, RankRequest, Request
from ..source.location import Server
from ..sql.logical import Held, Logical, Stored
from ..sql.statement import write, write_counts, write_lookup
from ..storage import read_as
from ..watch import Known
from .catalogue import Found as FoundTable
from .catalogue import find_readable, find_table
from .dialect import POSTGRES
from .grants import Excess, excess_of
from .mark import InServer
from .session import Session, Snapshot

if TYPE_CHECKING:
    import pyarrow

    from ..people.measure import Place

Made = TypeVar("Made")
TIMEOUT = 600
"""Seconds that one statement may take."""


class Postgres:
    """Measures requests on a table or view in a PostgreSQL database.

    Guarantee
        As `Engine`: exact integers that depend on the multiset of rows only, and one `EngineFault`
        of fixed text for whatever goes wrong. All statements of a question see one state of the
        table. Nothing is written, and only what was counted leaves the server; rows do where people
        have limits, and where a table is published. A column that is not declared is invisible.

    Parameters
        source: what `locate` found.
        schema: what is declared about the table.
    """

    def __init__(self, source: Server, schema: Table) -> None:
        self._unit = schema.unit.lower()
        self._lock = threading.Lock()
        self._bench: Bench | None = None
        self._session: Session | None = Session(source.address, TIMEOUT)
        try:
            self._name = source.table
            found, excess = self._session.look(lambda state: _opened(state, self._name))
            held = {column.name.lower(): _held(column, found) for column in _stored(schema)}
            self._table = Stored(found.sql, held, schema.columns, POSTGRES)
            self._found = found
            self._check()
            self.excess = tuple(right.what for right in excess)
            how = [f"{column.name} {column.type}" for column in _stored(schema)]
            how += [f"rows {schema.rows}", f"{schema.neighbours} {schema.unit}"]
            self.files: Known | None = InServer(found.sql, self._described, "\n".join(how))
        except BaseException:
            self.close()
            raise

    def validate(self) -> Validated:
        """Reads every row once, in the way in which every question reads them."""
        from .rows import validate

        digest = "" if self.files is None else self.files.digest()

        def read(state: Snapshot) -> Validated | None:
            with suppress(psycopg.DataError):
                return validate(self._table, state, digest)
            return None

        found = self._with_state(lambda state: (read(state),))[0]
        if found is None:
            raise refuse("engine.view-fails", table=self._found.sql)
        return found

    def measure(self, request: Request) -> Cells:
        """The measures of every cell that has rows."""
        if request.people is not None:
            from ..people.measure import measure_people

            return self._with_state(lambda state: measure_people(request, self._people(state)))
        statement = write(request, self._read_by(request))
        return statement.cells(self._with_state(lambda state: state.run(statement.sql)))

    def ranks(self, request: RankRequest) -> Profiles:
        """The profile of every cell with rows that have the column."""
        if request.people is not None:
            from ..people.measure import rank_people

            return self._with_state(lambda state: rank_people(request, self._people(state)))
        from ..sql.rank import profiles

        table = self._read_by(request)
        return self._with_state(lambda state: profiles(request, table, state.run))

    def contributions(self, request: ContributionRequest) -> Profile:
        """The profile of one number for each unit."""
        from ..people.contribution import contributions

        return self._with_state(lambda state: contributions(request, self._table, state.run))

    def look_up(self, unit: str, name: str, column: str) -> list[int | None]:
        """The values of a column in two rows of one unit."""
        sql = write_lookup(unit, name, column, self._table)
        rows = self._with_state(lambda state: state.run(sql))
        return [None if value is None else int(value) for (value,) in rows]

    def column_steps(self, *columns: str) -> NDArray[np.int64]:
        """The logical values of the rows that have all these columns, sorted."""
        sql = write_counts(columns, self._table)
        rows = self._with_state(lambda state: state.run(sql))
        found = np.array(sorted(rows), np.int64).reshape(-1, len(columns) + 1)
        return np.repeat(found[:, :-1], found[:, -1], axis=0)

    def read_all(self) -> Rows:
        """Every row, for those who publish the table."""
        from .rows import read_rows

        return self._with_state(lambda state: read_rows(self._table, self._found, state))

    def hand_over(
        self, take: Callable[[pyarrow.RecordBatch], None], batch: int, *, names: bool = False
    ) -> HandedOver:
        """Every row once, in batches."""
        from .rows import hand_over

        return self._with_state(
            lambda state: hand_over(self._table, self._found, state, take, batch, names=names)
        )

    def close(self) -> None:
        """Lets go of the connection, and of what was put on disk."""
        with self._lock:
            if self._session is not None:
                self._session.close()
            if self._bench is not None:
                self._bench.close()
            self._session = self._bench = None

    def _described(self) -> str:
        """What the catalogue says of the table now; nothing if it is gone."""
        with suppress(Refused):
            return self._with_state(lambda state: find_table(state, self._name).words)
        return ""

    def _read_by(self, request: Request | RankRequest) -> Stored:
        """The table that a request is about: that of rows, or that of units."""
        if request.units is None:
            return self._table
        from ..people.persons import persons_table

        return persons_table(request.units, self._table)

    def _people(self, state: Snapshot) -> Place:
        from ..people.crowd import Reader
        from ..people.measure import Place

        reader = Reader(state.run, state.arrow)
        return Place(self._table, reader, self._opened_bench, DUCKDB, SYSTEM)

    def _opened_bench(self) -> Bench:
        self._bench = self._bench or Bench()
        return self._bench

    def _with_state(self, work: Callable[[Snapshot], Made]) -> Made:
        with self._lock:
            found = None
            if self._session is not None:
                try:
                    with self._session.snapshot() as state:
                        found = work(state)
                except InvalidTable as refusal:
                    if refusal.code not in _OF_THE_SERVER:
                        raise
                except Refused:
                    raise
                except Exception:
                    found = None
        # raised out of reach of the error above, so that none of the server's words are its cause
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


_OF_THE_SERVER = {"server-away"}
"""Refusals of opening that are a failure once a question was paid."""


def _opened(state: Snapshot, name: tuple[str, ...]) -> tuple[FoundTable, tuple[Excess, ...]]:
    found = find_readable(state, name)
    return found, excess_of(state, found)


def _stored(schema: Table) -> list[Column]:
    """The declared columns that a source must have: all but the derived ones."""
    return [
        column
        for column in schema.columns.values()
        if not (isinstance(column, Number) and column.expression is not None)
    ]


def _held(column: Column, table: FoundTable) -> Held:
    for name, stored in table.columns:
        if name.lower() == column.name.lower():
            words = POSTGRES.words(column.categories) if isinstance(column, Category) else ""
            return Held(column, name, read_as(column, stored), words)
    for name in table.closed:
        if name.lower() == column.name.lower():
            own = POSTGRES.quoted(name)
            facts = {"column": own, "table": table.sql, "role": table.role}
            raise refuse("engine.grant-on-column-is-missing", **facts)
    raise refuse("engine.source-has-no-column", column=column.name)
