"""A small file kept elsewhere that shows when the newest entries were cut off.

Guarantee
    A ledger that does not go on from the anchored entry is refused. An anchor kept beside the
    ledger proves nothing: whoever can roll back the one can roll back the other.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from ...errors import LedgerFault
from ..text import canonical


@dataclass(frozen=True, slots=True)
class Anchor:
    """How many entries a ledger had at least, and the hash of the last of them."""

    entries: int
    head: str
    time: str

    @classmethod
    def now(cls, entries: int, head: bytes) -> Anchor:
        return cls(entries, head.hex(), datetime.now(UTC).isoformat(timespec="milliseconds"))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Anchor:
        """The anchor in a file; a fault if it is missing or is not one."""
        try:
            plain = json.loads(Path(path).read_text(encoding="utf-8"))
            anchor = cls(**plain)
            if type(anchor.entries) is not int or anchor.entries < 0:
                raise ValueError("entries")
            if len(bytes.fromhex(anchor.head)) != 32:
                raise ValueError("head")
        except (OSError, ValueError, TypeError) as error:
            raise LedgerFault(f"the anchor `{path}` cannot be read: {error}") from None
        return anchor

    @classmethod
    def read_if_there(cls, path: str | os.PathLike[str]) -> Anchor | None:
        """The anchor in a file, or None if there is no such file yet."""
        return cls.read(path) if os.path.lexists(path) else None

    def write(self, path: str | os.PathLike[str]) -> None:
        """Replaces the file at once and durably: a crash leaves the old anchor or the new one."""
        target = Path(path).absolute()
        scratch = target.with_name(f".{target.name}.{os.getpid()}.new")
        try:
            handle = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(canonical(asdict(self)) + "\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(scratch, target)
            folder = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise LedgerFault(f"the anchor `{path}` cannot be written: {error}") from None

    def missed_by(self, entries: int, link: bytes | None) -> str:
        """Why a ledger with so many entries, and this hash at the anchored one, does not go on.

        Empty if it does.
        """
        if entries < self.entries:
            return f"the ledger has {entries} entries and the anchor knows {self.entries}"
        if link is None or link.hex() != self.head:
            return f"entry {self.entries} is not the one the anchor knows"
        return ""
