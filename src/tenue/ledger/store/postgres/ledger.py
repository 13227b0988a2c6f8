"""A ledger in a PostgreSQL schema, shared by the processes of many machines.

Guarantee
    A batch is durable when `_carry_out` returns. Writers of all machines wait for one row, so that
    each sees every earlier entry. If the connection is lost and it is unknown whether a batch was
    committed, that is a fault and the batch is never tried again; the next batch finalises as spent
    what it may have reserved. A server that has lost an entry is a permanent fault.
"""

from __future__ import annotations

import hashlib
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg import sql as compose

from ....arguments import checked_call
from ....errors import LedgerFault, refuse
from ... import facts
from ...fork import Forkable, watch
from ...results import Verification
from ...transactions.journal import Journal
from ...transactions.reserve import bury
from ...transactions.writer import Request
from ...verify import Anchor, inspect, new_secret
from ..sql_database import GONE, Database, Tabled, carry_out, check_head
from ..sql_tables import KEPT, Connected, Tables
from .address import Address, given_address
from .session import Session, type_of

APPLICATION = "tenue ledger"
VERSION = 4
"""The layout of the tables, with the same number as that of SQLite files."""

_BYTEWISE = 'COLLATE "C"'
_COLUMNS = {
    table: tuple(
        (name, kind.removesuffix("?"), not kind.endswith("?"))
        for name, kind in map(str.split, columns.split(", "))
    )
    for table, columns in {
        "about": "application text, layout bigint",
        "turn": "place bigint",
        "entry": "sequence bigint, text text, link bytea",
        "ticket": "sequence bigint, name bytea?, cache bytea?, owner text, outcome bigint, "
        "settled bigint?",
        "answer": "sequence bigint, content bytea",
        "dataset": "name text, neighbours text, total bigint, total_delta bigint, "
        "per_analyst bigint?, schema_digest text, data_version text, repriced bigint, "
        "widest bigint, individual bigint?, unit text",
        "account": "dataset text, analyst text, statistical bigint, most bigint, delta bigint, "
        "most_delta bigint, individual bigint",
        "person": "dataset text, analyst text, person text, nano bigint, atto bigint",
        "question": "dataset text, name text, times bigint",
        "release": "dataset text, digest text, sequence bigint",
        "protocol": "dataset text, protocol text",
        "source": "dataset text, mark text, reading text, digest text",
        "seal": "name text, content bytea, digest bytea",
    }.items()
}
"""The columns of each table: name, type, and whether a value is required (no `?`)."""

_KEYS = {"turn": "place", "entry": "sequence", "ticket": "sequence", "answer": "sequence"}
_KEYS |= {table: ", ".join(columns[:keys]) for table, (keys, columns) in KEPT.items()}
_KEYS["seal"] = "name"
_INDEXES = (
    ("UNIQUE INDEX", "ticket_name", "ticket (name) WHERE outcome <> 2"),
    ("INDEX", "ticket_open", "ticket (sequence) WHERE outcome = 0"),
    ("INDEX", "ticket_cache", "ticket (cache, settled) WHERE outcome = 1"),
)

# a table that is not logged is emptied by a crash; a policy hides rows; a trigger changes them
_ODD = """
SELECT COUNT(*) FROM pg_class c WHERE c.relnamespace = ?::regnamespace AND (
    c.relkind NOT IN ('r', 'i') OR c.relpersistence <> 'p' OR c.relrowsecurity OR c.relhasrules
    OR EXISTS (SELECT 1 FROM pg_trigger t WHERE t.tgrelid = c.oid)
    OR EXISTS (SELECT 1 FROM pg_index i WHERE i.indexrelid = c.oid AND NOT i.indisvalid)
)
"""
_FOUND = """
SELECT c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod), a.attnotnull,
    a.attcollation = 0 OR a.attcollation = '"C"'::regcollation
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = ?::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY c.relname, a.attnum
"""
_ABOUT = "SELECT application, layout FROM about"
_UNIQUE = """
SELECT c.relname::text FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
WHERE c.relnamespace = ?::regnamespace AND i.indisunique ORDER BY 1
"""


