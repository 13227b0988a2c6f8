"""Stored identifiers become something that tells units apart, in DuckDB's SQL.

Two rows are of one unit if their identifiers are equal as stored: texts byte by byte, numbers as
numbers, moments as moments. No case is folded, no space trimmed, no text read as a number. NULL and
NaN are nobody.
"""

from __future__ import annotations

from ...errors import refuse
from ...schema import Identifier
from ..storage import Floating, Nothing, Opaque, Storage
from .steps import Stage


def identity_stages(column: Identifier, stored: Storage) -> list[Stage]:
    """How a stored identifier becomes a unit; refused if its storage has no exact equality."""
    if isinstance(stored, Opaque):
        raise refuse("engine.is-unit-and-source-stores-something-that", column=column.name)
    if isinstance(stored, Nothing):
        return [lambda _: "CAST(NULL AS BIGINT)"]
    if isinstance(stored, Floating):
        return [lambda name: f"CASE WHEN {name} = 0 THEN 0 WHEN NOT isnan({name}) THEN {name} END"]
    return []
