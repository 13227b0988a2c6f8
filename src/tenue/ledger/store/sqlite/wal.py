"""Whether a ledger's file is whole by itself, or its newest entries are in SQLite's log beside it.

Guarantee
    Before an entry goes into the log, the file itself says durably that it is in use. It says
    otherwise only when everything is in it. So a file that is in use and has no log beside it was
    copied without the log, and is refused. No death of a process leaves a good ledger like that:
    the log is removed here alone, after the file was made whole, by a connection that has the file
    for itself (`connection.keeper` sees to it that SQLite never does).

A log of which the end was cut off is not noticed: SQLite takes it for one whose writer died. An
anchor shows that.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress

from .connection import checkpoint, transaction

WHOLE, SAID, IN_USE = range(3)
"""Everything is in the file; the log says that the file is in use; the file itself says so too."""

_HEADS = 32 + 24
"""The bytes of a log with one page, without the page: its own head and that of the page."""


def state_of(connection: sqlite3.Connection) -> int:
    """What the ledger says of itself, log included."""
    row = connection.execute("SELECT state FROM log").fetchone()
    return IN_USE if row is None else int(row[0])


def has_log(connection: sqlite3.Connection, path: str) -> bool:
    """Whether a log lies beside the file that something was ever written to.

    As long as `connection` is open, no other process can remove it.
    """
    page = connection.execute("PRAGMA page_size").fetchone()[0]
    try:
        return os.stat(f"{path}-wal").st_size >= _HEADS + int(page)
    except FileNotFoundError:
        return False


def announce(connection: sqlite3.Connection) -> None:
    """Makes the file itself say that it is in use; to be called before entries are written.

    As long as `connection` is open nobody can take that back.
    """
    if state_of(connection) == IN_USE:
        return
    with transaction(connection):
        connection.execute("UPDATE log SET state = ? WHERE state = ?", (SAID, WHOLE))
    checkpoint(connection)
    with transaction(connection):
        connection.execute("UPDATE log SET state = ?", (IN_USE,))


def finish(path: str) -> None:
    """Makes the file whole and removes the log, if nobody else has the ledger open.

    Whoever is killed here leaves a file that is in use with its log, or one that is whole.
    """
    with suppress(sqlite3.Error, OSError):
        _finish(path)


def _finish(path: str) -> None:
    if not os.path.exists(path):
        return
    connection = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        for pragma in (
            "locking_mode = EXCLUSIVE",
            "synchronous = FULL",
            "fullfsync = ON",
            "checkpoint_fullfsync = ON",
        ):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("BEGIN IMMEDIATE")  # fails where anybody else has the ledger open
        in_use = _keeps_state(connection) and state_of(connection) != WHOLE
        connection.execute("ROLLBACK")
        if in_use and has_log(connection, path):
            checkpoint(connection)
            with transaction(connection):
                connection.execute("UPDATE log SET state = ?", (WHOLE,))
            checkpoint(connection)
        with suppress(FileNotFoundError):
            os.unlink(f"{path}-shm")
    finally:
        connection.close()


def _keeps_state(connection: sqlite3.Connection) -> bool:
    found = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'log'").fetchone()
    return found is not None
