"""The register of releases: a second one of the same table is refused unless insisted on.

A table is known by its name, and as far as `mark` says by its rows under any other name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ...errors import Fault, refuse
from ...ledger import SQLite
from ...ledger.contract import Ledger
from ...ledger.given import found_ledger
from ...promise import checked_neighbours
from ..method.contract import SECOND, Method


class Register:
    """The ledger of a release. One whose file is not there yet is made when it is written to, so
    that a refusal leaves nothing behind.
    """

    def __init__(self, ledger: Ledger | None, path: Path | None = None) -> None:
        self._ledger, self._path = ledger, path

    @property
    def known(self) -> Ledger | None:
        """The ledger; None as long as there is none, so that nothing is in it."""
        if self._ledger is None and self._path is not None and self._path.exists():
            return self.made()
        return self._ledger

    def made(self) -> Ledger:
        """The ledger, its file made if it must be."""
        if self._ledger is None:
            if self._path is None:
                raise Fault("there is neither a ledger nor a path for one")
            self._ledger = SQLite(self._path)
        return self._ledger

    def close(self) -> None:
        if self._path is not None and self._ledger is not None:
            self._ledger.close()


@contextmanager
def opened(given: object, beside: Path | None = None) -> Iterator[Register | None]:
    """The register to be used, closed afterwards if it was opened here; None for none.

    Parameters
        given: a ledger or the path of its file; False for none; None for the one beside the schema,
            or for none if the schema has no file.
        beside: the schema's file.
    """
    found = found_ledger(given, beside, optional=True)
    if found is None:
        yield None
    elif isinstance(found, Ledger):
        yield Register(found)
    else:
        register = Register(None, found)
        try:
            yield register
        finally:
            register.close()


def check_first(ledger: Ledger, method: Method) -> None:
    """Refuses a second release before a row is read; `register` refuses it again, atomically."""
    name = ledger.known_as(method.schema.name)
    if name not in ledger.datasets() or SECOND in method.override:
        return
    if ledger.balance(name).releases:
        raise refuse("microdata.has-been-released-before", name=name)


def check_rows(ledger: Ledger, method: Method, marks: Sequence[str]) -> None:
    """Refuses rows that were released under another name, before the work is done."""
    earlier = ledger.released_before(marks)
    if earlier is None or SECOND in method.override:
        return
    raise refuse(
        "microdata.rows-or-persons-of-have-been-released", earlier=earlier, name=method.schema.name
    )


def register(
    ledger: Ledger, method: Method, digest: str, marks: Sequence[str] = (), *, draft: bool = False
) -> int:
    """Records the release durably; returns the number of its entry.

    A draft may still be withdrawn, by the same ledger object.
    """
    schema = method.schema
    name = ledger.known_as(schema.name)
    if name not in ledger.datasets():
        budget = schema.budget
        ledger.open_dataset(
            name,
            0 if budget is None else budget.total,
            None if budget is None else budget.per_analyst,
            neighbours=checked_neighbours(schema.neighbours),
            individual=None if budget is None else budget.individual,
            schema_digest=schema.digest,
            data_version=schema.version or "",
        )
    return ledger.register_release(
        name,
        digest,
        method=method.label,
        override=SECOND in method.override,
        marks=marks,
        draft=draft,
    )
