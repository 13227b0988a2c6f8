"""A ledger in one SQLite file, shared by many threads and processes of one machine.

Guarantee
    A batch is on disk when `carry_out` returns (WAL, synchronous=FULL). After any failure except a
    busy file, this object refuses every further use, and a write of unknown outcome is never tried
    again.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sqlite3
import weakref
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from ....arguments import checked_call
from ....errors import LedgerFault, refuse
from ... import facts
from ...fork import Forkable, watch
from ...results import Verification
from ...transactions.journal import Journal
from ...transactions.writer import Request
from ...verify import Anchor, inspect, new_secret
from ..sql_database import GONE, Database, Tabled, carry_out, check_head
from ..sql_tables import Tables
from .connection import Connections, Owners, is_busy, keeper, transaction
from .wal import WHOLE, announce, finish, has_log, state_of

APPLICATION = 0x54656E75
"""The application in the file's header: "Tenu"."""

VERSION = 4
"""The layout of the tables."""

BEFORE = (1, 2, 3)
"""The layouts that `upgrade` converts."""
_PROTOCOL = """
CREATE TABLE protocol (dataset TEXT PRIMARY KEY, protocol TEXT NOT NULL) WITHOUT ROWID
"""
_SOURCE = """
CREATE TABLE source (
    dataset TEXT PRIMARY KEY, mark TEXT NOT NULL, reading TEXT NOT NULL, digest TEXT NOT NULL
) WITHOUT ROWID
"""
_SEAL = """
CREATE TABLE seal (name TEXT PRIMARY KEY, content BLOB NOT NULL, digest BLOB NOT NULL)
WITHOUT ROWID
"""
_LOG = """
CREATE TABLE log (place INTEGER PRIMARY KEY CHECK (place = 0), state INTEGER NOT NULL)
"""

_SCHEMA = """
CREATE TABLE entry (sequence INTEGER PRIMARY KEY, text TEXT NOT NULL, link BLOB NOT NULL);
CREATE TABLE ticket (
    sequence INTEGER PRIMARY KEY, name BLOB, cache BLOB, owner TEXT NOT NULL,
    outcome INTEGER NOT NULL, settled INTEGER
);
CREATE UNIQUE INDEX ticket_name ON ticket (name) WHERE outcome <> 2;
CREATE INDEX ticket_open ON ticket (sequence) WHERE outcome = 0;
CREATE INDEX ticket_cache ON ticket (cache, settled) WHERE outcome = 1;
CREATE TABLE answer (sequence INTEGER PRIMARY KEY, content BLOB NOT NULL);
CREATE TABLE dataset (
    name TEXT PRIMARY KEY, neighbours TEXT NOT NULL, total INTEGER NOT NULL,
    total_delta INTEGER NOT NULL, per_analyst INTEGER, schema_digest TEXT NOT NULL,
    data_version TEXT NOT NULL, repriced INTEGER NOT NULL, widest INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE account (
    dataset TEXT NOT NULL, analyst TEXT NOT NULL, statistical INTEGER NOT NULL,
    most INTEGER NOT NULL, delta INTEGER NOT NULL, most_delta INTEGER NOT NULL,
    individual INTEGER NOT NULL, PRIMARY KEY (dataset, analyst)
) WITHOUT ROWID;
CREATE TABLE person (
    dataset TEXT NOT NULL, analyst TEXT NOT NULL, person TEXT NOT NULL, nano INTEGER NOT NULL,
    atto INTEGER NOT NULL, PRIMARY KEY (dataset, analyst, person)
) WITHOUT ROWID;
CREATE TABLE question (
    dataset TEXT NOT NULL, name TEXT NOT NULL, times INTEGER NOT NULL, PRIMARY KEY (dataset, name)
) WITHOUT ROWID;
CREATE TABLE release (
    dataset TEXT NOT NULL, digest TEXT NOT NULL, sequence INTEGER NOT NULL,
    PRIMARY KEY (dataset, digest)
) WITHOUT ROWID
"""


def create(connection: sqlite3.Connection) -> None:
    """Makes an empty database a ledger; inside a transaction."""
    for statement in _SCHEMA.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    upgrade(connection, 1)


def upgrade(connection: sqlite3.Connection, version: int) -> None:
    """Adds the tables and columns that an old layout lacks; inside a transaction.

    Layout 1 had no protocols, units and cap of individual DP, layout 2 no validated files, layout 3
    no key and no record of whether the file is complete without its log.
    """
    if version == 1:
        connection.execute("ALTER TABLE dataset ADD COLUMN individual INTEGER")
        connection.execute("ALTER TABLE dataset ADD COLUMN unit TEXT NOT NULL DEFAULT ''")
        connection.execute(_PROTOCOL)
    if version <= 2:
        connection.execute(_SOURCE)
    connection.execute(_SEAL)
    connection.execute(_LOG)
    connection.execute("INSERT INTO log VALUES (0, 0)")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def keep_secret(connection: sqlite3.Connection, secret: bytes) -> None:
    """Stores the key of a ledger, with a digest that reveals damage to it."""
    connection.execute(
        "INSERT INTO seal VALUES ('certificates', ?, ?)", (secret, hashlib.sha256(secret).digest())
    )


