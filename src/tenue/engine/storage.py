"""How a source stores a column: the storage types that an engine can read.

Whether a column can be read is decided from the storage type alone, never from a value.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import refuse
from ..schema import Boolean, Bounded, Category, Column, Date, Datetime, Identifier, Number


@dataclass(frozen=True)
class Integer:
    """Whole numbers from `low` to `high`, the ends of the storage type itself."""

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
    """Text; `type` is the engine's name for it if it has several. See `read_as`."""

    type: str = ""


@dataclass(frozen=True)
class Written:
    """Text that is read as the declared type: from a file without types, or from a column of text
    that is declared as a number, day or moment. Unreadable values are missing, whatever the other
    rows are. `type` is the engine's name of numbers that it gives as text.
    """

    type: str = ""


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
    """Anything else: a list, a time of day, bytes. Only an identifier may be stored so."""


Storage = Integer | Fixed | Floating | Text | Written | Truth | Day | Moment | Nothing | Opaque

_NUMBERS = (Integer, Fixed, Floating, Truth, Text, Written, Nothing)
_TIMES = (Day, Moment, Text, Written, Nothing)
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


def read_as(column: Column, stored: Storage) -> Storage:
    """The storage as which a column is read; refused if it does not fit the declared type."""
    if isinstance(column, Identifier):
        return stored
    bounded = isinstance(column, Bounded)
    if not isinstance(stored, _READABLE[type(column)]) or (bounded and stored == Text("UUID")):
        allowed = [kind for kind in _READABLE[type(column)] if kind not in (Written, Nothing)]
        readable = ", ".join(_WORDS[one] for one in allowed)
        words = {"words": _WORDS[type(stored)], "readable": readable}
        raise refuse("engine.column-wrongly-stored", column=column.name, type=column.type, **words)
    return Written() if bounded and isinstance(stored, Text) else stored
