"""A connection that only reads, from one state of the table; many rows as Arrow columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg

from ...errors import refuse

if TYPE_CHECKING:
    import pyarrow


if TYPE_CHECKING:
    import psycopg
    import pyarrow

    Connection = psycopg.Connection[tuple[Any, ...]]

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
"""How ADBC hands a type over: what makes that Arrow type, and of what."""
_NAME = "tenue_rows"


class HandOver:
    """The rows of SELECTs in the state that a connection's transaction sees.

    ADBC needs a connection of its own, which is made for the first of them and kept, for that takes
    longer than most statements.

    Parameters
        address: where that connection is made.
        settings: statements that make it equal to the first.
    """

    def __init__(self, connection: Connection, address: str, settings: Sequence[str] = ()) -> None:
        self._connection, self._address, self._settings = connection, address, settings
        self._other: Any = None

    def arrow(self, sql: str) -> pyarrow.Table:
        """All rows."""
        import pyarrow

        return pyarrow.Table.from_batches(self.batches(sql))

    def batches(self, sql: str, size: int | None = None) -> Iterator[pyarrow.RecordBatch]:
        """The same in batches of at most so many rows; the last is empty, or is the only one."""
        import pyarrow

        try:
            from adbc_driver_postgresql import dbapi
        except ImportError:
            yield from _row_by_row(self._connection, sql, size)
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
                except GeneratorExit:  # whoever reads has seen enough, and may ask for other rows
                    ended = ended or next(reader, None) is None
                    raise
        finally:
            if ended and self._other is None:
                self._other = other
            else:  # rows are left, or the transaction failed, or one is kept already
                other.close()

    def close(self) -> None:
        """Lets go of the connection that was made."""
        if self._other is not None:
            self._other.close()
        self._other = None

    def _connected(self, dbapi: Any) -> Any:
        row = self._connection.execute("SELECT pg_export_snapshot()").fetchone()
        assert row is not None  # noqa: S101 - it is one value
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        state = f"SET TRANSACTION SNAPSHOT '{row[0]}'"
        other = dbapi.connect(self._address, autocommit=True)
        try:
            with other.cursor() as cursor:
                # a script, for its statements have no result to fetch
                cursor.executescript(";".join([*self._settings, begin, state]))
        except BaseException:
            other.close()
            raise
        return other


def _row_by_row(
    connection: Connection, sql: str, size: int | None
) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow

    connection.execute(f"DECLARE {_NAME} NO SCROLL CURSOR FOR {sql}".encode())
    more = True
    try:
        with connection.cursor(binary=True) as cursor:
            while more:
                cursor.execute(f"FETCH {size or 'ALL'} FROM {_NAME}".encode())
                rows, described = cursor.fetchall(), cursor.description or ()
                columns = list(zip(*rows, strict=True)) or [()] * len(described)
                made = {}
                for column, values in zip(described, columns, strict=True):
                    found = connection.adapters.types.get(column.type_code)
                    kind = _TYPES.get("" if found is None else found.name)
                    made[column.name] = pyarrow.array(values, _made(kind) if kind else None)
                yield pyarrow.RecordBatch.from_pydict(made)
                more = size is not None and bool(rows)
    except GeneratorExit:  # whoever reads has seen enough, and may ask for other rows
        more = False
        raise
    finally:
        if not more:  # or the transaction failed, and takes no statement any more
            connection.execute(f"CLOSE {_NAME}".encode())


def _made(kind: tuple[str, *tuple[str, ...]]) -> pyarrow.DataType:
    import pyarrow

    return getattr(pyarrow, kind[0])(*kind[1:])


# A connection that only reads, and one state of the table for all statements of a question.

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
