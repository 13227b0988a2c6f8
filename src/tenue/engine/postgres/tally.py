"""Counts of a table in a PostgreSQL server, made there, in one state of the table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

import psycopg

from ...errors import refuse
from ..source import tally
from ..source.location import Server
from ..source.tally import Cell, Tally
from .catalogue import find_readable
from .dialect import POSTGRES
from .session import Session, Snapshot
from .whole import TIMEOUT

if TYPE_CHECKING:
    import pyarrow


@contextmanager
def open_tally(source: Server) -> Iterator[Tally]:
    """The counts of a table or view, as long as the context lasts; refused if it is none.

    All statements see the table as it was when the first began, whatever is written meanwhile.
    """
    session, found = Session(source.address, TIMEOUT), None
    with ExitStack() as opened:
        opened.callback(session.close)
        with suppress(psycopg.Error):
            state = opened.enter_context(session.snapshot())
            found = find_readable(state, source.table)
        # raised out of reach of the error above, whose words are the server's
        if found is None:
            raise refuse("engine.postgresql-unreachable")
        cells = {name: Cell(POSTGRES.quoted(name), stored) for name, stored in found.columns}
        yield Tally("PostgreSQL", POSTGRES, found.sql, cells, lambda sql: _run(state, sql))


def _run(state: Snapshot, sql: str) -> Iterator[pyarrow.RecordBatch]:
    with suppress(Exception):  # of psycopg or of ADBC
        yield from state.batches(sql, tally.BATCH)
        return
    # raised out of reach of the error above, which may quote a row
    raise refuse("engine.server-statement-timeout")
