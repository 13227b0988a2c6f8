"""Marked blanks: what a drafted schema leaves for the holder to decide.

A blank never loads. What the holder must say cannot be guessed, and above all it cannot be read
from the rows.
"""

from __future__ import annotations

BLANK = "FILL IN"
"""The text a draft writes where the holder must decide."""

_SHORT = "?"
_HINTS = {
    "name": "Write the name that questions will use for this table",
    "unit": 'Write "record" if every person has one row, else the column that names the person',
    "neighbours": 'Write "replace" if the number of rows is public, else "add-or-remove"',
    "bounds": (
        "Write the least and the greatest value any person could have, "
        "known without looking at the rows"
    ),
    "grid": "Write the step between values, such as 1 or 0.01",
    "categories": (
        "List every category a row could hold, known without looking at the rows, or remove "
        "this key and write taxonomy = a file"
    ),
    "total": "Write the epsilon that all analysts together may ever spend, such as 1.0",
    "role": 'Write "quasi-identifier", "confidential", "identifier" or "other"',
    "rows_per_unit": "Write the most rows that are kept of one person",
}


def is_blank(value: object, key: str) -> bool:
    """Whether the value is a marked blank; "?" is one too, but may be the name of a category."""
    return value == BLANK or (value == _SHORT and key not in ("categories", "missing"))


def hint(key: str) -> str:
    """How to fill the blank in `key`."""
    return _HINTS.get(key, f"Write a value for `{key}`")
