"""What `protect` may be given: a schema or its file, a ledger or its file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ..errors import refuse
from ..ledger import SQLite
from ..ledger.contract import Ledger
from ..schema import Schema


def given_schema(given: object) -> tuple[Schema, Path | None]:
    """The schema, and its file if it came from one."""
    if isinstance(given, Schema):
        return given, None
    if isinstance(given, Mapping):
        return Schema.from_dict(given), None
    if isinstance(given, str | os.PathLike):
        path = Path(given)
        return Schema.load(path), path
    raise refuse("query.schema-is-of-type", type=type(given).__name__)


def given_ledger(given: object, beside: Path | None) -> Ledger:
    """The ledger; the one beside the schema's file if none is given."""
    if isinstance(given, Ledger):
        return given
    if given is None:
        if beside is None:
            raise refuse("query.no-ledger-is-given-and-schema-has")
        given = beside.with_suffix(".ledger")
    if isinstance(given, str | os.PathLike):
        return SQLite(given)
    raise refuse("query.ledger-is-of-type", type=type(given).__name__)
