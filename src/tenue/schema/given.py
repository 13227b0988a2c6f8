"""What a caller may give for a schema: the schema itself, its parts, or its file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ..errors import refuse
from .schema import Schema


def given_schema(given: object) -> tuple[Schema, Path | None]:
    """The schema, and its file if it came from one."""
    if isinstance(given, Schema):
        return given, None
    if isinstance(given, Mapping):
        return Schema.from_dict(given), None
    if isinstance(given, str | os.PathLike):
        path = Path(given)
        return Schema.load(path), path
    raise refuse("schema.schema-is-of-type", type=type(given).__name__)
