"""A connection that only reads, and one state of the table for all statements of a question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg

from ...errors import refuse

if TYPE_CHECKING:
    import pyarrow

OLDEST = 140000
"""The first version whose epochs are exact."""
_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
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
_TYPES: dict[str, tuple[str, *tuple[str, ...]]] = {
    "int2": ("int16",),
    "int4": ("int32",),
    "int8": ("int64",),
    "bool": ("bool_",),
    "float4": ("float32",),
    "float8": ("float64",),
    "text": ("string",),
    "date": ("date32",),
    "timestamp": ("timestamp", "us"),
    "timestamptz": ("timestamp", "us", "UTC"),
}
"""The Arrow type that ADBC makes of each type: the function of pyarrow, and its arguments."""

Connection = psycopg.Connection[tuple[Any, ...]]
Made = TypeVar("Made")
Tuples = list[tuple[Any, ...]]


class ServerSession:
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

    def _connected(self) -> Connection:
        connection, version = None, 0
        with suppress(psycopg.Error):
            connection = psycopg.connect(
                self._address, autocommit=True, connect_timeout=10, application_name="tenue"
            )
            for setting in self._settings:
                connection.execute(setting.encode())
            version = connection.info.server_version
        if connection is not None and version >= OLDEST:
            return connection
        if connection is not None:
            connection.close()
        # raised out of reach of the error above, which may quote the address
        if version:
            raise refuse("engine.postgresql-too-old", version=version // 10000)
        raise refuse("engine.postgresql-unreachable")

    @property
    def version(self) -> int:
        """The major version of the server."""
        return self._connection.info.server_version // 10000

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """One state of the table, for as many statements as wanted."""
        connection = self._begun()
        state = Snapshot(connection, self._address, self._settings)
        try:
            yield state
        finally:
            with suppress(Exception):  # of ADBC
                state.close()
            with suppress(psycopg.Error):
                connection.execute("ROLLBACK")

    def look(self, work: Callable[[Snapshot], Made]) -> Made:
        """The result of `work` in one state; refused if the server goes away meanwhile."""
        with suppress(psycopg.Error), self.snapshot() as state:
            return work(state)
        raise refuse("engine.postgresql-unreachable")

    def _begun(self) -> Connection:
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
    """The state of the table that a connection's transaction sees.

    ADBC, which hands over Arrow columns, needs a connection of its own: it is made for the first
    SELECT of this kind and kept, for that takes longer than most statements.

    Parameters
        address: where that connection is made.
        settings: statements that make it equal to the first.
    """

    def __init__(self, connection: Connection, address: str, settings: Sequence[str] = ()) -> None:
        self._connection, self._address, self._settings = connection, address, settings
        self._other: Any = None

    def run(self, sql: str) -> Tuples:
        return self._connection.execute(sql.encode()).fetchall()

    def find(self, sql: str, values: Sequence[Any]) -> Tuples:
        """The rows of a SELECT with %s for values; of the catalogue, never of the table."""
        return self._connection.execute(sql.encode(), values).fetchall()

    def arrow(self, sql: str) -> pyarrow.Table:
        import pyarrow

        return pyarrow.Table.from_batches(self.batches(sql))

    def batches(self, sql: str, size: int | None = None) -> Iterator[pyarrow.RecordBatch]:
        """The same in batches of at most `size` rows; the last is empty, or is the only one."""
        import pyarrow

        try:
            from adbc_driver_postgresql import dbapi
        except ImportError:
            yield from self._row_by_row(sql, size)
            return
        other, self._other = self._other or self._connected(dbapi), None
        ended = False
        try:
            with other.cursor() as cursor:
                cursor.execute(sql)
                reader = cursor.fetch_record_batch()
                try:
                    for batch in reader:
                        for first in range(0, batch.num_rows, size or max(batch.num_rows, 1)):
                            yield batch.slice(first, size)
                    ended = True
                    yield pyarrow.RecordBatch.from_pylist([], schema=reader.schema)
                except GeneratorExit:  # the reader has seen enough, and may ask for other rows
                    ended = ended or next(reader, None) is None
                    raise
        finally:
            if ended and self._other is None:
                self._other = other
            else:  # rows are left, or the transaction failed, or one is kept already
                other.close()

    def close(self) -> None:
        if self._other is not None:
            self._other.close()
        self._other = None

    def _connected(self, dbapi: Any) -> Any:
        row = self._connection.execute("SELECT pg_export_snapshot()").fetchone()
        assert row is not None  # noqa: S101 - it is one value
        state = f"SET TRANSACTION SNAPSHOT '{row[0]}'"
        other = dbapi.connect(self._address, autocommit=True)
        try:
            with other.cursor() as cursor:
                # a script, for its statements have no result to fetch
                cursor.executescript(";".join([*self._settings, _BEGIN, state]))
        except BaseException:
            other.close()
            raise
        return other

    def _row_by_row(self, sql: str, size: int | None) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        with self._connection.cursor("tenue_rows", scrollable=False) as cursor:
            cursor.execute(sql.encode(), binary=True)
            more = True
            while more:
                rows = cursor.fetchall() if size is None else cursor.fetchmany(size)
                described = cursor.description or ()
                columns = list(zip(*rows, strict=True)) or [()] * len(described)
                arrays = {}
                for column, values in zip(described, columns, strict=True):
                    known = self._connection.adapters.types.get(column.type_code)
                    kind = _TYPES.get("" if known is None else known.name)
                    arrow = getattr(pyarrow, kind[0])(*kind[1:]) if kind else None
                    arrays[column.name] = pyarrow.array(values, arrow)
                yield pyarrow.RecordBatch.from_pydict(arrays)
                more = size is not None and bool(rows)
