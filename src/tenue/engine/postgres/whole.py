"""A table of a server as Arrow columns, without a schema, for those who evaluate it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import psycopg

from ...errors import refuse
from ..source.location import Server
from ..storage import Fixed, Text, Written
from .catalogue import find_table
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
    session = Session(source.address, _TIMEOUT)
    with session.snapshot() as state:
        found = find_table(state, source.table)
    session.close()
    stored = dict(found.columns)

    def chosen(name: str) -> str:
        own = POSTGRES.quoted(name)
        if isinstance(stored[name], Fixed) or dict(found.types)[name] == "numeric":
            return f"CAST({own} AS {POSTGRES.double}) AS {own}"
        if isinstance(stored[name], Text | Written):
            return f"CAST({own} AS {POSTGRES.text}) AS {own}"
        return own

    def load(names: Sequence[str]) -> pyarrow.Table:
        sql = f"SELECT {', '.join(map(chosen, names))} FROM {found.sql}"  # noqa: S608
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

    return tuple(name for name, _ in found.columns), load
