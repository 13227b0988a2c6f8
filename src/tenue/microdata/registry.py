"""The register of releases: a second one of the same table is refused unless insisted on.

A table is known by its name, and by marks of its rows under any other name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..errors import Conflict, InvalidArgument
from ..ledger import SQLite
from ..ledger.contract import Ledger
from ..promise import checked_neighbours
from ..schema import Schema
from .method import Method

__all__ = ["check_first", "check_rows", "opened", "register", "withdraw"]

_WHY = "Two releases of overlapping data reveal the records in which they differ"
_INSIST = 'Publish the first release again, or state override="second-release", which is recorded'


@contextmanager
def opened(given: object) -> Iterator[Ledger | None]:
    """The ledger that was given, or the one in the file that was named, closed afterwards."""
    if given is None or isinstance(given, Ledger):
        yield given
    elif isinstance(given, str | os.PathLike):
        with SQLite(given) as ledger:
            yield ledger
    else:
        raise InvalidArgument(
            f"`ledger` is of type {type(given).__name__}",
            "`ledger` is a ledger or the path of its file",
            'Write ledger="census.ledger"',
        )


def check_first(ledger: Ledger, schema: Schema, method: Method) -> None:
    """Refuses a second release before a row is read; `register` refuses it again, atomically."""
    name = ledger.known_as(schema.name)
    if name not in ledger.datasets() or "second-release" in method.override:
        return
    if ledger.balance(name).releases:
        raise Conflict(
            f"`{name}` has been released before",
            _WHY,
            _INSIST,
            code="second-release",
        )


def check_rows(ledger: Ledger, schema: Schema, method: Method, marks: Sequence[str]) -> None:
    """Refuses rows that were released under another name, before the work is done."""
    earlier = ledger.released_before(marks)
    if earlier is None or "second-release" in method.override:
        return
    raise Conflict(
        f"Most rows of `{schema.name}` have been released before, under another name "
        f"(entry {earlier} of the ledger)",
        _WHY,
        _INSIST,
        code="second-release",
        earlier=earlier,
    )


def register(
    ledger: Ledger, schema: Schema, method: Method, digest: str, marks: Sequence[str] = ()
) -> int:
    """Records the release durably; returns the number of its entry."""
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
        method=f"{method.name} by {method.by}",
        override="second-release" in method.override,
        marks=marks,
    )


def withdraw(ledger: Ledger, schema: Schema, digest: str, reason: str) -> None:
    """Records that a release that was registered never left."""
    ledger.withdraw_release(ledger.known_as(schema.name), digest, reason=reason)
