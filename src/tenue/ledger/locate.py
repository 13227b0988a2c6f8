"""Where the ledger of a table lies: what a caller gave, what the schema names, else a usual place.

Guarantee
    A ledger belongs to the data: it lies beside them, so that a copy of the schema starts no new
    budget and no new register. One that lies elsewhere, as beside the schema, is used where it
    lies, and from its first use on a link beside the data leads to it, so that whoever comes by
    another schema or another name of the rows finds the same one. Where two ledgers are found, or
    a link that leads to none, nothing is taken and nothing made.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ..errors import refuse
from ..schema.address import is_address
from .contract import Ledger
from .store.sqlite.ledger import SQLite

_ENDING = ".ledger"
Where = Path | str
"""The path of a ledger's file, or the address of its database."""


@dataclass(frozen=True)
class Place:
    """What says where the ledger of a table lies.

    named: the file that its schema names, or the database.
    data: where one may lie beside its data, the usual place first; nothing if they are in no file.
    schema: the schema's own file, beside which one lies if the data are in no file.
    """

    named: Where | None = None
    data: tuple[Path, ...] = ()
    schema: Path | None = None

    def find(self) -> Where | None:
        """Where the ledger lies, which need not be there yet; None if nothing says where."""
        usual = self.data
        if self.schema is not None:
            usual = (*usual, self.schema.absolute().with_suffix(_ENDING))
        there = _once([path for path in usual if path.exists()])
        if isinstance(self.named, str):
            if there:  # what was spent before must not be forgotten on the server
                raise refuse("ledger.two-ledgers", one=there[0], other=self.named)
            return self.named
        if self.named is None or not self.named.exists():
            for path in usual:
                if path.is_symlink() and not path.exists():
                    raise refuse("ledger.lost-ledger", link=path)
        if self.named is not None:
            if there and not self.named.exists():
                raise refuse("ledger.named-ledger-new", named=self.named, found=there[0])
            return self.named.absolute()
        if len(there) > 1:
            raise refuse("ledger.two-ledgers", one=there[0], other=there[1])
        if there or not usual:
            return there[0] if there else None
        if not os.access(usual[0].parent, os.W_OK):
            raise refuse("ledger.ledger-folder-not-writable", folder=usual[0].parent)
        return usual[0]

    def open(self, where: Where) -> Ledger:
        """The ledger there; if it is a file, a link in the usual place leads to it from now on.

        No link is left where the schema names the file, nor in a folder that cannot be written:
        nobody can start another ledger there.
        """
        if isinstance(where, str):
            return open_ledger(where)
        ledger, path = SQLite(where), where
        try:
            self._leave_link(path)
        except BaseException:
            ledger.close()
            raise
        return ledger

    def _leave_link(self, path: Path) -> None:
        if self.named is not None or not self.data or os.path.lexists(self.data[0]):
            return
        link = self.data[0]
        if path.resolve() == link.resolve() or not os.access(link.parent, os.W_OK):
            return
        try:
            link.symlink_to(os.path.relpath(path.resolve(), link.parent.resolve()))
        except OSError:  # this disk has no links
            if not os.path.lexists(link):
                raise refuse("ledger.ledger-folder-not-writable", folder=link.parent) from None
        self.find()  # another ledger may have been made there meanwhile: then there are two


NOWHERE = Place()
"""Of a table whose schema and data are in no file."""


def given_ledger(given: object, place: Place) -> Ledger:
    """The ledger, opened; the one of its place if none is given."""
    if isinstance(given, Ledger):
        return given
    where = ledger_place(given, place)
    if where is None:
        raise refuse("ledger.no-ledger-location")
    return place.open(where)


def open_ledger(where: Where, *, make: bool = True) -> Ledger:
    """The ledger of a file, or of an address in a PostgreSQL server.

    make: whether one that is not on the server is made there.
    """
    if isinstance(where, str) and is_address(where):
        try:
            from .store.postgres.ledger import Postgres
        except ImportError:
            raise refuse("ledger.ledger-needs-psycopg") from None
        return Postgres(where, make=make)
    return SQLite(where)


def ledger_place(given: object, place: Place, *, optional: bool = False) -> Where | None:
    """The path of a ledger's file, or the address of its database; None for none.

    Parameters
        place: where it lies if none is given.
        optional: whether False stands for no ledger at all.
    """
    if given is None:
        return place.find()
    if isinstance(given, str) and is_address(given):
        return given
    if isinstance(given, str | os.PathLike):
        return Path(given).absolute()
    if not optional:
        raise refuse("ledger.ledger-wrong-type", type=type(given).__name__)
    if given is False:
        return None
    shown = "True" if given is True else f"a {type(given).__name__}"
    raise refuse("ledger.ledger-not-given", given=shown)


def _once(paths: list[Path]) -> list[Path]:
    """Each file once, though it may have several names."""
    return list({path.resolve(): path for path in reversed(paths)}.values())[::-1]