def create(connection: Connected, schema: str, secret: bytes) -> None:
    """Makes an empty schema, which is in the search path, a ledger; inside a transaction.

    Texts are compared byte by byte, so that no server's collation makes two names equal.
    """
    for table, columns in _COLUMNS.items():
        listed = [
            " ".join((name, kind, *[_BYTEWISE] * (kind == "text"), *["NOT NULL"] * needed))
            for name, kind, needed in columns
        ]
        if table in _KEYS:
            listed.append(f"PRIMARY KEY ({_KEYS[table]})")
        connection.execute(f"CREATE TABLE {schema}.{table} ({', '.join(listed)})")
    for kind, name, place in _INDEXES:
        connection.execute(f"CREATE {kind} {name} ON {schema}.{place}")
    connection.execute("INSERT INTO turn VALUES (0)")
    connection.execute("INSERT INTO about VALUES (?, ?)", (APPLICATION, VERSION))
    connection.execute(
        "INSERT INTO seal VALUES ('certificates', ?, ?)", (secret, hashlib.sha256(secret).digest())
    )


def check(connection: Connected, schema: str) -> None:
    """A fault unless the tables are exactly those that this version makes."""
    expected = [(table, *column, True) for table in sorted(_COLUMNS) for column in _COLUMNS[table]]
    unique = sorted([f"{table}_pkey" for table in _KEYS] + ["ticket_name"])
    odd = connection.execute(_ODD, (schema,)).fetchone()[0]
    found = [tuple(row) for row in connection.execute(_FOUND, (schema,))]
    keys = [row[0] for row in connection.execute(_UNIQUE, (schema,))]
    strange = odd or found != expected or keys != unique
    if strange or [*map(tuple, connection.execute(_ABOUT))] != [(APPLICATION, VERSION)]:
        raise LedgerFault("the tables are not those of a ledger")
    if len(connection.execute("SELECT place FROM turn").fetchall()) != 1:
        raise LedgerFault("the row that writers wait for is missing")


# -- Making, reading and writing a ledger in a PostgreSQL schema -----------------------------------

T = TypeVar("T")


class InServer(Database, Forkable):
    """A ledger's schema in use by this process: a session that writes, and one that reads."""

    def __init__(self, address: Address) -> None:
        super().__init__()
        self.address = address
        self._seen: tuple[int, bytes] = (0, facts.GENESIS)
        self._unsure = False
        self._begin_anew()
        watch(self)

    def _begin_anew(self) -> None:
        """In a new process: starts as another owner, without the parent's sessions."""
        self._owner = ""
        self._sessions: dict[str, Session] = {}
        self._locks = {role: threading.Lock() for role in ("write", "read")}

    def prepare(self, *, make: bool = True) -> None:
        """Makes an empty schema a ledger if `make`, else refuses it; a fault if the tables or the
        last entry are not those of a ledger."""
        with self._asking("write") as session:
            try:
                session.execute("BEGIN")
                session.execute("SELECT pg_advisory_xact_lock(?)", (session.lock("making"),))
                self._make(session, make)
                check(session, _quoted(self.address.schema))
                check_head(Tables(session))
                session.commit()
            except BaseException:
                session.roll_back()
                raise

    def _make(self, session: Session, wanted: bool) -> None:
        name = self.address.schema
        there = session.execute("SELECT 1 FROM pg_namespace WHERE nspname = ?", (name,)).fetchone()
        found = {row[0] for row in session.execute(_FOUND, (_quoted(name),))} if there else set()
        if found and "about" not in found:
            raise refuse("ledger.foreign-ledger-schema", schema=name)
        if not found:
            if not wanted:
                raise refuse("ledger.no-ledger", schema=name)
            if not there:
                session.execute(f"CREATE SCHEMA {_quoted(name)}")
            create(session, _quoted(name), new_secret())
            self.is_new = True

    def read(self, look: Callable[[Tables], T]) -> T:
        """Runs `look` on one consistent state; tries again if the connection was lost."""
        self._usable()
        for attempt in (1, 2):
            with self._asking("read", again=attempt == 1) as session, session.reading():
                return look(Tables(session))
        raise LedgerFault("the ledger's server does not answer")

    def inspect(self, anchor: Anchor | None) -> Verification:
        """Recounts everything, on one consistent state."""
        self._usable()
        try:
            with self._asking("read") as session, session.reading():
                check(session, _quoted(self.address.schema))
                return inspect(session.lines(), Tables(session).totals(), anchor)
        except LedgerFault as fault:
            return Verification(False, 0, facts.GENESIS.hex(), None, str(fault))

    def _let_go(self) -> None:
        for role, lock in self._locks.items():
            with lock:
                self._drop(role)

    # -- one batch ---------------------------------------------------------------------------------

    def _carry_out(self, batch: list[Request[Any]]) -> None:
        if self._fault:
            raise LedgerFault(self._fault)
        with self._asking("write") as session:
            session = self._in_turn(session)
            unsure, self._unsure = self._unsure, True  # until the server confirms
            try:
                head = self._settle(session, batch, unsure=unsure)
                session.commit()
            except BaseException:
                session.roll_back()
                raise
            self._seen, self._unsure = head, False

    def _in_turn(self, session: Session) -> Session:
        """The session, once it is its turn; a new one if the connection was lost meanwhile."""
        try:
            session.begin()
        except psycopg.OperationalError:
            if not session.broken:
                raise
            self._drop("write")
            session = self._session("write")
            session.begin()
        return session

    def _settle(
        self, session: Session, batch: list[Request[Any]], *, unsure: bool
    ) -> tuple[int, bytes]:
        tables = Tables(session)
        head = tables.head()
        if head[0] < self._seen[0] or tables.link(self._seen[0]) != self._seen[1]:
            self._fault = GONE
            raise LedgerFault(GONE)
        journal = Journal(tables, head, lambda: self._owner, session.alive)
        if unsure:
            bury(journal, self._owner, since=self._seen[0])
        return carry_out(batch, journal, tables)

    # -- sessions ----------------------------------------------------------------------------------

    @contextmanager
    def _asking(self, role: str, *, again: bool = False) -> Iterator[Session]:
        """The session of this role; PostgreSQL's own error messages are withheld.

        again: whether the caller tries again if the session is broken.
        """
        with self._locks[role]:
            session = self._session(role)
            try:
                yield session
            except psycopg.Error as error:
                broken = self._sessions.get(role, session).broken
                if broken:
                    self._drop(role)
                if not (broken and again):
                    raise LedgerFault(_failed(error)) from None

    def _session(self, role: str) -> Session:
        session = self._sessions.get(role)
        if session is not None and session.broken:
            self._drop(role)
            session = None
        if session is None:
            session = Session(self.address)
            if role == "write":
                self._owner = self._owner or session.new_owner()
                if not session.be(self._owner):
                    session.close()
                    raise LedgerFault("the server has not yet let go of the session before")
            self._sessions[role] = session
        return session

    def _drop(self, role: str) -> None:
        session = self._sessions.pop(role, None)
        if session is not None:
            session.close()

    def _before_fork(self) -> None:
        for lock in self._locks.values():
            lock.acquire()

    def _after_fork_in_parent(self) -> None:
        for lock in self._locks.values():
            lock.release()

    def _after_fork_in_child(self) -> None:
        self._inherited = self._sessions  # closing them would end the parent's
        self._begin_anew()
        self.writer.begin_anew()


