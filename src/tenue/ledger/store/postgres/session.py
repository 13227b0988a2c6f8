"""One session with the server, whose settings make writes durable, and the lock of its owner.

Every owner of reservations holds a lock in its session. The server drops the lock when the session
ends for any reason, so a reservation whose owner's lock can be taken belongs to a dead process. An
error costs an answer, never privacy: the price was debited when it was reserved.
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
"""Seconds to wait for other writers, or for the server to end an idle one."""
_OLDEST = 130000
_PAGE = 2000

_SETTINGS = (
    "SET client_encoding = 'UTF8'",
    "SET standard_conforming_strings = on",
    "SET default_transaction_deferrable = off",
    f"SET lock_timeout = '{PATIENCE}s'",
    # a stopped process must not block the other writers
    f"SET idle_in_transaction_session_timeout = '{PATIENCE // 2}s'",
)


class Session:
    """A connection whose statements have `?` for values, and the lock of its owner."""

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
        """A read-only transaction on one consistent state."""
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
        (row,) = self._connection.execute("SELECT gen_random_uuid()::text").fetchall()
        return str(row[0])

    def be(self, owner: str) -> bool:
        """Takes the lock of this owner until the session ends; False if another session has it."""
        if self._lock_taken("pg_try_advisory_lock", owner):
            self.owner = owner
        return self.owner == owner

    def alive(self, owner: str) -> bool:
        """Whether an owner may still be at work; inside a transaction, which keeps the lock."""
        return owner == self.owner or not self._lock_taken("pg_try_advisory_xact_lock", owner)

    def _lock_taken(self, function: str, owner: str) -> bool:
        row = self._connection.execute(f"SELECT {function}(%s)", (self.lock(owner),)).fetchone()
        return row is not None and bool(row[0])

    def lock(self, owner: str) -> int:
        """The number of an owner's lock."""
        digest = hashlib.sha256(f"{self.schema}\0{owner}".encode()).digest()
        return int.from_bytes(digest[:8], "big", signed=True)

    def close(self) -> None:
        with suppress(psycopg.Error):
            self._connection.close()


def connected(address: Address) -> psycopg.Connection[tuple[Any, ...]]:
    """A connection to the ledger's schema; refused if the server does not wait for its disk."""
    try:
        made = psycopg.connect(
            address.server, autocommit=True, connect_timeout=10, application_name="tenue ledger"
        )
    except psycopg.Error as error:
        raise LedgerFault(f"the ledger's server cannot be reached ({type_of(error)})") from None
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
        raise LedgerFault(f"the ledger's server does not answer ({type_of(error)})") from None
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


def type_of(error: psycopg.Error) -> str:
    """The type of an error, whose message may quote stored values."""
    return type(error).__name__


@cache
def _translated(statement: str) -> bytes:
    return statement.replace("?", "%s").encode()
