"""By what a table in a server is known again: its place in the catalogue, and its columns' types.

Whether rows were added or changed is not looked at: a table in a server lives, and its holder says
by `version` in the schema when answers are about other rows. No value can make a question fail, so
that nothing needs to be read again for that.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .watch import Stamp, digest_of


class InServer:
    """A table as the catalogue described it when it was opened.

    Parameters
        name: what the table is called.
        look: what the catalogue says now, in words.
        how: how the table is read, in words: its declared columns.
    """

    paths: tuple[Path, ...] = ()

    def __init__(self, name: str, look: Callable[[], str], how: str) -> None:
        self._name, self._look, self._how = name, look, how
        self._seen = look()

    def unchanged(self) -> bool:
        """Whether the same table is still there, with the same columns."""
        return self._look() == self._seen

    def digest(self) -> str:
        """A digest of its place and columns."""
        return digest_of(self._seen)

    def stamp(self) -> Stamp:
        """What the ledger records."""
        return Stamp((self._name,), 0, 0, digest_of(self._seen), digest_of(self._how))
