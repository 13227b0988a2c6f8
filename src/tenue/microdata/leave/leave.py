"""How a release leaves: registered first, then handed out or given its name on the disk.

Nothing leaves unregistered. What was registered and then could not leave is recorded as withdrawn,
so that the next attempt is not refused as a second release.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...promise import Certificate
from ...schema import Schema
from ..method.method import Method
from .registry import Register, register, withdraw
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
    schema: Schema
    method: Method
    marks: tuple[str, ...]

    def write(self, digest: str, *, draft: bool = False) -> None:
        ledger = self.books.made()
        register(ledger, self.schema, self.method, digest, self.marks, draft=draft)

    def left(self, digest: str) -> None:
        """Nobody can withdraw it any more."""
        ledger = self.books.made()
        ledger.release_left(ledger.known_as(self.schema.name), digest)

    def withdraw(self, digest: str) -> None:
        withdraw(self.books.made(), self.schema, digest, _LOST)


def leave(
    table: Any,
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
    digest = digest_of(table, certificate)
    if target is None:
        if registration is not None:
            registration.write(digest)
        return {}
    kind = file_kind(target.kind, source_kind)
    text = certificate.to_json()
    draft = Draft.write(target.folder, table, text, kind, replace=target.replace)
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


def digest_of(table: Any, certificate: Certificate) -> str:
    """The SHA-256 of table and certificate, by which a ledger knows the release."""
    import pyarrow

    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    found = hashlib.sha256(certificate.to_json().encode())
    found.update(sink.getvalue())
    return found.hexdigest()
