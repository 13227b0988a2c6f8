"""The engine for a table that stays in a PostgreSQL server: the server counts, we add the noise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg

from ...errors import InvalidTable, Refused, refuse
from ...schema import Column, Table
from ..contract import Rows, Validated
from ..duckdb.dialect import DUCKDB
from ..duckdb.sandbox import Bench
from ..relational import Relational, held_as, how_read, stored_columns
from ..server import InServer
from ..source.location import Server
from ..sql.logical import Held, Stored
from ..sql.rows import Types
from .catalogue import Found, find_readable, find_table
from .dialect import POSTGRES
from .grants import Excess, excess_of
from .session import Session, Snapshot

TIMEOUT = 600
"""Seconds that one statement may take."""
_AWAY = "server-away"


class Postgres(Relational[Snapshot]):
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
        super().__init__(schema.unit, Bench, DUCKDB)
        self._session: Session | None = Session(source.address, TIMEOUT)
        try:
            self._name = source.table
            found, excess = self._session.look(lambda state: _opened(state, self._name))
            held = {column.name.lower(): _held(column, found) for column in stored_columns(schema)}
            self._table = Stored(found.sql, held, schema.columns, POSTGRES)
            self._found = found
            self._check()
            self.excess = tuple(right.what for right in excess)
            self.files = InServer(found.sql, self._described, "\n".join(how_read(schema)))
        except BaseException:
            self.close()
            raise

    def validate(self) -> Validated:
        """Reads every row once, in the way in which every question reads them."""
        from .rows import validate

        digest = "" if self.files is None else self.files.digest()

        def read(state: Snapshot) -> Validated | None:
            try:
                return validate(self._table, state, digest)
            except psycopg.OperationalError:  # of the server, not of a row
                raise
            except psycopg.Error:
                return None

        found = self._within(lambda state: (read(state),))[0]
        if found is None:
            raise refuse("engine.failing-view", table=self._found.sql)
        return found

    def read_all(self) -> Rows:
        """Every row, for those who publish the table."""
        from .rows import read_rows

        return self._within(lambda state: read_rows(self._table, self._found, state))

    def _types(self, state: Snapshot) -> Types:
        from .rows import types_of

        return types_of(self._found)

    def _let_go(self) -> None:
        if self._session is not None:
            self._session.close()
        self._session = None

    def _described(self) -> str:
        """What the catalogue says of the table now; nothing if it is gone."""
        with suppress(Refused):
            return self._within(lambda state: find_table(state, self._name).words)
        return ""

    @contextmanager
    def _state(self) -> Iterator[Snapshot]:
        if self._session is None:
            raise ConnectionError
        try:
            with self._session.snapshot() as state:
                yield state
        except InvalidTable as refusal:
            if refusal.code != _AWAY:
                raise
            raise ConnectionError from None  # a failure: a question may have been paid


def _opened(state: Snapshot, name: tuple[str, ...]) -> tuple[Found, tuple[Excess, ...]]:
    found = find_readable(state, name)
    return found, excess_of(state, found)


def _held(column: Column, table: Found) -> Held:
    for name in table.closed:
        if name.lower() == column.name.lower():
            own = POSTGRES.quoted(name)
            facts = {"column": own, "table": table.sql, "role": table.role}
            raise refuse("engine.missing-column-grant", **facts)
    return held_as(column, table.columns, POSTGRES.words)
