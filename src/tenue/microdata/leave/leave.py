"""How a release leaves: registered first, then handed out or given its name on the disk.

Nothing leaves unregistered. What was registered and then could not leave is recorded as withdrawn,
so that the next attempt is not refused as a second release.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...promise import Certificate
from ..method.contract import Method
from .registry import Register, register
from .save import Draft

_LOST = "the files could not be given their name"


@dataclass(frozen=True)
class Target:
    """Where a release is to be saved, and how: as for `Release.save`."""

    folder: Path
    kind: str | None = None
    replace: bool = False


@dataclass(frozen=True)
class Registration:
    """What a release is registered with: the ledger, what was released, and marks of its rows."""

    books: Register
    method: Method
    marks: tuple[str, ...]

    def write(self, digest: str, *, draft: bool = False) -> None:
        register(self.books.made(), self.method, digest, self.marks, draft=draft)

    def left(self, digest: str) -> None:
        """Nobody can withdraw it any more."""
        ledger = self.books.made()
        ledger.release_left(ledger.known_as(self.method.schema.name), digest)

    def withdraw(self, digest: str) -> None:
        """Records that it never left."""
        ledger = self.books.made()
        ledger.withdraw_release(ledger.known_as(self.method.schema.name), digest, reason=_LOST)


def leave(
    tables: Mapping[str, Any],
    certificate: Certificate,
    source_kind: str,
    registration: Registration | None,
    target: Target | None,
) -> dict[str, Any]:
    """Registers the release and, where there is a target, saves it; returns the manifest.

    Without a target the table is handed to the caller, so it has left once it is registered. With
    one, its files lie complete in a hidden folder before it is registered. A crash after that
    leaves them there, registered; only a failure that this program sees is recorded as withdrawn.
    """
    digest = digest_of(tables, certificate)
    if target is None:
        if registration is not None:
            registration.write(digest)
        return {}
    kind = file_kind(target.kind, source_kind)
    text = certificate.to_json()
    draft = Draft.write(target.folder, tables, text, kind, replace=target.replace)
    registered = False
    try:
        if registration is not None:
            registration.write(digest, draft=True)
            registered = True
        manifest = draft.place()
        if registration is not None:
            registration.left(digest)
        return manifest
    except BaseException:
        # files that have their name have left, whatever failed afterwards
        if registration is not None and registered and not draft.placed:
            draft.discard()
            registration.withdraw(digest)
        raise
    finally:
        draft.discard()


def file_kind(asked: str | None, source_kind: str) -> str:
    """Which kind of file a release is saved as: what was asked for, else that of the source."""
    return asked or ("csv" if source_kind == "csv" else "parquet")


def digest_of(tables: Mapping[str, Any], certificate: Certificate) -> str:
    """The SHA-256 of tables and certificate, by which a ledger knows the release."""
    import pyarrow

    found = hashlib.sha256(certificate.to_json().encode())
    for name, table in tables.items():
        if len(tables) > 1:
            found.update(name.encode() + b"\0")
        sink = pyarrow.BufferOutputStream()
        with pyarrow.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table.combine_chunks())
        found.update(sink.getvalue())
    return found.hexdigest()
