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
from pathlib import Path

from ..errors import refuse
from ..frozen import dataclass
from .contract import Ledger
from .sqlite.ledger import SQLite

_ENDING = ".ledger"


@dataclass(frozen=True)
class Place:
    """What says where the ledger of a table lies.

    named: the file that its schema names.
    data: where one may lie beside its data, the usual place first; nothing if they are in no file.
    schema: the schema's own file, beside which one lies if the data are in no file.
    """

    named: Path | None = None
    data: tuple[Path, ...] = ()
    schema: Path | None = None

    def find(self) -> Path | None:
        """The ledger's file, which need not be there yet; None if nothing says where."""
        usual = self.data
        if self.schema is not None:
            usual = (*usual, self.schema.absolute().with_suffix(_ENDING))
        there = _once([path for path in usual if path.exists()])
        if self.named is None or not self.named.exists():
            for path in usual:
                if path.is_symlink() and not path.exists():
                    raise refuse("ledger.link-leads-to-no-ledger", link=path)
        if self.named is not None:
            if there and not self.named.exists():
                raise refuse("ledger.named-ledger-is-new", named=self.named, found=there[0])
            return self.named.absolute()
        if len(there) > 1:
            raise refuse("ledger.two-ledgers", one=there[0], other=there[1])
        if there or not usual:
            return there[0] if there else None
        if not os.access(usual[0].parent, os.W_OK):
            raise refuse("ledger.place-cannot-be-written", folder=usual[0].parent)
        return usual[0]

    def open(self, path: Path) -> SQLite:
        """The ledger of this file, to which a link in the usual place leads from now on.

        No link is left where the schema names the file, nor in a folder that cannot be written:
        nobody can start another ledger there.
        """
        ledger = SQLite(path)
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
                raise refuse("ledger.place-cannot-be-written", folder=link.parent) from None
        self.find()  # another ledger may have been made there meanwhile: then there are two


NOWHERE = Place()
"""Of a table whose schema and data are in no file."""


def given_ledger(given: object, place: Place) -> Ledger:
    """The ledger, opened; the one of its place if none is given."""
    if isinstance(given, Ledger):
        return given
    path = ledger_path(given, place)
    if path is None:
        raise refuse("ledger.no-ledger-is-given-and-schema-has")
    return place.open(path)


def ledger_path(given: object, place: Place, *, optional: bool = False) -> Path | None:
    """The path of a ledger's file, which need not be there yet; None for none.

    Parameters
        place: where it lies if none is given.
        optional: whether False stands for no ledger at all.
    """
    if given is None:
        return place.find()
    if isinstance(given, str | os.PathLike):
        return Path(given).absolute()
    if not optional:
        raise refuse("ledger.ledger-is-of-type", type=type(given).__name__)
    if given is False:
        return None
    shown = "True" if given is True else f"a {type(given).__name__}"
    raise refuse("ledger.ledger-is-neither-ledger-nor-false", given=shown)


def _once(paths: list[Path]) -> list[Path]:
    """Each file once, though it may have several names."""
    return list({path.resolve(): path for path in reversed(paths)}.values())[::-1]
