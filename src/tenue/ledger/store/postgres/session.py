"""One session with the server: settings that durability rests on, and who is at work in it.

Whoever reserves holds a lock of its own in its session. The server drops the lock when the session
ends, however that comes about, so a reservation whose owner's lock can be taken was left by the
dead. A wrong guess costs an answer, never privacy: the price was debited when it was reserved.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

import psycopg
from psycopg import sql as compose

from ....errors import LedgerFault, refuse
from ..sql_tables import LINES, Found
from .address import Address

PATIENCE = 60
"""Seconds to wait for other writers, or for an idle one to be cut off, before giving up."""
_OLDEST = 130000
_PAGE = 2000

_SETTINGS = (
    "SET client_encoding = 'UTF8'",
    "SET standard_conforming_strings = on",
    "SET default_transaction_deferrable = off",
    f"SET lock_timeout = '{PATIENCE}s'",
    # who holds the turn and says nothing, as a process that was stopped, gives it up
    f"SET idle_in_transaction_session_timeout = '{PATIENCE // 2}s'",
)


class Session:
    """A connection whose statements have `?` for values, and its owner's lock."""

    def __init__(self, address: Address) -> None:
        self.schema = address.schema
        self._connection = connected(address)
        self.owner = ""

    @property
    def broken(self) -> bool:
        return self._connection.closed

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Found:
        return self._connection.execute(_translated(statement), values)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_translated(statement), rows)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One consistent state, which nothing changes."""
        self._connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            yield
        finally:
            with suppress(psycopg.Error):
                self._connection.execute("ROLLBACK")

    def begin(self) -> None:
        """Starts a transaction that writes, and waits until it is this session's turn."""
        self._connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
        self._connection.execute("SELECT place FROM turn FOR UPDATE")

    def commit(self) -> None:
        """Returns when everything since `begin` is durable."""
        done = self._connection.execute("COMMIT").statusmessage
        if done != "COMMIT":  # the server answers an aborted transaction with ROLLBACK
            raise LedgerFault("the server did not keep what was written")

    def roll_back(self) -> None:
        with suppress(psycopg.Error):
            self._connection.execute("ROLLBACK")

    def lines(self) -> Iterator[tuple[Any, ...]]:
        """Every entry, with what belongs to it, a page at a time; inside `reading`."""
        self._connection.execute(f"DECLARE line NO SCROLL CURSOR FOR {LINES}")
        while page := self._connection.execute(f"FETCH {_PAGE} FROM line").fetchall():
            yield from page

    def new_owner(self) -> str:
        """A name that no other owner has or had."""
        row = self._connection.execute("SELECT gen_random_uuid()::text").fetchone()
        return "" if row is None else str(row[0])

    def be(self, owner: str) -> bool:
        """Takes the lock of this owner for as long as the session lasts; False if it is taken."""
        row = self._connection.execute(
            "SELECT pg_try_advisory_lock(%s)", (self._lock(owner),)
        ).fetchone()
        if row is not None and row[0]:
            self.owner = owner
        return self.owner == owner

    def alive(self, owner: str) -> bool:
        """Whether an owner may still be at work; inside a transaction, which keeps what it took."""
        if owner == self.owner:
            return True
        row = self._connection.execute(
            "SELECT pg_try_advisory_xact_lock(%s)", (self._lock(owner),)
        ).fetchone()
        return row is None or not row[0]

    def _lock(self, owner: str) -> int:
        digest = hashlib.sha256(f"{self.schema}\0{owner}".encode()).digest()
        return int.from_bytes(digest[:8], "big", signed=True)

    def close(self) -> None:
        with suppress(psycopg.Error):
            self._connection.close()


def connected(address: Address) -> psycopg.Connection[tuple[Any, ...]]:
    """A connection that sees the ledger's schema only, on a server that keeps what it confirms.

    Refused where the server was told not to wait for its disk.
    """
    try:
        made = psycopg.connect(
            address.server,
            autocommit=True,
            connect_timeout=10,
            application_name="tenue ledger",
        )
    except psycopg.Error as error:
        raise LedgerFault(f"the ledger's server cannot be reached{_named(error)}") from None
    try:
        if made.info.server_version < _OLDEST:
            raise refuse("ledger.ledger-server-too-old", version=made.info.server_version // 10000)
        for setting in _SETTINGS:
            made.execute(setting)
        path = compose.SQL("SET search_path = pg_catalog, {}, pg_temp")
        made.execute(path.format(compose.Identifier(address.schema)))
        _wait_for_the_disk(made)
    except psycopg.Error as error:
        made.close()
        raise LedgerFault(f"the ledger's server does not answer{_named(error)}") from None
    except BaseException:
        made.close()
        raise
    return made


def _wait_for_the_disk(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    for setting in ("fsync", "full_page_writes"):
        row = connection.execute(f"SHOW {setting}").fetchone()
        if row is None or row[0] != "on":
            raise refuse("ledger.not-durable", setting=setting)
    row = connection.execute("SHOW synchronous_commit").fetchone()
    if row is None or row[0] not in ("on", "remote_apply"):
        connection.execute("SET synchronous_commit = on")


def _named(error: psycopg.Error) -> str:
    """The kind of an error; its words may quote what is stored."""
    return f" ({type(error).__name__})"


@cache
def _translated(statement: str) -> bytes:
    return statement.replace("?", "%s").encode()
