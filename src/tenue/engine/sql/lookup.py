"""The rows of one unit, found by its name.

A name is text in one form: a whole number means its shortest decimal. It equals a stored text byte
by byte, and a stored number if it is that number's shortest decimal; '017' is nobody's number.

One person has one name. Beyond the whole numbers that floating point tells apart, nobody has any; a
UUID is named by its usual text only; a category by its declared name, shared by who is missing.
"""

from __future__ import annotations

import re

from ...schema import Category
from ..storage import Fixed, Floating, Integer, Text, Written
from .logical import Logical

_SINGLE, _DOUBLE = 2**24 - 1, 2**53 - 1
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}", re.ASCII)


def lookup_sql(unit: str, name: str, column: str, logical: Logical) -> str:
    """The logical values of a column in the first two rows of a unit; no row where none has it."""
    dialect, value, named = logical.dialect, logical.value(column), logical.column(unit)
    if isinstance(named, Category):
        code = {text: number for number, text in enumerate(named.categories)}.get(name)
        same = "FALSE" if code is None else f"{logical.value(unit)} = {code}"
        return logical.select([value], same) + " LIMIT 2"
    stored_name, stored = logical.raw(unit), logical.stored(unit)
    if isinstance(stored, Text | Written):
        same = f"CAST({stored_name} AS {dialect.text}) = {dialect.literal(name)}"
    elif isinstance(stored, Floating) and _WHOLE.fullmatch(name):
        exact = abs(int(name)) <= (_SINGLE if stored.single else _DOUBLE)
        same = f"{stored_name} = {name}" if exact else "FALSE"
    elif isinstance(stored, Integer | Fixed) and _WHOLE.fullmatch(name):
        same = f"{stored_name} = {name}"
    else:
        same = "FALSE"
    return logical.select([value], same) + " LIMIT 2"
