"""Many rows handed over as Arrow columns: by ADBC where it is installed, else row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg
    import pyarrow

_TYPES = {"int2": "int16", "int4": "int32", "int8": "int64", "bool": "bool_", "float8": "float64"}


def to_arrow(
    connection: psycopg.Connection[tuple[Any, ...]],
    address: str,
    sql: str,
    settings: Sequence[str] = (),
) -> pyarrow.Table:
    """The rows of a SELECT in the state that the connection's transaction sees.

    Parameters
        address: where another connection may be made.
        settings: statements that make that one equal to the first.
    """
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        return _row_by_row(connection, sql)
    row = connection.execute("SELECT pg_export_snapshot()").fetchone()
    assert row is not None  # noqa: S101 - it is one value
    with dbapi.connect(address, autocommit=True) as other, other.cursor() as cursor:
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        # a script, for its statements have no result to fetch
        cursor.executescript(";".join([*settings, begin, f"SET TRANSACTION SNAPSHOT '{row[0]}'"]))
        cursor.execute(sql)
        return cursor.fetch_arrow_table()


def _row_by_row(connection: psycopg.Connection[tuple[Any, ...]], sql: str) -> pyarrow.Table:
    import pyarrow

    with connection.cursor(binary=True) as cursor:
        cursor.execute(sql.encode())
        rows = cursor.fetchall()
        described = cursor.description or ()
        columns = list(zip(*rows, strict=True)) or [()] * len(described)
        made = {}
        for column, values in zip(described, columns, strict=True):
            found = connection.adapters.types.get(column.type_code)
            kind = _TYPES.get("" if found is None else found.name)
            made[column.name] = pyarrow.array(values, getattr(pyarrow, kind)() if kind else None)
        return pyarrow.table(made)
