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
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal, Protocol

from ...errors import LedgerFault

Role = Literal["write", "read", "inspect"]
_ROLES: tuple[Role, ...] = ("write", "read", "inspect")

_PATIENCE = 60.0  # seconds to wait for other processes before giving up
_PAUSES = (0.0005, 0.001, 0.002, 0.003)  # a commit takes a few milliseconds
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another process holds the file, and trying again will do."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in _BUSY


def begin(connection: sqlite3.Connection) -> None:
    """Starts a write transaction, waiting for other processes as long as patience lasts."""
    _patiently(connection, "BEGIN IMMEDIATE")


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
    """At most one connection for each role, each used by one thread at a time."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._open: dict[Role, sqlite3.Connection] = {}
        self._locks = {role: threading.Lock() for role in _ROLES}
        self._process = os.getpid()

    @contextmanager
    def take(self, role: Role) -> Iterator[sqlite3.Connection]:
        """The connection of this role, for as long as the block runs."""
        if os.getpid() != self._process:
            raise LedgerFault("the process was forked behind Python's back")
        with self._locks[role]:
            connection = self._open.get(role)
            if connection is None:
                connection = self._open[role] = _connect(self.path, role)
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

    def _shut(self, role: Role) -> None:
        connection = self._open.pop(role, None)
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def before_fork(self) -> None:
        for role in _ROLES:
            self._locks[role].acquire()
            self._shut(role)

    def after_fork_in_parent(self) -> None:
        for role in _ROLES:
            self._locks[role].release()

    def after_fork_in_child(self) -> None:
        self._locks = {role: threading.Lock() for role in _ROLES}
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


class Forkable(Protocol):
    """Something that cannot be carried over a fork as it is."""

    def before_fork(self) -> None: ...
    def after_fork_in_parent(self) -> None: ...
    def after_fork_in_child(self) -> None: ...


_watched: weakref.WeakSet[Forkable] = weakref.WeakSet()
_forking: list[Forkable] = []
_turn = threading.Lock()


def watch(thing: Forkable) -> None:
    """Calls `thing` around every fork that Python makes, for as long as it lives."""
    with _turn:
        _watched.add(thing)


def _before() -> None:
    _turn.acquire()
    _forking[:] = list(_watched)
    for thing in _forking:
        thing.before_fork()


def _after_in_parent() -> None:
    for thing in _forking:
        thing.after_fork_in_parent()
    _forking.clear()
    _turn.release()


def _after_in_child() -> None:
    for thing in _forking:
        thing.after_fork_in_child()
    _forking.clear()
    _turn.release()


os.register_at_fork(
    before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child
)
