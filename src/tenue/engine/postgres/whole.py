"""A table of a server as Arrow columns, without a schema: for those who evaluate it, and for the
draft of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import psycopg

from ...errors import refuse
from ..duckdb.describe import LOOKED_AT, Described, describe_arrow
from ..source.location import Server
from ..storage import Fixed, Opaque, Text, Written
from .catalogue import Found, find_readable
from .dialect import POSTGRES
from .session import Session

if TYPE_CHECKING:
    import pyarrow

_TIMEOUT = 600


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
    session = Session(source.address, _TIMEOUT)
    try:
        return session.look(lambda state: find_readable(state, source.table))
    finally:
        session.close()


def _reader(source: Server, found: Found) -> Callable[[Sequence[str], int | None], pyarrow.Table]:
    """What gives the columns of these names, of so many rows or of all."""
    stored, types = dict(found.columns), dict(found.types)

    def chosen(name: str) -> str:
        own = POSTGRES.quoted(name)
        if isinstance(stored[name], Fixed) or types[name].startswith("numeric"):
            return f"CAST({own} AS {POSTGRES.double}) AS {own}"
        if isinstance(stored[name], Text | Written):
            return f"CAST({own} AS {POSTGRES.text}) AS {own}"
        return own

    def load(names: Sequence[str], most: int | None) -> pyarrow.Table:
        sql = f"SELECT {', '.join(map(chosen, names))} FROM {found.sql}"  # noqa: S608
        sql += "" if most is None else f" LIMIT {most}"
        again = Session(source.address, _TIMEOUT)
        try:
            with again.snapshot() as state:
                return state.arrow(sql)
        except psycopg.Error:
            pass
        finally:
            again.close()
        # raised out of reach of the error above, which may quote a row
        raise refuse("engine.rows-could-not-be-read")

    return load
