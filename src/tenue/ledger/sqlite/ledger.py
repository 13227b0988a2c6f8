"""A ledger in one SQLite file, shared by many threads and processes of one machine."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from ...errors import LedgerFault
from ...number import checked_call
from .. import chain
from ..contract import Ledger, Rows
from ..fact import Entry
from ..proof.anchor import Anchor
from ..record import Verification
from ..transaction.journal import Journal
from ..transaction.settlement import recover
from .file import File
from .tables import Tables

T = TypeVar("T")
_PAGE = 1000


class SQLite(Ledger):
    """A durable ledger in a file, for any number of threads and processes of one machine.

    Guarantee
        That of `Ledger`, and durability: what `reserve` and `commit` acknowledged survives the
        death of the process, and of the machine as far as the disk keeps what it confirmed. When
        the file cannot be written (disk full, read-only, input or output error), the call is a
        `LedgerFault` and this object refuses every further use.

    Opening finalises as spent whatever a dead process reserved and never answered.

    Parameters
        path: the file; made with permissions 0600 if nothing is there. Beside it SQLite keeps
            `-wal` and `-shm`, and live processes a lock file each in `-owners`. They belong to it.
        anchor: a file that `anchor` wrote, kept elsewhere; a ledger that does not go on from it
            (an old copy, a cut tail) is a `LedgerFault`. It may be missing for an empty ledger
            only. None for the file of the ledger's name and `.anchor` beside it, if there is one.

    A file that was copied while in use, without its `-wal`, is refused: see `log`.

    Example
        >>> import tempfile, os
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with SQLite(os.path.join(folder, "census.ledger")) as ledger:
        ...         _ = ledger.open_dataset("census", total=5, neighbours="replace")
        ...         print(ledger.verify().entries, ledger.balance().remaining)
        1 5
    """

    @checked_call
    def __init__(
        self, path: str | os.PathLike[str], *, anchor: str | os.PathLike[str] | None = None
    ) -> None:
        file = File(path)
        self._file = file
        # also at exit; the file does not know this object, so that it can be let go
        self._close = weakref.finalize(self, file.close)
        try:
            file.prepare()
            beside = f"{file.path}.anchor"
            if anchor is not None:
                self._held_at_opening(anchor)
            elif os.path.lexists(beside):
                self._held_at_opening(beside)
            if file.read(lambda rows: rows.open_tickets()):
                file.write(recover)
            file.sweep()
        except BaseException:
            self._close()
            raise

    @property
    def path(self) -> Path:
        return Path(self._file.path)

    @property
    def is_new(self) -> bool:
        return self._file.is_new

    def close(self) -> None:
        self._close()

    def _held_at_opening(self, path: str | os.PathLike[str]) -> None:
        kept = Anchor.read_if_there(path)
        if kept is not None:
            self._hold_to(kept)
        elif self._file.read(lambda rows: rows.head())[0]:
            raise LedgerFault(f"the anchor `{path}` is missing and the ledger is not new")

    def _secret(self) -> bytes:
        return self._file.secret()

    def _write(self, work: Callable[[Journal], T]) -> T:
        return self._file.write(work)

    def _read(self, look: Callable[[Rows], T]) -> T:
        return self._file.read(look)

    def _entries(self) -> Iterator[Entry]:
        last, _ = self._file.read(lambda rows: rows.head())
        after = 0
        while after < last:
            page = self._page(after, min(_PAGE, last - after))
            for sequence, text, link in page:
                yield chain.entry(sequence, text, link)
            after = page[-1][0]

    def _page(self, after: int, count: int) -> list[tuple[int, str, bytes]]:
        page = self._file.read(lambda rows: rows.texts(after, count))
        if not page:
            raise LedgerFault("entries that were there are gone")
        return page

    def _inspect(self, anchor: Anchor | None) -> Verification:
        return self._file.inspect(anchor)

    def _hold_to(self, anchor: Anchor) -> None:
        def look(rows: Tables) -> str:
            return anchor.missed_by(rows.head()[0], rows.link(anchor.entries))

        missed = self._file.read(look)
        if missed:
            raise LedgerFault(missed)
