"""A ledger in the tables of a database: what SQLite files and PostgreSQL servers share."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

from ...errors import LedgerFault, Refused
from .. import facts
from ..contract import Ledger, closed
from ..facts import Entry
from ..results import Verification
from ..totals import Shelf
from ..transactions.journal import Journal
from ..transactions.reserve import recover
from ..transactions.writer import Request, Writer
from ..verify import Anchor
from .sql_tables import Tables

T = TypeVar("T")
GONE = "entries that were there are gone"


class Database(ABC):
    """A database with one writer for all threads of this process; unusable after a fault.

    is_new: whether this object made the tables.
    """

    def __init__(self) -> None:
        self.is_new = False
        self._fault = ""
        self._closed = False
        self.writer = Writer(self._carry_out)

    @abstractmethod
    def read(self, look: Callable[[Tables], T]) -> T:
        """Runs `look` on one consistent state."""

    @abstractmethod
    def inspect(self, anchor: Anchor | None) -> Verification:
        """Recounts everything, from rows that are read again."""

    @abstractmethod
    def _carry_out(self, batch: list[Request[Any]]) -> None:
        """Runs a batch in one transaction; returns when that is durable."""

    @abstractmethod
    def _let_go(self) -> None:
        """Closes everything, after the last batch."""

    def write(self, work: Callable[[Journal], T]) -> T:
        """Runs `work` in a transaction; returns when it is durable."""
        self._usable()
        return self.writer.submit(work)

    def close(self) -> None:
        """Carries out waiting requests, then closes files and sessions."""
        if not self._closed:
            self._closed = True
            if self.writer.stop():
                self._let_go()
            else:
                self.writer.afterwards = self._let_go

    def _usable(self) -> None:
        if self._fault:
            raise LedgerFault(self._fault)
        if self._closed:
            raise closed()


def carry_out(batch: list[Request[Any]], journal: Journal, tables: Tables) -> tuple[int, bytes]:
    """Does the work of a batch in an open transaction; returns the new head."""
    for request in batch:
        try:
            request.result = request.work(journal)
        except Refused as refusal:
            request.error = refusal
    if journal.written:
        tables.take(journal)
    return journal.head


def check_head(tables: Tables) -> None:
    """A fault unless the last entry follows from the one before."""
    count, link = tables.head()
    if count:
        before, last = tables.link(count - 1), tables.texts(count - 1, 1)
        if before is None or not last or facts.link(before, str(last[0][1])) != link:
            raise LedgerFault("the ledger's last entry does not follow from the one before")


_PAGE = 1000


class Tabled(Ledger):
    """What ledgers in a database share; a `Database` defines how transactions run."""

    _database: Database

    def _settle_in(self, anchor: str | os.PathLike[str] | None) -> None:
        """Compares the ledger with its anchor, and finalises what dead processes left open."""
        if anchor is not None:
            kept = Anchor.read_if_there(anchor)
            if kept is not None:
                self._hold_to(kept)
            elif self._database.read(lambda rows: rows.head())[0]:
                raise LedgerFault(f"the anchor `{anchor}` is missing and the ledger is not new")
        if self._database.read(lambda rows: rows.open_tickets()):
            self._database.write(recover)

    @property
    def is_new(self) -> bool:
        return self._database.is_new

    def _secret(self) -> bytes:
        return self._database.read(lambda rows: rows.secret())

    def _write(self, work: Callable[[Journal], T]) -> T:
        return self._database.write(work)

    def _read(self, look: Callable[[Shelf], T]) -> T:
        return self._database.read(look)

    def _entries(self) -> Iterator[Entry]:
        last, _ = self._database.read(lambda rows: rows.head())
        after = 0
        while after < last:
            count = min(_PAGE, last - after)
            page = self._database.read(partial(Tables.texts, after=after, count=count))
            if not page:
                raise LedgerFault(GONE)
            for sequence, text, link in page:
                yield facts.entry(sequence, text, link)
            after = page[-1][0]

    def _inspect(self, anchor: Anchor | None) -> Verification:
        return self._database.inspect(anchor)
