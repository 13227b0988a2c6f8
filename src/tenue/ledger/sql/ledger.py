"""A ledger whose rows lie in the tables of a database."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TypeVar

from ...errors import LedgerFault
from .. import chain
from ..contract import Ledger, Rows
from ..fact import Entry
from ..proof.anchor import Anchor
from ..record import Verification
from ..transaction.journal import Journal
from ..transaction.settlement import recover
from .database import GONE, Database
from .tables import Tables

T = TypeVar("T")
_PAGE = 1000


class Tabled(Ledger):
    """What ledgers in a database share; a database says how its transactions run."""

    _database: Database

    def _settle_in(self, anchor: str | os.PathLike[str] | None) -> None:
        """What opening does: holds the ledger to its anchor, and finalises what the dead left."""
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

    def _read(self, look: Callable[[Rows], T]) -> T:
        return self._database.read(look)

    def _entries(self) -> Iterator[Entry]:
        last, _ = self._database.read(lambda rows: rows.head())
        after = 0
        while after < last:
            page = self._page(after, min(_PAGE, last - after))
            for sequence, text, link in page:
                yield chain.entry(sequence, text, link)
            after = page[-1][0]

    def _page(self, after: int, count: int) -> list[tuple[int, str, bytes]]:
        page = self._database.read(lambda rows: rows.texts(after, count))
        if not page:
            raise LedgerFault(GONE)
        return page

    def _inspect(self, anchor: Anchor | None) -> Verification:
        return self._database.inspect(anchor)

    def _hold_to(self, anchor: Anchor) -> None:
        def look(rows: Tables) -> str:
            return anchor.missed_by(rows.head()[0], rows.link(anchor.entries))

        missed = self._database.read(look)
        if missed:
            raise LedgerFault(missed)
