"""The rows of one unit, found by its name, in DuckDB's SQL.

A name is text in one form: a whole number means its shortest decimal. It equals a stored text byte
by byte, and a stored number if it is that number's shortest decimal; '017' is nobody's number.
"""

from __future__ import annotations

import re

from .logical import Logical, literal
from .physical import Fixed, Floating, Integer, Text, Written

__all__ = ["lookup_sql"]

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}", re.ASCII)


def lookup_sql(unit: str, name: str, column: str, logical: Logical) -> str:
    """The logical values of a column in the first two rows of a unit; no row where none has it."""
    value, stored_name = logical.value(column), logical.raw(unit)
    stored = logical.stored(unit)
    if isinstance(stored, Text | Written):
        same = f"{stored_name} = {literal(name)}"
    elif isinstance(stored, Integer | Floating | Fixed) and _WHOLE.fullmatch(name):
        same = f"{stored_name} = {name}"
    else:
        same = "FALSE"
    return f"SELECT {value} FROM ({logical.write()}) WHERE {same} LIMIT 2"  # noqa: S608
