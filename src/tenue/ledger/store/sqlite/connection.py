"""Connections to one SQLite file, and locks that show which processes are alive.

Each open ledger that has reserved something holds a locked file of its own beside the ledger. The
operating system drops the lock when the process ends for any reason, so a reservation whose owner's
file can be locked by another process belongs to a dead one.

An error costs an answer, never privacy: a reservation is debited when it is made, and the death of
its owner refunds nothing. If the owner is wrongly considered alive, the key waits; if dead, the key
is used up and a late `commit` is refused. Limits: the lock must work on the file system (local
disks, as SQLite's WAL requires), all processes must see the same file system, and a child that was
forked by something other than Python keeps its parent's lock, so that the parent seems alive for as
long as the child is.

A SQLite connection must not be used after a fork: the library counts its locks per process, and
would assume that the child holds locks of the parent. So every connection is closed before a fork,
and opened again in either process when next needed.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from ....errors import LedgerFault
from ...fork import Forkable, watch


class Owners:
    """The owners of one ledger's reservations, and this process among them."""

    def __init__(self, ledger: str) -> None:
        self._folder = Path(ledger + "-owners")
        self._name = ""
        self._lock = -1

    def me(self) -> str:
        """This owner's name; the first call takes its lock."""
        try:
            while not self._name:
                self._folder.mkdir(mode=0o700, exist_ok=True)
                self._take(f"{time.time_ns():x}-{os.getpid():x}")
        except OSError as error:
            raise LedgerFault(f"no lock can be taken beside the ledger: {error}") from None
        return self._name

    def _take(self, name: str) -> None:
        path = self._folder / name
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except (FileExistsError, FileNotFoundError):
            return
        # before it was locked, a sweeping process may have removed it as a dead owner's file
        if _locked(lock) and os.fstat(lock).st_nlink == 1:
            self._name, self._lock = name, lock
        else:
            os.close(lock)

    def alive(self, name: str) -> bool:
        """Whether the owner may be alive; False is certain, on a file system with locks."""
        return name == self._name or not self._found_dead(name, remove=False)

    def sweep(self) -> None:
        """Removes the files of dead owners; an owner without a file is dead too."""
        try:
            names = os.listdir(self._folder)
        except FileNotFoundError:
            return
        for name in names:
            if name != self._name:
                self._found_dead(name, remove=True)
        self._tidy()

    def _found_dead(self, name: str, *, remove: bool) -> bool:
        path = self._folder / name
        try:
            probe = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return True
        except OSError as error:
            raise LedgerFault(f"an owner's lock cannot be read: {error}") from None
        try:
            dead = _locked(probe)
            if dead and remove:
                path.unlink(missing_ok=True)
        finally:
            os.close(probe)
        return dead

    def leave(self) -> None:
        """Releases the lock: what this owner left open is thereby spent."""
        if self._name:
            with suppress(OSError):
                (self._folder / self._name).unlink(missing_ok=True)
            self._tidy()
        self.forget()

    def _tidy(self) -> None:
        with suppress(OSError):  # another owner has a file in it
            self._folder.rmdir()

    def forget(self) -> None:
        """In a forked child: becomes another owner, and leaves the lock to the parent."""
        if self._lock >= 0:
            os.close(self._lock)
        self._name, self._lock = "", -1


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise LedgerFault(f"an owner's lock cannot be tried: {error}") from None
    return True


# -- Connections, which are closed before a fork ---------------------------------------------------

DURABLE = ("synchronous = FULL", "fullfsync = ON", "checkpoint_fullfsync = ON")
"""The settings with which a commit waits for the disk."""

Role = Literal["write", "read", "inspect"]
_ROLES: tuple[Role, ...] = ("write", "read", "inspect")

_PATIENCE = 60.0  # seconds to wait for other processes before giving up
_PAUSES = (0.0005, 0.001, 0.002, 0.003)  # a commit takes a few milliseconds
# a file whose making was interrupted, which a connection that can write repairs first
_UNFINISHED = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another process has locked the file, so that a later attempt may succeed."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in _BUSY


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Everything in the block, durably, or nothing of it; waits for other processes to write."""
    _patiently(connection, "BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def checkpoint(connection: sqlite3.Connection) -> None:
    """Copies everything in the log into the file itself, durably; waits for readers."""
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
    """A connection that cannot write, because of which SQLite does not remove the log.

    The last connection to close removes the log if it can write, even where the ledger's own state
    is not updated. None if there is nothing to read yet.
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
    """Takes the lock that SQLite holds from the first read of a file with a log to the end."""
    connection.execute("SELECT 1 FROM sqlite_schema").fetchone()


def _patiently(connection: sqlite3.Connection, statement: str) -> object:
    """The first row of a statement that is tried again while other processes lock the file."""
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


class Connections(Forkable):
    """At most one connection for each role, each used by one thread at a time, and a `keeper` for
    as long as there is any."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._open: dict[Role, sqlite3.Connection] = {}
        self._locks = {role: threading.Lock() for role in _ROLES}
        self._process = os.getpid()
        self._keeper: sqlite3.Connection | None = None
        self._keeping = threading.Lock()
        watch(self)

    @contextmanager
    def take(self, role: Role) -> Iterator[sqlite3.Connection]:
        """The connection of this role, for as long as the block runs."""
        if os.getpid() != self._process:
            raise LedgerFault("the process was forked behind Python's back")
        with self._locks[role]:
            connection = self._open.get(role)
            if connection is None:
                self._keep()  # before, and again after, for a file that has just been made
                connection = self._open[role] = _connect(self.path, role)
                self._keep()
            yield connection

    @contextmanager
    def take_fresh(self, role: Role) -> Iterator[sqlite3.Connection]:
        """A connection with an empty page cache, closed after the block."""
        with self.take(role) as connection:
            try:
                yield connection
            finally:
                self._shut(role)

    def close(self) -> None:
        """Closes every open connection, when its user has finished."""
        for role in _ROLES:
            with self._locks[role]:
                self._shut(role)
        self._let_go()

    def _keep(self) -> None:
        with self._keeping:
            if self._keeper is not None:
                hold(self._keeper)  # it may be older than the log
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

    def _before_fork(self) -> None:
        for role in _ROLES:
            self._locks[role].acquire()
            self._shut(role)
        self._let_go()

    def _after_fork_in_parent(self) -> None:
        for role in _ROLES:
            self._locks[role].release()

    def _after_fork_in_child(self) -> None:
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
            *DURABLE,
        ):
            connection.execute(f"PRAGMA {pragma}")
        # SQLite does not wait by itself where two processes turn the log on at once
        if _patiently(connection, "PRAGMA journal_mode = WAL") != ("wal",):
            raise LedgerFault("the file system does not support SQLite's write-ahead log")
        if role == "write":
            # `transaction` waits with more even pauses than SQLite's growing ones
            connection.execute("PRAGMA busy_timeout = 0")
        else:
            connection.execute("PRAGMA query_only = ON")
    except BaseException:
        connection.close()
        raise
    return connection
