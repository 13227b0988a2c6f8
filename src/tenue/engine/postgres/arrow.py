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


def to_arrow(
    connection: Connection, address: str, sql: str, settings: Sequence[str] = ()
) -> pyarrow.Table:
    """The rows of a SELECT in the state that the connection's transaction sees.

    Parameters
        address: where another connection may be made.
        settings: statements that make that one equal to the first.
    """
    import pyarrow

    return pyarrow.Table.from_batches(to_batches(connection, address, sql, settings))


def to_batches(
    connection: Connection,
    address: str,
    sql: str,
    settings: Sequence[str] = (),
    size: int | None = None,
) -> Iterator[pyarrow.RecordBatch]:
    """The same in batches of at most so many rows; the last is empty, or is the only one."""
    import pyarrow

    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        yield from _row_by_row(connection, sql, size)
        return
    row = connection.execute("SELECT pg_export_snapshot()").fetchone()
    assert row is not None  # noqa: S101 - it is one value
    with dbapi.connect(address, autocommit=True) as other, other.cursor() as cursor:
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        # a script, for its statements have no result to fetch
        cursor.executescript(";".join([*settings, begin, f"SET TRANSACTION SNAPSHOT '{row[0]}'"]))
        cursor.execute(sql)
        reader = cursor.fetch_record_batch()
        for batch in reader:
            for first in range(0, batch.num_rows, size or max(batch.num_rows, 1)):
                yield batch.slice(first, size)
        yield pyarrow.RecordBatch.from_pylist([], schema=reader.schema)


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
