"""The moment at which a release leaves: registered once, before the first table is handed out.

Guarantee
    To make a release registers nothing. Whatever hands out a table asks here first; the first who
    asks has it registered, others wait for that, and where it is refused nothing is handed out.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import Refused, refuse
from ...promise import Certificate
from .leave import Registration, Target, file_kind, leave
from .save import write_release

_LATER = "Not yet: it is registered when the table leaves, by .table, .save or .digest."
_NOWHERE = "In no ledger: a second release would not be noticed."
_PREVIEW = "Nothing: this is a preview, which has no table."


@dataclass(eq=False)
class Departure:
    """How one release leaves.

    tables, certificate: what leaves.
    source_kind: what kind of data frame or file the rows came from.
    registration: what it is registered with; None for no ledger.
    repeatable: whether there is nothing to register, for a second release tells no more.
    """

    tables: Mapping[str, Any]
    certificate: Certificate
    source_kind: str
    registration: Registration | None
    left: bool = False
    word: str = "Release"
    repeatable: bool = False
    _turn: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def to_caller(self) -> None:
        """The table is about to be handed out."""
        self._depart(None)

    def to_folder(self, target: Target) -> dict[str, Any]:
        """Saves all files or none; returns the manifest."""
        return self._depart(target)

    def _depart(self, target: Target | None) -> dict[str, Any]:
        with self._turn:
            if not self.left:
                books = nullcontext() if self.registration is None else self.registration.books
                with books:
                    manifest = leave(
                        self.tables, self.certificate, self.source_kind, self.registration, target
                    )
                self.left = True
                return manifest
        return {} if target is None else self._again(target)

    def _again(self, target: Target) -> dict[str, Any]:
        kind, text = file_kind(target.kind, self.source_kind), self.certificate.to_json()
        return write_release(
            *(target.folder, self.tables, text, kind), replace=target.replace, report=target.report
        )

    @property
    def registered_in(self) -> Path | None:
        """The ledger's file, once it is written there."""
        if self.registration is None or not self.left:
            return None
        return self.registration.books.path

    @property
    def said(self) -> str | None:
        """What a screen says of the register; None where there is nothing to think about."""
        if self.registration is None:
            return None if self.repeatable else _NOWHERE
        return None if self.left else _LATER


class Preview(Departure):
    """Of a release that was only tried: it never leaves."""

    def __init__(self, certificate: Certificate) -> None:
        super().__init__({}, certificate, "", None, word="Preview")

    def to_caller(self) -> None:
        raise _refusal()

    def to_folder(self, target: Target) -> dict[str, Any]:
        raise _refusal()

    @property
    def said(self) -> str:
        return _PREVIEW


def _refusal() -> Refused:
    return refuse("microdata.preview-without-table")
