"""Connections to one SQLite file, and what becomes of them when the process forks.

A SQLite connection must not be carried over a fork: the library counts its locks per process and
would believe the child to hold locks that the parent holds. So every connection is closed before a
fork and opened anew, on either side, when next needed.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal
from urllib.parse import quote

from ...errors import LedgerFault

Role = Literal["write", "read", "inspect"]
_ROLES: tuple[Role, ...] = ("write", "read", "inspect")

_PATIENCE = 60.0  # seconds to wait for other processes before giving up
_PAUSES = (0.0005, 0.001, 0.002, 0.003)  # a commit takes a few milliseconds
# a file whose making was cut short, which a connection that can write puts right first
_UNFINISHED = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another process holds the file, and trying again will do."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in _BUSY


def begin(connection: sqlite3.Connection) -> None:
    """Starts a write transaction, waiting for other processes as long as patience lasts."""
    _patiently(connection, "BEGIN IMMEDIATE")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Everything in the block, durably, or nothing of it."""
    begin(connection)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def checkpoint(connection: sqlite3.Connection) -> None:
    """Puts everything that the log holds into the file itself, durably; waits for readers."""
    deadline = time.monotonic() + _PATIENCE
    tries = 0
    while True:
        busy, logged, done = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if not busy and logged == done:
            return
        if time.monotonic() > deadline:
            raise LedgerFault("other processes kept the ledger busy for too long")
        time.sleep(_PAUSES[min(tries, len(_PAUSES) - 1)])
        tries += 1


def keeper(path: str) -> sqlite3.Connection | None:
    """A connection that cannot write: with it, and after it, SQLite leaves the log where it is.

    The last connection to close that can write removes the log, whether or not the file knows it
    to be whole. None if there is nothing to read yet.
    """
    connection = sqlite3.connect(
        f"file:{quote(path)}?mode=ro",
        uri=True,
        timeout=_PATIENCE,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        hold(connection)
    except sqlite3.OperationalError as error:
        connection.close()
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _UNFINISHED:
            return None
        raise
    except BaseException:
        connection.close()
        raise
    return connection


def hold(connection: sqlite3.Connection) -> None:
    """Takes the lock that SQLite keeps from the first look at a file with a log to the end."""
    connection.execute("SELECT 1 FROM sqlite_schema").fetchone()


def _patiently(connection: sqlite3.Connection, statement: str) -> object:
    """The first row of a statement that is tried again while other processes hold the file."""
    deadline = time.monotonic() + _PATIENCE
    tries = 0
    while True:
        try:
            return connection.execute(statement).fetchone()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > deadline:
                raise
        time.sleep(_PAUSES[min(tries, len(_PAUSES) - 1)])
        tries += 1


class Connections:
    """At most one connection for each role, each used by one thread at a time; and, as long as
    there is any, one that keeps SQLite from removing the log.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._open: dict[Role, sqlite3.Connection] = {}
        self._locks = {role: threading.Lock() for role in _ROLES}
        self._process = os.getpid()
        self._keeper: sqlite3.Connection | None = None
        self._keeping = threading.Lock()

    @contextmanager
    def take(self, role: Role) -> Iterator[sqlite3.Connection]:
        """The connection of this role, for as long as the block runs."""
        if os.getpid() != self._process:
            raise LedgerFault("the process was forked behind Python's back")
        with self._locks[role]:
            connection = self._open.get(role)
            if connection is None:
                self._keep()  # first, and again for a file that has just been made
                connection = self._open[role] = _connect(self.path, role)
                self._keep()
            yield connection

    @contextmanager
    def take_fresh(self, role: Role) -> Iterator[sqlite3.Connection]:
        """A connection that remembers no page of the file, closed after the block."""
        with self.take(role) as connection:
            try:
                yield connection
            finally:
                self._shut(role)

    def close(self) -> None:
        """Closes every connection that is open, when its user is done with it."""
        for role in _ROLES:
            with self._locks[role]:
                self._shut(role)
        self._let_go()

    def _keep(self) -> None:
        with self._keeping:
            if self._keeper is not None:
                hold(self._keeper)  # it may have been opened before there was a log
            elif os.path.exists(self.path) and os.path.getsize(self.path):
                self._keeper = keeper(self.path)

    def _let_go(self) -> None:
        with self._keeping:
            if self._keeper is not None:
                self._keeper.close()
                self._keeper = None

    def _shut(self, role: Role) -> None:
        connection = self._open.pop(role, None)
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def before_fork(self) -> None:
        for role in _ROLES:
            self._locks[role].acquire()
            self._shut(role)
        self._let_go()

    def after_fork_in_parent(self) -> None:
        for role in _ROLES:
            self._locks[role].release()

    def after_fork_in_child(self) -> None:
        self._locks = {role: threading.Lock() for role in _ROLES}
        self._keeping = threading.Lock()
        self._process = os.getpid()


def _connect(path: str, role: Role) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
    )
    try:
        for pragma in (
            "trusted_schema = OFF",
            "cell_size_check = ON",
            "foreign_keys = OFF",
            "synchronous = FULL",
            "fullfsync = ON",
            "checkpoint_fullfsync = ON",
        ):
            connection.execute(f"PRAGMA {pragma}")
        # SQLite does not wait by itself where two processes turn the log on at once
        if _patiently(connection, "PRAGMA journal_mode = WAL") != ("wal",):
            raise LedgerFault("the file system does not support SQLite's write-ahead log")
        if role == "write":
            # `begin` waits by itself, more evenly than SQLite's growing pauses
            connection.execute("PRAGMA busy_timeout = 0")
        else:
            connection.execute("PRAGMA query_only = ON")
    except BaseException:
        connection.close()
        raise
    return connection
