"""Columns that identify rows: names of persons, and values that differ in nearly all rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...schema.case_insensitive import names_a_person
from ...text import named, percent
from ..column_types import can_be, decoded, is_text, one_array
from ..factorize import coded
from .functional_dependence import Determined

NEARLY = 0.9
"""The share of rows that a column finds, from which it identifies nearly everybody."""

_MANY = 100  # so many different values, and none twice, are names
_SPREAD = 10  # whole numbers that are names are consecutive but for gaps,
_DIGITS = 8  # or all have so many digits


def found_by(column: pa.ChunkedArray) -> float:
    """The share of rows that an intruder finds who knows this column of a person: 0 to 1.

    They guess among rows with equal values, so it is the number of different values over the number
    of rows. A missing value finds nobody. It is 0 for a single row.
    """
    array = one_array(column)
    if len(array) < 2 or pa.types.is_nested(array.type):
        return 0.0
    return coded(array, ordered=False).count / len(array)


def telling(columns: Mapping[str, pa.ChunkedArray]) -> dict[str, float]:
    """The columns that identify nearly everybody, and the share of rows that each finds."""
    return nearly_all({name: found_by(column) for name, column in columns.items()})


def nearly_all(shares: Mapping[str, float]) -> dict[str, float]:
    """The columns, of those with these shares, that identify nearly everybody."""
    return {name: share for name, share in shares.items() if share >= NEARLY}


def names_rows(name: str, column: pa.ChunkedArray) -> bool:
    """Whether an undeclared column seems to name persons or rows."""
    array = one_array(column)
    if not may_name(array.type):
        return False
    if names_a_person(name):
        return True
    values = _plain(array).drop_null()
    if coded(values, ordered=False).count < len(values):
        return False
    return are_names([values])


def may_name(kind: Any) -> bool:
    """Whether names can be stored in this type: whole numbers or text."""
    return bool(pa.types.is_integer(kind) or is_text(kind))


def are_names(parts: Iterable[Any]) -> bool:
    """Whether different values, none of them missing, seem to be names.

    They come in parts, which are not kept. Amounts of money may never repeat either, but are
    neither close together nor all of the same length.
    """
    many, measured, ends, lengths = 0, [pa.float64(), pa.timestamp("us")], [], []
    numbered = True
    for part in parts:
        values = _plain(part)
        whole = pa.types.is_integer(values.type)
        many += len(values)
        measured = [kind for kind in measured if whole or can_be(values, kind)]
        numbered = numbered and can_be(values, pa.int64())
        if numbered and len(values):
            ends.append(pc.min_max(pc.cast(values, pa.int64())).as_py())
            words = pc.cast(values, pa.large_string())
            lengths.append(pc.min_max(pc.utf8_length(words)).as_py())
    if many < _MANY:
        return False
    if not measured:
        return True
    if not numbered:
        return False
    low, high = min(end["min"] for end in ends), max(end["max"] for end in ends)
    short, long = min(end["min"] for end in lengths), max(end["max"] for end in lengths)
    return bool(high - low <= _SPREAD * many or short == long >= _DIGITS)


def _plain(values: Any) -> Any:
    """Whole numbers, or text in a plain type: no dictionary, no view."""
    array = decoded(values)
    return array if pa.types.is_integer(array.type) else array.cast(pa.large_string())


def unprotected(names: Sequence[str]) -> list[str]:
    """The note about columns that nothing protects."""
    text = f"Nothing protects {named(names)}: no role is declared, or the role is `other`."
    return [text] if names else []


def unique_columns(shares: Mapping[str, float]) -> list[str]:
    """The warnings about columns whose values are different in all rows, or in nearly all."""
    every = [name for name, share in shares.items() if share == 1]
    verb, it = ("has", "it") if len(every) == 1 else ("have", "one of them")
    warning = (
        f"{named(every)} {verb} a different value in every row: an intruder who knows {it} of a "
        "person finds the row, whatever k is."
    )
    return [warning] * bool(every) + [
        f"`{name}` has a different value in nearly every row: an intruder who knows it of a person "
        f"finds the row with probability {percent(share)}, whatever k is."
        for name, share in shares.items()
        if share < 1
    ]


def leaving(shares: Mapping[str, float]) -> list[str]:
    """The same for a release, with advice."""
    return [
        f"`{name}` has a different value in {'' if share == 1 else 'nearly '}every row and is "
        "released unchanged: an intruder who knows it of a person finds the row"
        f"{'' if share == 1 else f' with probability {percent(share)}'}. Give it another role, or "
        "remove its section from the schema."
        for name, share in shares.items()
    ]


def persons_named(declared: Sequence[str], apparent: Sequence[str]) -> list[str]:
    """The warnings about a file that names persons, or seems to."""
    warnings = []
    if declared:
        warnings.append(
            f"The file still names persons: {named(declared)}. An intruder who knows a name finds "
            "the row, whatever k is."
        )
    if apparent:
        verb, it = ("seems", "its role") if len(apparent) == 1 else ("seem", "their roles")
        warnings.append(
            f"{named(apparent)} {verb} to name persons or rows. An intruder who knows a name finds "
            f"the row, whatever k is; a schema can declare {it}."
        )
    return warnings


def dependent_columns(known: Sequence[Determined], wanted: Sequence[Determined]) -> list[str]:
    """The warnings about quasi-identifiers and confidential columns that follow from others."""
    return [
        f"{one}. An intruder who knows {named(one.by)} of a person knows this quasi-identifier: "
        f"{named(one.by)} should have that role too, or be left out."
        for one in known
    ] + [
        f"{one}. An intruder who knows {named(one.by)} of a person learns `{one.name}`, whatever "
        "k, l and t are."
        for one in wanted
    ]
