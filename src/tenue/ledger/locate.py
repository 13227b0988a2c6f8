"""The location of a table's ledger: given by the caller, named by the schema, or beside the data.

Guarantee
    A ledger belongs to the data and lies beside them, so that a copy of the schema starts no new
    budget and no new register. One that lies elsewhere, such as beside the schema, is used there,
    and its first use leaves a link beside the data, so that another schema or another name of the
    rows leads to the same ledger. Two ledgers, or a broken link, are refused.
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
    """What determines the location of a table's ledger.

    named: the file or database that its schema names.
    data: paths beside its data, the usual one first; empty if the data are not in a file.
    schema: the schema's own file, beside which the ledger lies if the data are not in a file.
    """

    named: Where | None = None
    data: tuple[Path, ...] = ()
    schema: Path | None = None

    def find(self) -> Where | None:
        """The location, where no ledger need exist yet; None if nothing determines it."""
        usual = self.data
        if self.schema is not None:
            usual = (*usual, self.schema.absolute().with_suffix(_ENDING))
        there = _once([path for path in usual if path.exists()])
        if isinstance(self.named, str):
            if there:  # a ledger on the server would ignore what was spent before
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
        """The ledger there, to which a link in the usual place leads if it is another file.

        No link is left if the schema names the file, nor in a folder that cannot be written, where
        no other ledger can be started.
        """
        ledger = open_ledger(where)
        try:
            if isinstance(where, Path):
                self._leave_link(where)
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
        except OSError:  # this file system has no links
            if not os.path.lexists(link):
                raise refuse("ledger.ledger-folder-not-writable", folder=link.parent) from None
        self.find()  # refuses if another ledger was made there meanwhile


NOWHERE = Place()
"""For a table whose schema and data are not in files."""


def given_ledger(given: object, place: Place) -> Ledger:
    """The ledger, opened; by default that of `place`."""
    if isinstance(given, Ledger):
        return given
    where = ledger_place(given, place)
    if where is None:
        raise refuse("ledger.no-ledger-location")
    return place.open(where)


def open_ledger(where: Where, *, make: bool = True) -> Ledger:
    """The ledger in a file, or at an address in a PostgreSQL server.

    make: whether a missing one is made on the server.
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
        place: determines the default.
        optional: whether False means no ledger.
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
    """The paths without further names of the same file."""
    return list({path.resolve(): path for path in reversed(paths)}.values())[::-1]
