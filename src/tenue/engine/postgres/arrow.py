"""Many rows handed over as Arrow columns: by ADBC where it is installed, else row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

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
