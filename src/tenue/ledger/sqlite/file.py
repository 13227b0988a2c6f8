"""One ledger file: how it is created, recognised, read, and written in transactions.

Guarantee
    A batch is on disk when `carry_out` returns (WAL, synchronous=FULL). If anything but a busy file
    goes wrong, the file is poisoned: this object refuses every further use, and a write whose fate
    is unknown is never tried again.
"""

from __future__ import annotations

import functools
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ...errors import LedgerFault, refuse
from .. import chain
from ..fork import watch
from ..proof.anchor import Anchor
from ..proof.inspection import inspect
from ..record import Verification
from ..sql.database import GONE, Database, carry_out, check_head, new_secret
from ..sql.tables import Tables
from ..transaction.journal import Journal
from ..transaction.writer import Request
from .connection import Connections, is_busy, keeper, transaction
from .layout import APPLICATION, BEFORE, VERSION, create, keep_secret, schema_of, upgrade
from .log import WHOLE, announce, finish, has_log, state_of
from .owner import Owners

T = TypeVar("T")
_DAMAGE = (sqlite3.Error, UnicodeDecodeError)  # text that is not UTF-8 escapes as the latter


class File(Database):
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
        """Makes an empty file a ledger; a fault if the tables or the last entry are not ours."""
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
        """Recounts everything, on pages read anew from the file."""
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
                False, 0, chain.GENESIS.hex(), None, f"the file is damaged: {error}"
            )

    def _let_go(self) -> None:
        self._connections.close()
        if not self._fault:  # else nobody knows what the disk would do
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

    def before_fork(self) -> None:
        self._connections.before_fork()

    def after_fork_in_parent(self) -> None:
        self._connections.after_fork_in_parent()

    def after_fork_in_child(self) -> None:
        self._connections.after_fork_in_child()
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
    """Creates the file for its owner only, if it is not there; says which file it is."""
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
    """Refuses a file that is not a ledger, or not all of one, before anything is written to it."""
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
        finish(path)  # removes the empty log that was made by looking
        raise refuse("ledger.ledger-without-log", path=path, log=log)


def _looked_at(path: str) -> tuple[int, int, bool, bool]:
    """What the header says; whether there are no tables; whether nothing of it is elsewhere."""
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
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        create(connection)
        return schema_of(connection)
    finally:
        connection.close()


def _check_layout(connection: sqlite3.Connection) -> None:
    """A fault unless the tables are those that this version makes, and nothing besides."""
    if _application(connection) != (APPLICATION, VERSION):
        raise LedgerFault("the header is not that of a ledger")
    if schema_of(connection) != _expected_schema():
        raise LedgerFault("the tables are not those of a ledger")


def _check_pages(connection: sqlite3.Connection) -> None:
    """A fault if SQLite finds a page, an index or an order damaged: a hidden row is a free key."""
    found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if found != "ok":
        raise LedgerFault(str(found))
