"""The engine for a table in a PostgreSQL server: the server counts, we add the noise.

draft of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psycopg

from ...errors import InvalidTable, Refused, refuse
from ...schema import Column, Table
from ..contract import Rows, Validated
from ..duckdb.dialect import DUCKDB
from ..duckdb.profile import LOOKED_AT, Described, describe_arrow
from ..duckdb.sandbox import ArrowBench
from ..fingerprint import InServer
from ..source import count_queries
from ..source.count_queries import Cell, Tally
from ..source.location import Server
from ..sql.logical_table import Held, Stored
from ..sql.row_checks import Types, checks_of, unfilled
from ..sql.row_checks import read_rows as read_all
from ..sql_engine import Relational, held_as, how_read, stored_columns
from ..storage import Day, Fixed, Floating, Integer, Moment, Opaque, Storage, Truth, Written
from .catalogue import Excess, Found, excess_of, find_readable, find_table
from .dialect import POSTGRES, ZONED
from .session import ServerSession, Snapshot

if TYPE_CHECKING:
    import pyarrow


def validate(table: Stored, state: Snapshot, digest: str) -> Validated:
    """Reads every declared column of every row; what is found is for the holder alone.

    Parameters
        digest: by what the table is known again.
    """
    logical = unfilled(table)
    checks = checks_of(logical)
    # each value is read, though it needs no check: a view may fail to compute it
    read = [f"COUNT({logical.raw(held.column.name)})" for held in logical.table.held.values()]
    (row,) = state.run(logical.select([*checks.chosen(), *read]))
    return checks.validated(row, digest)


def read_rows(table: Stored, found: Found, state: Snapshot) -> Rows:
    """Every row, as `Engine.read_all` says."""
    return read_all(table, state, types_of(found))


def types_of(found: Found) -> Types:
    """How the server stores each column."""
    names = dict(found.types)

    def type_of(held: Held) -> pyarrow.DataType | None:
        return _arrow_type(held.stored, names[held.name])

    return type_of


def _arrow_type(stored: Storage, name: str) -> pyarrow.DataType | None:
    """The type in which values leave again; None for text that was read as something else."""
    import pyarrow

    plain: dict[str, Any] = {
        "smallint": pyarrow.int16,
        "integer": pyarrow.int32,
        "bigint": pyarrow.int64,
        "real": pyarrow.float32,
        "double precision": pyarrow.float64,
        "boolean": pyarrow.bool_,
        "date": pyarrow.date32,
    }
    if isinstance(stored, Fixed):
        return pyarrow.decimal128(stored.width, stored.scale)
    if isinstance(stored, Moment):
        return pyarrow.timestamp("us", "UTC" if stored.type == ZONED else None)
    if isinstance(stored, Integer | Floating | Truth | Day):
        return plain[name]()
    if isinstance(stored, Written):
        return pyarrow.float64() if name.startswith("numeric") else None
    return pyarrow.string()


# A table of a server as Arrow columns, without a schema: for those who evaluate it, and for the.

TIMEOUT = 600
"""Seconds that one statement may take."""


def open_table(
    source: Server,
) -> tuple[tuple[str, ...], Callable[[Sequence[str]], pyarrow.Table]]:
    """The names of a table's columns, and how they are read; refused if it is no table.

    Decimals are read as doubles, and what the server stores in types of its own as text.
    """
    found = look_at(source)
    read = _reader(source, found)
    return tuple(name for name, _ in found.columns), lambda names: read(names, None)


def describe(source: Server, *, values: bool) -> list[Described]:
    """The columns of a table or view; with `values`, also what its rows hold."""
    found = look_at(source)
    names = [name for name, stored in found.columns if not isinstance(stored, Opaque)]
    read = _reader(source, found)
    return describe_arrow(read(names, LOOKED_AT), read(names, None) if values else None)


def look_at(source: Server) -> Found:
    """What the catalogue says of the table; refused if it is none, or may not be read."""
    session = ServerSession(source.address, TIMEOUT)
    try:
        return session.look(lambda state: find_readable(state, source.table))
    finally:
        session.close()


def _reader(source: Server, found: Found) -> Callable[[Sequence[str], int | None], pyarrow.Table]:
    """What gives the columns of these names, of so many rows or of all."""
    stored = dict(found.columns)

    def chosen(name: str) -> str:
        own = POSTGRES.quoted(name)
        return f"{POSTGRES.seen(own, stored[name])} AS {own}"

    def load(names: Sequence[str], most: int | None) -> pyarrow.Table:
        sql = f"SELECT {', '.join(map(chosen, names))} FROM {found.sql}"  # noqa: S608
        sql += "" if most is None else f" LIMIT {most}"
        again = ServerSession(source.address, TIMEOUT)
        with closing(again), suppress(Exception), again.snapshot() as state:
            return state.arrow(sql)
        # raised out of reach of the error above, of psycopg or of ADBC, which may quote a row
        raise refuse("engine.server-statement-timeout")

    return load


# -- Counts of a table in a PostgreSQL server, made there, in one state of the table ---------------


@contextmanager
def open_tally(source: Server) -> Iterator[Tally]:
    """The counts of a table or view, as long as the context lasts; refused if it is none.

    All statements see the table as it was when the first began, whatever is written meanwhile.
    """
    session, found = ServerSession(source.address, TIMEOUT), None
    with ExitStack() as opened:
        opened.callback(session.close)
        with suppress(psycopg.Error):
            state = opened.enter_context(session.snapshot())
            found = find_readable(state, source.table)
        # raised out of reach of the error above, whose words are the server's
        if found is None:
            raise refuse("engine.postgresql-unreachable")
        cells = {name: Cell(POSTGRES.quoted(name), stored) for name, stored in found.columns}
        yield Tally("PostgreSQL", POSTGRES, found.sql, cells, lambda sql: _run(state, sql))


def _run(state: Snapshot, sql: str) -> Iterator[pyarrow.RecordBatch]:
    with suppress(Exception):  # of psycopg or of ADBC
        yield from state.batches(sql, count_queries.BATCH)
        return
    # raised out of reach of the error above, which may quote a row
    raise refuse("engine.server-statement-timeout")


# The engine for a table that stays in a PostgreSQL server: the server counts, we add the noise.

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
        super().__init__(schema.unit, ArrowBench, DUCKDB)
        self._session: ServerSession | None = ServerSession(source.address, TIMEOUT)
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

        return self._within(lambda state: read_rows(self._table, self._found, state))

    def _types(self, state: Snapshot) -> Types:

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