def schema_of(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
    """The definitions of all tables in the file."""
    return connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
    ).fetchall()


# -- Creating, recognising, reading and writing a ledger's file ------------------------------------

T = TypeVar("T")
_DAMAGE = (sqlite3.Error, UnicodeDecodeError)  # text that is not UTF-8 escapes as the latter


class File(Database, Forkable):
    """A ledger file in use by this process."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__()
        self.path = _given_path(path)
        self._seen = 0
        self._identity = _created(self.path)
        self._connections = Connections(self.path)
        self._owners = Owners(self.path)
        _recognise(self.path)
        watch(self)

    def prepare(self) -> None:
        """Makes an empty file a ledger; a fault if its tables or last entry are not of a ledger."""
        try:
            with self._connections.take("write") as connection, transaction(connection):
                application, version = _application(connection)
                if (application, version) == (0, 0):
                    create(connection)
                    self.is_new = True
                elif application == APPLICATION and version in BEFORE:
                    upgrade(connection, version)
                if version != VERSION:
                    keep_secret(connection, new_secret())
                _check_layout(connection)
                check_head(Tables(connection))
        except _DAMAGE as error:
            raise self._poison(error) from None

    def sweep(self) -> None:
        self._owners.sweep()

    def read(self, look: Callable[[Tables], T]) -> T:
        """Runs `look` on one consistent state of the file."""
        self._usable()
        try:
            with self._connections.take("read") as connection:
                connection.execute("BEGIN")
                try:
                    return look(Tables(connection))
                finally:
                    connection.execute("ROLLBACK")
        except _DAMAGE as error:
            raise self._poison(error) from None

    def inspect(self, anchor: Anchor | None) -> Verification:
        """Recounts everything, on pages read from the file again."""
        self._usable()
        try:
            with self._connections.take_fresh("inspect") as connection:
                connection.execute("BEGIN")
                _check_layout(connection)
                tables = Tables(connection)
                found = inspect(tables.lines(), tables.totals(), anchor)
                if found:
                    _check_pages(connection)
                return found
        except (*_DAMAGE, LedgerFault) as error:
            return Verification(
                False, 0, facts.GENESIS.hex(), None, f"the file is damaged: {error}"
            )

    def _let_go(self) -> None:
        self._connections.close()
        if not self._fault:  # else the disk may be unreliable
            finish(self.path)
        self._owners.leave()

    def _carry_out(self, batch: list[Request[Any]]) -> None:
        if self._fault:
            raise LedgerFault(self._fault)
        try:
            with self._connections.take("write") as connection:
                self._still_there()
                announce(connection)
                with transaction(connection):
                    head = self._settle(Tables(connection), batch)
                self._seen = head
        except BaseException as error:
            raise self._poison(error) from None

    def _settle(self, tables: Tables, batch: list[Request[Any]]) -> int:
        head = tables.head()
        if head[0] < self._seen:
            raise LedgerFault(GONE)
        journal = Journal(tables, head, self._owners.me, self._owners.alive)
        return carry_out(batch, journal, tables)[0]

    def _poison(self, error: BaseException) -> LedgerFault:
        if isinstance(error, sqlite3.Error) and is_busy(error):
            return LedgerFault("other processes kept the ledger busy for too long")
        self._fault = f"the ledger `{self.path}` cannot be used: {error}"
        return LedgerFault(self._fault)

    def _still_there(self) -> None:
        try:
            same = _identity(self.path) == self._identity
        except OSError:
            same = False
        if not same:
            raise LedgerFault("the file was moved or replaced while in use")

    def _after_fork_in_child(self) -> None:
        self._owners.forget()
        self.writer.begin_anew()


def _given_path(path: str | os.PathLike[str]) -> str:
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else ""
    if not isinstance(text, str) or not text or text == ":memory:" or "\0" in text:
        raise refuse("ledger.ledger-path-invalid", path=path)
    real = os.path.realpath(text)
    if os.path.isdir(real) or not os.path.isdir(os.path.dirname(real)):
        raise refuse("ledger.ledger-folder-missing", text=text)
    return real


def _identity(path: str) -> tuple[int, int, int]:
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_nlink


def _created(path: str) -> tuple[int, int, int]:
    """Creates the file for its owner only, if it does not exist; returns its identity."""
    try:
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        except FileExistsError:
            pass
        else:
            folder = os.open(Path(path).parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        identity = _identity(path)
    except OSError as error:
        raise LedgerFault(f"the ledger `{path}` cannot be created: {error}") from None
    if identity[2] != 1:
        raise LedgerFault(f"`{path}` has several names; each would have a journal of its own")
    return identity


def _recognise(path: str) -> None:
    """Refuses a file that is not a complete ledger, before anything is written to it."""
    log = f"{path}-wal"
    if os.path.exists(log) and os.path.getsize(log) and not os.path.getsize(path):
        raise refuse("ledger.ledger-without-file", path=path, log=log)
    try:
        application, version, empty, whole = _looked_at(path)
    except _DAMAGE as error:
        if getattr(error, "sqlite_errorcode", 0) != sqlite3.SQLITE_NOTADB:
            raise LedgerFault(f"the ledger `{path}` cannot be opened: {error}") from None
        application, version, empty, whole = 0, 0, False, True
    if application == 0 and version == 0 and empty:
        return
    if application != APPLICATION:
        raise refuse("ledger.not-a-ledger", path=path)
    if version not in (*BEFORE, VERSION):
        raise refuse("ledger.ledger-version", path=path, version=version, version2=VERSION)
    if not whole:
        finish(path)  # removes the empty log that reading has made
        raise refuse("ledger.ledger-without-log", path=path, log=log)


def _looked_at(path: str) -> tuple[int, int, bool, bool]:
    """Application and layout; whether there are no tables; whether no part of it is missing."""
    kept = keeper(path)
    connection = sqlite3.connect(path, timeout=60, isolation_level=None)
    try:
        connection.execute("BEGIN")  # one state: another process may be making the tables
        application, version = _application(connection)
        tables = schema_of(connection)
        whole = (application, version) != (APPLICATION, VERSION) or (
            state_of(connection) == WHOLE or has_log(connection, path)
        )
        return application, version, not tables, whole
    finally:
        connection.close()
        if kept is not None:
            kept.close()


def _application(connection: sqlite3.Connection) -> tuple[int, int]:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    return application, connection.execute("PRAGMA user_version").fetchone()[0]


@functools.cache
def _expected_schema() -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        create(connection)
        return schema_of(connection)


def _check_layout(connection: sqlite3.Connection) -> None:
    """A fault unless the tables are exactly those that this version makes."""
    if _application(connection) != (APPLICATION, VERSION):
        raise LedgerFault("the header is not that of a ledger")
    if schema_of(connection) != _expected_schema():
        raise LedgerFault("the tables are not those of a ledger")


def _check_pages(connection: sqlite3.Connection) -> None:
    """A fault if SQLite finds damage: a key whose row is hidden could be used again."""
    found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if found != "ok":
        raise LedgerFault(str(found))


class SQLite(Tabled):
    """A durable ledger in a file, for any number of threads and processes of one machine.

    Guarantee
        That of `Ledger`, and durability: what `reserve` and `commit` acknowledged survives the
        death of the process, and of the machine as far as the disk keeps what it confirmed. When
        the file cannot be written (disk full, read-only, input or output error), the call is a
        `LedgerFault` and this object refuses every further use.

    Opening finalises as spent every reservation that a dead process never answered.

    Parameters
        path: the file; a new one has permissions 0600. SQLite's `-wal` and `-shm` beside it, and a
            lock file of each live process in `-owners`, belong to it.
        anchor: a file that `anchor` wrote, kept elsewhere; a ledger that does not continue it (an
            old copy, entries removed) is a `LedgerFault`. It may be missing for an empty ledger
            only. None for the ledger's name with `.anchor` added, if that file exists.

    A file that was copied while in use, without its `-wal`, is refused: see `wal.py`.

    Example
        >>> import tempfile, os
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with SQLite(os.path.join(folder, "census.ledger")) as ledger:
        ...         _ = ledger.open_dataset("census", total=5, neighbours="replace")
        ...         print(ledger.verify().entries, ledger.balance().remaining)
        1 5
    """

    _database: File

    @checked_call
    def __init__(
        self, path: str | os.PathLike[str], *, anchor: str | os.PathLike[str] | None = None
    ) -> None:
        file = self._database = File(path)
        # also at exit; the file has no reference to this object, which can be collected
        self._close = weakref.finalize(self, file.close)
        try:
            file.prepare()
            beside = f"{file.path}.anchor"
            self._settle_in(beside if anchor is None and os.path.lexists(beside) else anchor)
            file.sweep()
        except BaseException:
            self._close()
            raise

    @property
    def path(self) -> Path:
        return Path(self._database.path)

    def close(self) -> None:
        self._close()
