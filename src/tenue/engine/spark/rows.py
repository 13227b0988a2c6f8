"""All rows of a table in Spark: what cannot be read, and what releases are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...schema import Identifier
from ..contract import KeptThere, Numbers, Rows, Validated
from ..duckdb.scratch import Scratch
from ..sql.logical import Held, Stored
from ..sql.rows import Types, checks_of, count_where, handed_over, read_rows, unfilled
from ..storage import Written
from .passes import keep

if TYPE_CHECKING:
    import pyarrow

    from .session import Session

_BATCH = 1 << 16


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


@contextmanager
def keep_rows(
    table: Stored,
    session: Session,
    numbers: Callable[[pyarrow.RecordBatch], Numbers],
    width: int,
    named: Callable[[str, pyarrow.Array], None] | None,
) -> Iterator[KeptThere]:
    """All rows in passes, as `Spread.keep` says; the folder is that of this process, which all
    machines must reach."""
    logical, scratch = unfilled(table), Scratch()
    try:
        frame = session.of(write_logical(table, ()))
        with keep(frame, numbers, width, str(scratch.path)) as passes:
            told = handed_over(logical, session, types_of(table, session), passes.rows)
            tests = [count_where(f"{logical.whole(name)} IS NULL") for name in told.unreadable]
            counted = session.run(logical.select(tests))[0] if tests else ()
            for name in told.types if named is not None else ():
                if name not in told.unreadable:
                    own = f"{logical.raw(name)} AS {table.dialect.quoted(name)}"
                    for part in session.batches(logical.select([own]), _BATCH):
                        assert named is not None  # noqa: S101 - or no name is read
                        named(name, part.column(0))
            yield KeptThere(passes, told, dict(zip(told.unreadable, counted, strict=True)))
    finally:
        scratch.close()


def write_logical(table: Stored, columns: Sequence[str]) -> str:
    """The SELECT of the logical values of these columns, or of all that are no identifiers."""
    logical = unfilled(table)
    declared = [held.column for held in logical.table.held.values()]
    named = columns or [c.name for c in declared if not isinstance(c, Identifier)]
    chosen = [f"{logical.whole(name)} AS {table.dialect.quoted(name)}" for name in named]
    return logical.select(chosen)
