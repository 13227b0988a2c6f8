"""A hash of what a schema means.

It covers what changes the meaning of an answer or a release: the table's name, unit, neighbours,
public rows, limits of a person, whether bounds came from the data, and every column with its type,
domain, role, missing value, expression and bounds of a person's sum. It is blind to comments,
layout, the order of columns and keys, upper and lower case of names, and a default that is written
out.

It leaves out the budget, the protocol and the approved questions (they decide whether an answer is
given and at what price, not what it means), the source's path (moving a file changes nothing), and
the data version (a part of its own in the cache key, soundness.md section 9).
"""

from __future__ import annotations

import hashlib
import json
from datetime import date

from .column import Bounded, Category, Column, Number, Value
from .table import Table

_FORM = "tenue schema 1"


def fingerprint(table: Table) -> str:
    """The SHA-256, in hexadecimal, of the table's meaning."""
    meaning = {
        "form": _FORM,
        "name": table.name.lower(),
        "unit": table.unit.lower(),
        "neighbours": table.neighbours,
        "rows": table.rows,
        "rows_per_unit": table.rows_per_unit,
        "groups_per_unit": table.groups_per_unit,
        "bounds_from_data": table.bounds_from_data,
        "columns": {name.lower(): _column(column) for name, column in table.columns.items()},
    }
    text = json.dumps(meaning, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _column(column: Column) -> dict[str, object]:
    meaning: dict[str, object] = {
        "type": column.type,
        "role": column.role,
        "sensitive": column.sensitive,
        "missing": _value(column.missing),
    }
    if isinstance(column, Bounded):
        meaning |= {key: str(getattr(column, key)) for key in ("low", "high", "grid")}
    if isinstance(column, Number) and column.expression is not None:
        meaning["expression"] = str(column.expression.tree)
    if isinstance(column, Number) and column.bounds_per_unit is not None:
        meaning["bounds_per_unit"] = list(map(str, column.bounds_per_unit))
    if isinstance(column, Category):
        meaning["taxonomy"] = column.taxonomy.digest
    return meaning


def _value(value: Value | None) -> str | bool | None:
    if value is None or isinstance(value, bool):
        return value
    return value.isoformat() if isinstance(value, date) else str(value)
