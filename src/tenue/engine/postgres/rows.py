"""All rows of a table in a server: what cannot be read, and what is published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..contract import Rows, Validated
from ..sql.logical import Held, Stored
from ..sql.rows import Types, checks_of, unfilled
from ..sql.rows import read_rows as read_all
from ..storage import Day, Fixed, Floating, Integer, Moment, Storage, Truth, Written
from .catalogue import Found
from .dialect import ZONED
from .session import Snapshot

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
