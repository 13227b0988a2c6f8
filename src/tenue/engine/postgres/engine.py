"""The engine for a table in a PostgreSQL server: the server counts, we add the noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import psycopg

from ...errors import InvalidTable, Refused, refuse
from ...schema import Column, Table
from ..contract import Validated
from ..duckdb.dialect import DUCKDB
from ..duckdb.profile import LOOKED_AT, Described, describe_arrow
from ..duckdb.sandbox import ArrowBench
from ..fingerprint import InServer
from ..registry import Load
from ..source import count_queries
from ..source.count_queries import Cell, Tally
from ..source.location import Server
from ..sql.logical_table import Held, Stored
from ..sql.row_checks import Types, checks_of, unfilled
from ..sql_engine import Relational, held_as, how_read, stored_columns
from ..storage import Day, Fixed, Floating, Integer, Moment, Opaque, Truth, Written
from .catalogue import Excess, Found, excess_of, find_readable, find_table
from .dialect import DECIMAL, POSTGRES, WRITTEN_DECIMAL, ZONED
from .session import ServerSession, Snapshot

if TYPE_CHECKING:
    import pyarrow

TIMEOUT = 600
"""Seconds that one statement may take."""
_AWAY = "server-away"
_ARROW = {
    "smallint": "int16",
    "integer": "int32",
    "bigint": "int64",
    "real": "float32",
    "double precision": "float64",
    "boolean": "bool_",
    "date": "date32",
}
"""The Arrow type of each plain type."""


def open_table(source: Server) -> tuple[tuple[str, ...], Load]:
    """The names of a table's columns, and how they are read; refused if it is no table.

    Decimals are read as doubles, and types of the server's own as text.
    """
    found, read = _opened(source)
    return tuple(name for name, _ in found.columns), read


def describe(source: Server, *, values: bool) -> list[Described]:
    """The columns of a table or view; with `values`, also the values that its rows have."""
    found, read = _opened(source)
    names = [name for name, stored in found.columns if not isinstance(stored, Opaque)]
    return describe_arrow(read(names, LOOKED_AT), read(names) if values else None)


def _opened(source: Server) -> tuple[Found, Callable[..., pyarrow.Table]]:
    """The catalogue's entry of the table, refused if it may not be read, and how to read its
    columns, of all rows or the first `most`."""
    with closing(ServerSession(source.address, TIMEOUT)) as session:
        found = session.look(lambda state: find_readable(state, source.table))
    stored = dict(found.columns)

    def chosen(name: str) -> str:
        own = POSTGRES.quoted(name)
        return f"{POSTGRES.seen(own, stored[name])} AS {own}"

    def load(names: Sequence[str], most: int | None = None) -> pyarrow.Table:
        sql = f"SELECT {', '.join(map(chosen, names))} FROM {found.sql}"  # noqa: S608
        sql += "" if most is None else f" LIMIT {most}"
        again = ServerSession(source.address, TIMEOUT)
        with closing(again), suppress(Exception), again.snapshot() as state:
            return state.arrow(sql)
        # raised out of reach of the error above, of psycopg or of ADBC, which may quote a row
        raise refuse("engine.server-statement-timeout")

    return found, load


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


class Postgres(Relational[Snapshot]):
    """Measures requests on a table or view in a PostgreSQL database.

    Guarantee
        As `Engine`: exact integers that depend on the multiset of rows only, and one `EngineFault`
        of fixed text for every failure. All statements of a question see one state of the table.
        Nothing is written, and only counts leave the server; rows do where people have contribution
        limits, and where a table is published. A column that is not declared is invisible.

    Parameters
        source: what `locate` found.
        schema: what is declared about the table.
    """

    title = "PostgreSQL"
    _session: ServerSession | None

    def __init__(self, source: Server, schema: Table) -> None:
        super().__init__(schema.unit, ArrowBench, DUCKDB)
        self._session = ServerSession(source.address, TIMEOUT)
        try:
            self._name = source.table
            found, excess = self._session.look(self._looked_up)
            held = {column.name.lower(): _held(column, found) for column in stored_columns(schema)}
            self._found = found
            self._table = Stored(found.sql, held, schema.columns, POSTGRES)
            self._check()
            self.excess = tuple(right.what for right in excess)
            self.files = InServer(found.sql, self._described, "\n".join(how_read(schema)))
        except BaseException:
            self.close()
            raise

    def validate(self) -> Validated:
        """Reads every row once, in the way in which every question reads them."""
        digest = "" if self.files is None else self.files.digest()
        logical = unfilled(self._table)
        checks = checks_of(logical, self._optional_unit)
        # each value is read, though it needs no check: a view may fail to compute it
        read = [f"COUNT({logical.raw(held.column.name)})" for held in logical.table.held.values()]
        sql = logical.select([*checks.chosen(), *read])

        def run(state: Snapshot) -> Validated | None:
            try:
                return checks.validated(state.run(sql)[0], digest)
            except psycopg.OperationalError:  # of the server, not of a row
                raise
            except psycopg.Error:
                return None

        facts = self._within(run)
        if facts is None:
            raise refuse("engine.failing-view", table=self._found.sql)
        return facts

    def _types(self, state: Snapshot) -> Types:
        names = dict(self._found.types)
        return lambda held: _arrow_type(held, names[held.name])

    def _looked_up(self, state: Snapshot) -> tuple[Found, tuple[Excess, ...]]:
        found = find_readable(state, self._name)
        return found, excess_of(state, found)

    def _described(self) -> str:
        """The catalogue's present entry of the table; empty if it is gone."""
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


def _arrow_type(held: Held, name: str) -> pyarrow.DataType | None:
    """The type in which values leave again; None for text that was read as something else."""
    import pyarrow

    stored = held.stored
    if isinstance(stored, Fixed):
        return pyarrow.decimal128(stored.width, stored.scale)
    if isinstance(stored, Moment):
        return pyarrow.timestamp("us", "UTC" if stored.type == ZONED else None)
    if isinstance(stored, Integer | Floating | Truth | Day):
        return getattr(pyarrow, _ARROW[name])()
    if isinstance(stored, Written):
        return pyarrow.float64() if name.startswith("numeric") else None
    return pyarrow.string()


def _held(column: Column, table: Found) -> Held:
    for name in table.closed:
        if name.lower() == column.name.lower():
            own = POSTGRES.quoted(name)
            facts = {"column": own, "table": table.sql, "role": table.role}
            raise refuse("engine.missing-column-grant", **facts)
    held = held_as(column, table.columns, POSTGRES.words)
    decimal = held.stored == Written() and dict(table.columns)[held.name] == DECIMAL
    return replace(held, stored=WRITTEN_DECIMAL) if decimal else held
