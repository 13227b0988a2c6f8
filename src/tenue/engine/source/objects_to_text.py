"""Python objects become text, value by value, to be read like the fields of a CSV file.

A column of objects has no type of its own. If one were guessed from its values, one row would
decide how the others are read; so each value is written by its own type alone, and the schema
decides what the text means.

A whole number is its digits, a float its shortest decimal, a bool `true` or `false`, a day or a
moment its ISO form (one with an offset in UTC), a UUID its usual form, a text itself. None, NaN,
NaT and NA are missing. Anything else, and a text that is not Unicode, cannot be read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    import pyarrow


class _Unreadable:
    """Stands for a value that is present and has no text."""


_UNREADABLE = _Unreadable()
_SLICE = 1 << 20
_WIDE = 2**12  # bits; Python writes no number of more than 4,300 digits
_YEARS = 5 * 10**10  # seconds before and after 1970 for which Python has a calendar
_MISSING = ("NaTType", "NAType")

Written = str | _Unreadable | None
Writer = Callable[[Any], Written]


def texts(values: Sequence[Any]) -> tuple[pyarrow.ChunkedArray, int]:
    """The values as a column of text, and how many are present and could not be read."""
    import pyarrow

    pieces, lost = [], 0
    for start in range(0, len(values), _SLICE):
        part = values[start : start + _SLICE]
        piece = _quick(part)
        if piece is None:
            written = [text(value) for value in part]
            lost += written.count(_UNREADABLE)
            plain = [None if one is _UNREADABLE else one for one in written]
            piece = pyarrow.array(plain, pyarrow.large_string())
        pieces.append(piece)
    return pyarrow.chunked_array(pieces, pyarrow.large_string()), lost


def _quick(values: Sequence[Any]) -> pyarrow.Array | None:
    """The same texts at once, where all values have one type that Arrow writes equally."""
    import pyarrow

    kinds = set(map(type, values)) - {type(None)}
    kind = None
    if len(kinds) == 1:
        kind = {str: pyarrow.large_string(), int: pyarrow.int64()}.get(*kinds)
    if (kinds == {datetime} or _are_pandas(kinds)) and all(map(_is_inside, values)):
        kind = pyarrow.timestamp("us")
    if kind is None:
        return None
    try:
        return pyarrow.array(values, kind, from_pandas=True).cast(pyarrow.large_string())
    except Exception:  # a value does not fit, so that each is written by itself
        return None


def _are_pandas(kinds: set[type]) -> bool:
    names = {kind.__name__ for kind in kinds if kind.__module__.partition(".")[0] == "pandas"}
    return len(names) == len(kinds) and "Timestamp" in names and names <= {"Timestamp", "NaTType"}


def _is_inside(value: Any) -> bool:
    """Whether a moment lies, in every zone, where Python and Arrow have the same calendar."""
    return value is None or value != value or MINYEAR < value.year < MAXYEAR


def text(value: object) -> Written:
    """The text of one value, by its own type; None where it is missing."""
    try:
        kind: Any = type(value)
        return _writer(kind)(value)
    except Exception:  # any object may be given, and may raise anything
        return _UNREADABLE


def _unicode(value: str) -> str:
    word = str.__str__(value)
    word.encode()  # fails unless it is Unicode
    return word


def _whole(value: int) -> str:
    if value.bit_length() > _WIDE:
        return "inf" if value > 0 else "-inf"
    return int.__repr__(value)


def _float(value: float) -> str | None:
    return None if value != value else float.__repr__(value)


def _decimal(value: Decimal) -> str | None:
    return None if value.is_nan() else str(value)


def _moment(value: datetime) -> str:
    if value.tzinfo is not None:
        with suppress(OverflowError):  # the first and the last day of all
            value = value.astimezone(UTC)
        value = value.replace(tzinfo=None)
    return datetime.isoformat(value, sep=" ", timespec="microseconds")


def _instant(value: Any) -> str | None:
    import numpy as np

    if np.isnat(value):
        return None
    seconds = int(value.astype("datetime64[s]").astype(np.int64))
    if abs(seconds) > _YEARS:
        return "infinity" if seconds > 0 else "-infinity"
    return _moment(value.astype("datetime64[us]").item())


_WRITERS: dict[type, Writer] = {
    str: _unicode,
    type(None): lambda _: None,
    bool: lambda value: "true" if value else "false",
    int: _whole,
    float: _float,
    Decimal: _decimal,
    datetime: _moment,
    date: date.isoformat,
    UUID: str,
}


@lru_cache(maxsize=1024)
def _writer(kind: type) -> Writer:
    """How values of a type are written: one of those above, or a subclass."""
    if kind in _WRITERS:
        return _WRITERS[kind]
    room = kind.__module__.partition(".")[0]
    if kind.__name__ in _MISSING and room == "pandas":
        return lambda _: None
    if room == "numpy":
        return _numpy_writer(kind)
    if kind.__name__ == "Timestamp" and room == "pandas":
        return lambda value: _instant(value.to_datetime64())
    for parent, writer in _WRITERS.items():
        if issubclass(kind, parent):
            return writer
    return lambda _: _UNREADABLE


def _numpy_writer(kind: type) -> Writer:
    import numpy as np

    if issubclass(kind, np.datetime64):
        return _instant
    if issubclass(kind, np.floating):
        return lambda value: _float(float(value))
    for scalar, plain in ((np.bool_, bool), (np.integer, int), (np.str_, str)):
        if issubclass(kind, scalar):
            writer = _WRITERS[plain]
            return lambda value: writer(value.item())
    return lambda _: _UNREADABLE
