"""What a caller may give for a ledger: the ledger itself, or its file."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import refuse
from .contract import Ledger
from .sqlite.ledger import SQLite


def given_ledger(given: object, beside: Path | None) -> Ledger:
    """The ledger, opened; the one beside the schema's file if none is given."""
    if isinstance(given, Ledger):
        return given
    path = ledger_path(given, beside)
    if path is None:
        raise refuse("ledger.no-ledger-is-given-and-schema-has")
    return SQLite(path)


def ledger_path(given: object, beside: Path | None, *, optional: bool = False) -> Path | None:
    """The path of a ledger's file, which need not be there yet; None for none.

    Parameters
        beside: the schema's file; a ledger lies beside it if none is given.
        optional: whether False stands for no ledger at all.
    """
    if given is None:
        return None if beside is None else beside.with_suffix(".ledger")
    if isinstance(given, str | os.PathLike):
        return Path(given)
    if not optional:
        raise refuse("ledger.ledger-is-of-type", type=type(given).__name__)
    if given is False:
        return None
    shown = "True" if given is True else f"a {type(given).__name__}"
    raise refuse("ledger.ledger-is-neither-ledger-nor-false", given=shown)
