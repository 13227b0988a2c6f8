"""What `protect` may be given: a schema or its file, a ledger or its file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ..errors import InvalidArgument
from ..ledger import SQLite
from ..ledger.contract import Ledger
from ..schema import Schema

__all__ = ["given_ledger", "given_schema"]


def given_schema(given: object) -> tuple[Schema, Path | None]:
    """The schema, and its file if it came from one."""
    if isinstance(given, Schema):
        return given, None
    if isinstance(given, Mapping):
        return Schema.from_dict(given), None
    if isinstance(given, str | os.PathLike):
        path = Path(given)
        return Schema.load(path), path
    raise InvalidArgument(
        f"`schema` is of type {type(given).__name__}",
        "`schema` is a Schema or the path of its file",
        'Write schema="census.toml"',
    )


def given_ledger(given: object, beside: Path | None) -> Ledger:
    """The ledger; the one beside the schema's file if none is given."""
    if isinstance(given, Ledger):
        return given
    if given is None:
        if beside is None:
            raise InvalidArgument(
                "No ledger is given and the schema has no file to keep one beside",
                "What is spent is written in a ledger",
                'Add ledger="census.ledger"',
            )
        given = beside.with_suffix(".ledger")
    if isinstance(given, str | os.PathLike):
        return SQLite(given)
    raise InvalidArgument(
        f"`ledger` is of type {type(given).__name__}",
        "`ledger` is a ledger or the path of its file",
        'Write ledger="census.ledger"',
    )
