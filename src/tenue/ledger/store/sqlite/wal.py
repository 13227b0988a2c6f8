"""Whether a ledger's file is complete, or its newest entries are in SQLite's log beside it.

Guarantee
    Before an entry is written to the log, the file itself durably records that it is in use. That
    record changes only when everything is in the file. So a file in use without a log was copied
    without it, and is refused. No death of a process produces such a file: only this module removes
    the log, after completing the file, with exclusive access (`connection.keeper` prevents SQLite
    from removing it).

A truncated log is not noticed: SQLite treats it like one whose writer died. An anchor reveals it.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress

from .connection import DURABLE, checkpoint, transaction

WHOLE, ANNOUNCED, IN_USE = range(3)
"""The file is complete; the log says that the file is in use; so does the file itself."""

_HEADS = 32 + 24
"""The bytes of the two headers in a log with one page: its own, and that of the page."""


def state_of(connection: sqlite3.Connection) -> int:
    """The recorded state of the ledger, log included."""
    row = connection.execute("SELECT state FROM log").fetchone()
    return IN_USE if row is None else int(row[0])


def has_log(connection: sqlite3.Connection, path: str) -> bool:
    """Whether there is a log beside the file with at least one page.

    As long as `connection` is open, no other process can remove it.
    """
    page = connection.execute("PRAGMA page_size").fetchone()[0]
    try:
        return os.stat(f"{path}-wal").st_size >= _HEADS + int(page)
    except FileNotFoundError:
        return False


def announce(connection: sqlite3.Connection) -> None:
    """Records in the file itself that it is in use, before entries are written.

    As long as `connection` is open, no process can reset that.
    """
    if state_of(connection) == IN_USE:
        return
    with transaction(connection):
        connection.execute("UPDATE log SET state = ? WHERE state = ?", (ANNOUNCED, WHOLE))
    checkpoint(connection)
    with transaction(connection):
        connection.execute("UPDATE log SET state = ?", (IN_USE,))


def finish(path: str) -> None:
    """Completes the file and removes the log, if no other connection is open.

    A process killed here leaves a file in use with its log, or a complete one.
    """
    with suppress(sqlite3.Error, OSError):
        _finish(path)


def _finish(path: str) -> None:
    if not os.path.exists(path):
        return
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
        for pragma in ("locking_mode = EXCLUSIVE", *DURABLE):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("BEGIN IMMEDIATE")  # fails if another connection is open
        recorded = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'log'").fetchone()
        in_use = recorded is not None and state_of(connection) != WHOLE
        connection.execute("ROLLBACK")
        if in_use and has_log(connection, path):
            checkpoint(connection)
            with transaction(connection):
                connection.execute("UPDATE log SET state = ?", (WHOLE,))
            checkpoint(connection)
        with suppress(FileNotFoundError):
            os.unlink(f"{path}-shm")
