"""How a source stores a column: the storage types an engine can read, and what each may hold.

Whether a column can be read is decided from the storage type alone, never from a value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import refuse
from ..schema import Boolean, Category, Column, Date, Datetime, Identifier, Number


@dataclass(frozen=True)
class Integer:
    """Whole numbers from `low` to `high`, which are the storage type's own ends."""

    type: str
    low: int
    high: int


@dataclass(frozen=True)
class Fixed:
    """Decimals of `width` digits, `scale` of them after the point."""

    width: int
    scale: int


@dataclass(frozen=True)
class Floating:
    """Binary floating point: 64 bits, or 32 if `single`."""

    single: bool = False


@dataclass(frozen=True)
class Text:
    """Text that is only text; `type` is the engine's name for it."""

    type: str = "VARCHAR"


@dataclass(frozen=True)
class Written:
    """Text from a file without types (CSV, JSON), read as what the schema declares.

    What cannot be read so is missing, whatever the other rows hold.
    """


@dataclass(frozen=True)
class Truth:
    """True and false."""


@dataclass(frozen=True)
class Day:
    """A day."""


@dataclass(frozen=True)
class Moment:
    """A day and a time. One with a zone is an instant and is read in UTC."""

    type: str


@dataclass(frozen=True)
class Nothing:
    """No value in any row, as in a data frame's column of None alone."""


@dataclass(frozen=True)
class Opaque:
    """Something else: a list, a time of day, bytes. Only an identifier may be stored so."""


Storage = Integer | Fixed | Floating | Text | Written | Truth | Day | Moment | Nothing | Opaque

_INTEGERS = {
    f"{sign}{name}": Integer(
        f"{sign}{name}", *((0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1))
    )
    for name, bits in {
        "TINYINT": 8,
        "SMALLINT": 16,
        "INTEGER": 32,
        "BIGINT": 64,
        "HUGEINT": 128,
    }.items()
    for sign in ("", "U")
}
_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")
_MOMENTS = (
    "TIMESTAMP",
    "TIMESTAMP_S",
    "TIMESTAMP_MS",
    "TIMESTAMP_NS",
    "TIMESTAMPTZ_NS",
    "TIMESTAMP WITH TIME ZONE",
)
_NAMED: dict[str, Storage] = {
    **_INTEGERS,
    "FLOAT": Floating(single=True),
    "DOUBLE": Floating(),
    "VARCHAR": Text(),
    "UUID": Text("UUID"),
    "BOOLEAN": Truth(),
    "DATE": Day(),
    '"NULL"': Nothing(),
    "NULL": Nothing(),
    **{name: Moment(name) for name in _MOMENTS},
}


def storage(type_name: str) -> Storage:
    """The storage that a DuckDB type name means.

    Example
        >>> storage("DECIMAL(18,2)"), storage("UTINYINT")
        (Fixed(width=18, scale=2), Integer(type='UTINYINT', low=0, high=255))
    """
    if type_name in _NAMED:
        return _NAMED[type_name]
    decimal = _DECIMAL.fullmatch(type_name)
    if decimal:
        return Fixed(int(decimal[1]), int(decimal[2]))
    return Text("ENUM") if type_name.startswith("ENUM(") else Opaque()


_NUMBERS = (Integer, Fixed, Floating, Truth, Written, Nothing)
_TIMES = (Day, Moment, Written, Nothing)
_READABLE: dict[type[Column], tuple[type[Storage], ...]] = {
    Number: _NUMBERS,
    Date: _TIMES,
    Datetime: _TIMES,
    Category: (Text, Written, Integer, Truth, Nothing),
    Boolean: (Truth, Integer, Fixed, Floating, Text, Written, Nothing),
}
_WORDS: dict[type[Storage], str] = {
    Integer: "whole numbers",
    Fixed: "decimals",
    Floating: "floating-point numbers",
    Text: "text",
    Written: "written values",
    Truth: "true and false",
    Day: "days",
    Moment: "days with a time",
    Opaque: "something that is no number, text or time",
}


def check_readable(column: Column, stored: Storage) -> None:
    """Refuses a column whose storage cannot hold what the schema declares."""
    if isinstance(column, Identifier) or isinstance(stored, _READABLE[type(column)]):
        return
    allowed = ", ".join(
        _WORDS[kind] for kind in _READABLE[type(column)] if kind in _WORDS and kind is not Written
    )
    raise refuse(
        "engine.is-column-and-source-stores",
        column=column.name,
        type=column.type,
        words=_WORDS[type(stored)],
        readable=allowed,
    )
