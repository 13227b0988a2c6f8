"""All rows of a table in Spark: what cannot be read, and what releases are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...schema import Identifier
from ..contract import Rows, Validated
from ..sql.logical import Held, Stored
from ..sql.rows import Types, checks_of, read_rows, unfilled
from ..storage import Written

if TYPE_CHECKING:
    import pyarrow

    from .session import Session


def validate(table: Stored, session: Session, digest: str) -> Validated:
    """Reads every declared column of every row; what is found is for the holder alone.

    Parameters
        digest: by what the table is known again.
    """
    logical = unfilled(table)
    checks = checks_of(logical)
    (row,) = session.run(logical.select(checks.chosen()))
    return checks.validated(row, digest)


def read_all(table: Stored, session: Session) -> Rows:
    """Every row, as `Engine.read_all` says."""
    return read_rows(table, session, types_of(table, session))


def types_of(table: Stored, session: Session) -> Types:
    """How Spark stores each column."""
    names = ", ".join(table.dialect.quoted(held.name) for held in table.held.values())
    stored = session.arrow(f"SELECT {names} FROM {table.sql} LIMIT 0").schema  # noqa: S608

    def type_of(held: Held) -> pyarrow.DataType | None:
        return None if held.stored == Written() else stored.field(held.name).type

    return type_of


def write_logical(table: Stored, columns: Sequence[str]) -> str:
    """The SELECT of the logical values of these columns, or of all that are no identifiers."""
    logical = unfilled(table)
    declared = [held.column for held in logical.table.held.values()]
    named = columns or [c.name for c in declared if not isinstance(c, Identifier)]
    chosen = [f"{logical.whole(name)} AS {table.dialect.quoted(name)}" for name in named]
    return logical.select(chosen)
