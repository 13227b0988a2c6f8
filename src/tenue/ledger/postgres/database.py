"""One ledger in a PostgreSQL schema: how it is made, read, and written in transactions.

Guarantee
    A batch is durable when `_carry_out` returns. Writers of all machines wait for one row, so that
    each sees all that was written before. A batch whose fate is unknown, because the server went
    away, is reported as a fault and never tried again; what it may have reserved is finalised as
    spent by the next batch. A server that comes back without an entry that was there is a fault
    for ever.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg import sql as compose

from ...errors import LedgerFault, refuse
from .. import chain
from ..fork import watch
from ..proof.anchor import Anchor
from ..proof.inspection import inspect
from ..record import Verification
from ..sql.database import GONE, Database, carry_out, check_head, new_secret
from ..sql.tables import Tables
from ..transaction.journal import Journal
from ..transaction.settlement import bury
from ..transaction.writer import Request
from .address import Address
from .layout import check, create, tables_of
from .session import Session

T = TypeVar("T")


class InServer(Database):
    """A ledger's schema in use by this process: a session that writes, and one that reads."""

    def __init__(self, address: Address) -> None:
        super().__init__()
        self.address = address
        self._seen: tuple[int, bytes] = (0, chain.GENESIS)
        self._unsure = False
        self._begin_anew()
        watch(self)

    def _begin_anew(self) -> None:
        """In a new process: is somebody else, and leaves the parent its sessions."""
        self._owner = ""
        self._sessions: dict[str, Session] = {}
        self._locks = {role: threading.Lock() for role in ("write", "read")}

    def prepare(self, *, make: bool = True) -> None:
        """Makes an empty schema a ledger, if that is wanted and it is refused otherwise; a fault
        if the tables or the last entry are not ours."""
        with self._asking("write") as session:
            try:
                session.execute("BEGIN")
                session.execute("SELECT pg_advisory_xact_lock(?)", (session._lock("making"),))
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
        found = tables_of(session, _quoted(name)) if there else set()
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
        """Runs `look` on one consistent state; once more if the server had gone away."""
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
            return Verification(False, 0, chain.GENESIS.hex(), None, str(fault))

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
            unsure, self._unsure = self._unsure, True  # until the server says what became of it
            try:
                head = self._settle(session, batch, unsure=unsure)
                session.commit()
            except BaseException:
                session.roll_back()
                raise
            self._seen, self._unsure = head, False

    def _in_turn(self, session: Session) -> Session:
        """A session whose turn it is; a new one if the server went away while nothing was asked."""
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
        """The session of this role; what PostgreSQL says of a failure is never repeated.

        again: whether the caller tries once more if the session is found to be broken.
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

    def before_fork(self) -> None:
        for lock in self._locks.values():
            lock.acquire()

    def after_fork_in_parent(self) -> None:
        for lock in self._locks.values():
            lock.release()

    def after_fork_in_child(self) -> None:
        self._inherited = self._sessions  # closing them would end the parent's
        self._begin_anew()
        self.writer.begin_anew()


def _quoted(schema: str) -> str:
    return compose.Identifier(schema).as_string()


def _failed(error: psycopg.Error) -> str:
    kind = type(error).__name__
    if isinstance(error, psycopg.errors.LockNotAvailable):
        return "other processes kept the ledger busy for too long"
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        return f"the role may not do this with the ledger's tables ({kind})"
    return f"the ledger's server did not answer ({kind})"
