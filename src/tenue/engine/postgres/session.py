"""A connection that only reads, and one state of the table for all statements of a question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psycopg

from ...errors import refuse
from .arrow import to_arrow

if TYPE_CHECKING:
    import pyarrow

OLDEST = 140000
"""The first version whose epochs are exact."""
_SETTINGS = (
    "SET client_encoding = 'UTF8'",
    "SET standard_conforming_strings = on",
    "SET search_path = pg_catalog, pg_temp",
    "SET TimeZone = 'UTC'",
    "SET extra_float_digits = 1",
    "SET DateStyle = 'ISO, YMD'",
    "SET default_transaction_read_only = on",
    "SET lock_timeout = '10s'",
    "SET idle_in_transaction_session_timeout = '10min'",
)
_PAGE = 1 << 14

Tuples = list[tuple[Any, ...]]


class Session:
    """A connection to the table's database.

    Guarantee
        Nothing can be written through it, and names are found in the system's own schema only, so
        that every statement names the table in full.
    """

    def __init__(self, address: str, timeout: int) -> None:
        self._address = address
        self._timeout = timeout
        self._connection = self._connected()

    def _connected(self) -> psycopg.Connection[tuple[Any, ...]]:
        try:
            made = psycopg.connect(
                self._address, autocommit=True, connect_timeout=10, application_name="tenue"
            )
        except psycopg.Error:
            made = None
        # raised out of reach of the error above, which may quote the address
        if made is None:
            raise refuse("engine.server-cannot-be-reached")
        try:
            for setting in (*_SETTINGS, f"SET statement_timeout = '{self._timeout}s'"):
                made.execute(setting.encode())
        except BaseException:
            made.close()
            raise
        if made.info.server_version < OLDEST:
            made.close()
            raise refuse("engine.server-is-too-old", version=made.info.server_version // 10000)
        return made

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """One state of the table, for as many statements as wanted."""
        if self._connection.closed:  # the server may have come back since
            self._connection = self._connected()
        connection = self._connection
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            yield Snapshot(connection, self._address)
        finally:
            with suppress(psycopg.Error):
                connection.execute("ROLLBACK")

    def close(self) -> None:
        with suppress(psycopg.Error):
            self._connection.close()


class Snapshot:
    """One state of the table."""

    def __init__(self, connection: psycopg.Connection[tuple[Any, ...]], address: str) -> None:
        self._connection, self._address = connection, address

    def run(self, sql: str) -> Tuples:
        """The rows of a SELECT."""
        return self._connection.execute(sql.encode()).fetchall()

    def find(self, sql: str, values: Sequence[Any]) -> Tuples:
        """The rows of a SELECT with %s for values; of the catalogue, never of the table."""
        return self._connection.execute(sql.encode(), values).fetchall()

    def arrow(self, sql: str) -> pyarrow.Table:
        """The rows of a SELECT, as an Arrow table."""
        return to_arrow(self._connection, self._address, sql)

    def batches(self, sql: str, take: Callable[[pyarrow.RecordBatch], None], size: int) -> None:
        """Gives the rows of a SELECT to `take`, so many at a time."""
        import pyarrow

        name = "tenue_rows"
        self._connection.execute(f"DECLARE {name} NO SCROLL CURSOR FOR {sql}".encode())
        while True:
            found = self._connection.execute(f"FETCH {min(size, _PAGE)} FROM {name}".encode())
            rows = found.fetchall()
            if not rows:
                break
            names = [column.name for column in found.description or ()]
            columns = [list(column) for column in zip(*rows, strict=True)]
            take(pyarrow.RecordBatch.from_pydict(dict(zip(names, columns, strict=True))))
        self._connection.execute(f"CLOSE {name}".encode())
