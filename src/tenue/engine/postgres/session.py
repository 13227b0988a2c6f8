"""A connection that only reads, and one state of the table for all statements of a question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg

from ...errors import refuse
from .arrow import HandOver

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
    "SET client_min_messages = 'error'",  # a function of a view may speak of a row
    "SET transform_null_equals = off",
    "SET synchronize_seqscans = off",  # every scan in one order
    "SET row_security = off",  # an error instead of fewer rows
    "SET lock_timeout = '10s'",
    "SET idle_in_transaction_session_timeout = '10min'",
)
_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

Made = TypeVar("Made")
Tuples = list[tuple[Any, ...]]


class Session:
    """A connection to the table's database.

    Guarantee
        Nothing can be written through it, and names are found in the system's own schema only, so
        that every statement names the table in full. A table of which row-level security hides
        rows gives an error, and not fewer rows.
    """

    def __init__(self, address: str, timeout: int) -> None:
        self._address = address
        self._settings = (*_SETTINGS, f"SET statement_timeout = '{timeout}s'")
        self._connection = self._connected()

    def _connected(self) -> psycopg.Connection[tuple[Any, ...]]:
        made, ready = None, False
        with suppress(psycopg.Error):
            made = psycopg.connect(
                self._address, autocommit=True, connect_timeout=10, application_name="tenue"
            )
            for setting in self._settings:
                made.execute(setting.encode())
            ready = True
        # raised out of reach of the error above, which may quote the address
        if made is None or not ready:
            if made is not None:
                made.close()
            raise refuse("engine.postgresql-unreachable")
        if made.info.server_version < OLDEST:
            made.close()
            raise refuse("engine.postgresql-too-old", version=made.info.server_version // 10000)
        return made

    @property
    def version(self) -> int:
        """The major version of the server."""
        return self._connection.info.server_version // 10000

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """One state of the table, for as many statements as wanted."""
        connection = self._begun()
        hand_over = HandOver(connection, self._address, self._settings)
        try:
            yield Snapshot(connection, hand_over)
        finally:
            with suppress(Exception):  # of ADBC
                hand_over.close()
            with suppress(psycopg.Error):
                connection.execute("ROLLBACK")

    def look(self, work: Callable[[Snapshot], Made]) -> Made:
        """What is found in one state; a server that goes away meanwhile is refused."""
        with suppress(psycopg.Error), self.snapshot() as state:
            return work(state)
        raise refuse("engine.postgresql-unreachable")

    def _begun(self) -> psycopg.Connection[tuple[Any, ...]]:
        """The connection, in a transaction; a new one if the server was away meanwhile."""
        with suppress(psycopg.Error):
            self._connection.execute(_BEGIN)
            return self._connection
        self.close()
        self._connection = self._connected()
        self._connection.execute(_BEGIN)
        return self._connection

    def close(self) -> None:
        with suppress(psycopg.Error):
            self._connection.close()


class Snapshot:
    """One state of the table."""

    def __init__(
        self, connection: psycopg.Connection[tuple[Any, ...]], hand_over: HandOver
    ) -> None:
        self._connection, self._hand_over = connection, hand_over

    def run(self, sql: str) -> Tuples:
        """The rows of a SELECT."""
        return self._connection.execute(sql.encode()).fetchall()

    def find(self, sql: str, values: Sequence[Any]) -> Tuples:
        """The rows of a SELECT with %s for values; of the catalogue, never of the table."""
        return self._connection.execute(sql.encode(), values).fetchall()

    def arrow(self, sql: str) -> pyarrow.Table:
        """The rows of a SELECT, as an Arrow table."""
        return self._hand_over.arrow(sql)

    def batches(self, sql: str, size: int) -> Iterator[pyarrow.RecordBatch]:
        """The same, so many rows at a time."""
        return self._hand_over.batches(sql, size)
