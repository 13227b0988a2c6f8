"""A table of a server as Arrow columns, without a schema: for those who evaluate it, and for the
draft of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from ...errors import refuse
from ..duckdb.describe import LOOKED_AT, Described, describe_arrow
from ..source.location import Server
from ..storage import Opaque
from .catalogue import Found, find_readable
from .dialect import POSTGRES
from .session import Session

if TYPE_CHECKING:
    import pyarrow

TIMEOUT = 600
"""Seconds that one statement may take."""


def open_table(
    source: Server,
) -> tuple[tuple[str, ...], Callable[[Sequence[str]], pyarrow.Table]]:
    """The names of a table's columns, and how they are read; refused if it is no table.

    Decimals are read as doubles, and what the server stores in types of its own as text.
    """
    found = look_at(source)
    read = _reader(source, found)
    return tuple(name for name, _ in found.columns), lambda names: read(names, None)


def describe(source: Server, *, values: bool) -> list[Described]:
    """The columns of a table or view; with `values`, also what its rows hold."""
    found = look_at(source)
    names = [name for name, stored in found.columns if not isinstance(stored, Opaque)]
    read = _reader(source, found)
    return describe_arrow(read(names, LOOKED_AT), read(names, None) if values else None)


def look_at(source: Server) -> Found:
    """What the catalogue says of the table; refused if it is none, or may not be read."""
    session = Session(source.address, TIMEOUT)
    try:
        return session.look(lambda state: find_readable(state, source.table))
    finally:
        session.close()


def _reader(source: Server, found: Found) -> Callable[[Sequence[str], int | None], pyarrow.Table]:
    """What gives the columns of these names, of so many rows or of all."""
    stored = dict(found.columns)

    def chosen(name: str) -> str:
        own = POSTGRES.quoted(name)
        return f"{POSTGRES.seen(own, stored[name])} AS {own}"

    def load(names: Sequence[str], most: int | None) -> pyarrow.Table:
        sql = f"SELECT {', '.join(map(chosen, names))} FROM {found.sql}"  # noqa: S608
        sql += "" if most is None else f" LIMIT {most}"
        again = Session(source.address, TIMEOUT)
        with closing(again), suppress(Exception), again.snapshot() as state:
            return state.arrow(sql)
        # raised out of reach of the error above, of psycopg or of ADBC, which may quote a row
        raise refuse("engine.server-statement-timeout")

    return load
