"""The tables of one ledger, in use by this process: what files and servers share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

from ...errors import LedgerFault, Refused
from .. import chain
from ..contract import closed
from ..proof.anchor import Anchor
from ..record import Verification
from ..transaction.journal import Journal
from ..transaction.writer import Request, Writer
from .tables import Tables

T = TypeVar("T")
GONE = "entries that were there are gone"


class Database(ABC):
    """One writer for all threads of this process, closed once, and of no use after a fault.

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
        """Recounts everything, from rows read anew."""

    @abstractmethod
    def _carry_out(self, batch: list[Request[Any]]) -> None:
        """Runs a batch in one transaction; returns when that is durable."""

    @abstractmethod
    def _let_go(self) -> None:
        """Closes everything, once the last batch was carried out."""

    def write(self, work: Callable[[Journal], T]) -> T:
        """Runs `work` in a transaction; returns when it is durable."""
        self._usable()
        return self.writer.submit(work)

    def close(self) -> None:
        """Carries out what waits and lets go of files and sessions."""
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
    """Does the work of a batch in the transaction that was begun; the last entry afterwards."""
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
        if before is None or not last or chain.link(before, str(last[0][1])) != link:
            raise LedgerFault("the ledger's last entry does not follow from the one before")


def new_secret() -> bytes:
    """A key for the seals of a new ledger."""
    from ...noise.source import SYSTEM  # which loads numpy, for new ledgers only

    return SYSTEM.words(4).tobytes()