def _quoted(schema: str) -> str:
    return compose.Identifier(schema).as_string()


def _failed(error: psycopg.Error) -> str:
    if isinstance(error, psycopg.errors.LockNotAvailable):
        return "other processes kept the ledger busy for too long"
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        return f"the role may not do this with the ledger's tables ({type_of(error)})"
    return f"the ledger's server did not answer ({type_of(error)})"


class Postgres(Tabled):
    """A durable ledger in a database, for any number of processes on any number of machines.

    Guarantee
        That of `Ledger`, and durability: what `reserve` and `commit` acknowledged survives the
        death of the process, and of the server as far as its disk keeps what it confirmed; a server
        that does not wait for its disk is refused. When the connection is lost, a call whose
        outcome is unknown is a `LedgerFault`: its price may be spent, and nothing may be drawn for
        it. The next call connects again. A server without an entry that this object has seen (an
        old backup, a replica that was behind) is refused from then on; other processes need an
        `anchor` to notice it.

    Opening finalises as spent every reservation that a dead process never answered.

    Parameters
        address: postgresql://user@host/database#schema, or any address that libpq reads, without a
            password: that comes from the environment or libpq's password file. A missing schema is
            made; its default name is "tenue_ledger". A pool of connections in between is not
            supported: an owner of reservations is identified by its session.
        anchor: as for `SQLite`; None for none.
        make: whether a missing ledger is made; it is refused otherwise.
    """

    _database: InServer

    @checked_call
    def __init__(
        self, address: str, *, anchor: str | os.PathLike[str] | None = None, make: bool = True
    ) -> None:
        database = self._database = InServer(given_address(address))
        # also at exit; the database has no reference to this object, which can be collected
        self._close = weakref.finalize(self, database.close)
        try:
            database.prepare(make=make)
            self._settle_in(anchor)
        except BaseException:
            self._close()
            raise

    @property
    def address(self) -> str:
        """The address of the ledger, without a password."""
        return str(self._database.address)

    def close(self) -> None:
        self._close()
