"""A ledger in one SQLite file, shared by many threads and processes of one machine."""

from __future__ import annotations

import os
import weakref
from pathlib import Path

from ...number import checked_call
from ..sql.ledger import Tabled
from .file import File


class SQLite(Tabled):
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

    _database: File

    @checked_call
    def __init__(
        self, path: str | os.PathLike[str], *, anchor: str | os.PathLike[str] | None = None
    ) -> None:
        file = self._database = File(path)
        # also at exit; the file does not know this object, so that it can be let go
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
