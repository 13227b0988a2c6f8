"""Columns by which rows are found: those that name a person, and those that tell rows apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...schema.case_insensitive import names_a_person
from ...text import named, percent
from ..column_types import can_be, is_text, one_array
from ..factorize import coded
from .functional_dependence import Determined

NEARLY = 0.9
"""A column by which so many rows are found tells nearly everybody apart, duplicates or not."""

_MANY = 100  # so many different values, and none twice, are names
_SPREAD = 10  # whole numbers that are names are numbered through, with gaps,
_DIGITS = 8  # or have so many digits, all of them


def found_by(column: pa.ChunkedArray) -> float:
    """The share of rows that are found by whoever knows this column of a person: 0 to 1.

    Among rows with equal values he guesses, so it is the number of different values over the number
    of rows. A blank finds nobody; a single row is found by anything, and told apart from none.
    """
    array = one_array(column)
    if len(array) < 2 or pa.types.is_nested(array.type):
        return 0.0
    return coded(array, ordered=False).count / len(array)


def telling(columns: Mapping[str, pa.ChunkedArray]) -> dict[str, float]:
    """The columns that tell nearly everybody apart, and the share of rows that each finds."""
    return nearly_all({name: found_by(column) for name, column in columns.items()})


def nearly_all(shares: Mapping[str, float]) -> dict[str, float]:
    """The columns by which nearly everybody is found, of those with these shares."""
    return {name: share for name, share in shares.items() if share >= NEARLY}


def names_rows(name: str, column: pa.ChunkedArray) -> bool:
    """Whether a column that nobody declared looks like names of persons or of rows."""
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
    """Whether names can be stored so: as whole numbers or text."""
    return bool(pa.types.is_integer(kind) or is_text(kind))


def are_names(parts: Iterable[Any]) -> bool:
    """Whether values of which none is missing and none occurs twice look like names.

    They come in parts, each of which may be forgotten when the next one comes. Amounts of money may
    never repeat either, but are neither close together nor all as long.
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
    """Whole numbers as they are, and text in a type of which everything is known: not views."""
    array = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
    return array if pa.types.is_integer(array.type) else array.cast(pa.large_string())


def unprotected(names: Sequence[str]) -> list[str]:
    """Columns that nothing protects."""
    if not names:
        return []
    return [f"Nothing protects {named(names)}: no role is stated, or the role is other."]


def told_apart(shares: Mapping[str, float]) -> list[str]:
    """What is said of the columns that tell everybody apart, and of each that nearly does."""
    every = [name for name, share in shares.items() if share == 1]
    verb, it = ("has", "it") if len(every) == 1 else ("have", "one of them")
    said = [
        f"{named(every)} {verb} another value in every row: whoever knows {it} of a person finds "
        "the row, whatever k is."
    ]
    return said * bool(every) + [
        f"`{name}` has another value in nearly every row: whoever knows it of a person finds the "
        f"row with probability {percent(share)}, whatever k is."
        for name, share in shares.items()
        if share < 1
    ]


def leaving(shares: Mapping[str, float]) -> list[str]:
    """The same of a release, with what to do about each."""
    return [
        f"`{name}` has another value in {'' if share == 1 else 'nearly '}every row and leaves as "
        f"it is: whoever knows it of a person finds the row{_how_likely(share)}. Give it another "
        "role, or remove its section from the schema."
        for name, share in shares.items()
    ]


def _how_likely(share: float) -> str:
    return "" if share == 1 else f" with probability {percent(share)}"


def persons_named(declared: Sequence[str], apparent: Sequence[str]) -> list[str]:
    """What is said of a file that names persons, or seems to."""
    said = []
    if declared:
        said.append(
            f"The file still has what names a person: {named(declared)}. Whoever has it finds the "
            "row, whatever k is."
        )
    if apparent:
        verb, role = ("looks", "a name") if len(apparent) == 1 else ("look", "names")
        said.append(
            f"{named(apparent)} {verb} like {role} of persons or rows. Whoever has that finds the "
            "row, whatever k is; a schema can say what it is."
        )
    return said


def following(known: Sequence[Determined], wanted: Sequence[Determined]) -> list[str]:
    """What is said of quasi-identifiers, and of confidential columns, that follow from others."""
    return [
        f"{one}. Whoever knows {named(one.by)} of a person has a quasi-identifier more: count what "
        "tells it as one, or leave it out."
        for one in known
    ] + [
        f"{one}. Whoever knows {named(one.by)} of a person knows it, whatever k, l and t are."
        for one in wanted
    ]
