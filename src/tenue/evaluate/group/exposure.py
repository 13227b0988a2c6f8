"""Columns by which rows are found: those that name a person, and those that tell rows apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...schema.named import names_a_person
from ...screen.number import named, percent
from ..code import coded
from ..value import is_text, one_array
from .dependence import Determined

if TYPE_CHECKING:
    import pyarrow


NEARLY = 0.9
"""A column by which so many rows are found tells nearly everybody apart, duplicates or not."""

_MANY = 100  # so many different values, and none twice, are names
_SPREAD = 10  # whole numbers that are names are numbered through, with gaps,
_DIGITS = 8  # or have so many digits, all of them


def found_by(column: pyarrow.ChunkedArray) -> float:
    """The share of rows that are found by whoever knows this column of a person: 0 to 1.

    Among rows with equal values he guesses, so it is the number of different values over the number
    of rows. A blank finds nobody; a single row is found by anything, and told apart from none.
    """
    import pyarrow as pa

    array = one_array(column)
    if len(array) < 2 or pa.types.is_nested(array.type):
        return 0.0
    return coded(array, ordered=False).count / len(array)


def telling(columns: Mapping[str, pyarrow.ChunkedArray]) -> dict[str, float]:
    """The columns that tell nearly everybody apart, and the share of rows that each finds."""
    shares = {name: found_by(column) for name, column in columns.items()}
    return {name: share for name, share in shares.items() if share >= NEARLY}


def names_rows(name: str, column: pyarrow.ChunkedArray) -> bool:
    """Whether a column that nobody declared looks like names of persons or of rows."""
    import pyarrow as pa

    array = one_array(column)
    whole = pa.types.is_integer(array.type)
    if not (whole or is_text(array.type)):
        return False
    if names_a_person(name):
        return True
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if not whole:
        array = array.cast(pa.large_string())  # not all that is known of text is known of views
    values = array.drop_null()
    if len(values) < _MANY or coded(values, ordered=False).count < len(values):
        return False
    return _numbered(values) if whole or _measured(values) else True


def _measured(values: Any) -> bool:
    """Whether texts are numbers or times."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for kind in (pa.float64(), pa.timestamp("us")):
        try:
            pc.cast(values, kind)
        except pa.ArrowException:
            continue
        return True
    return False


def _numbered(values: Any) -> bool:
    """Amounts of money may never repeat either, but are neither close together nor all as long."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        ends = pc.min_max(pc.cast(values, pa.int64())).as_py()
    except pa.ArrowException:
        return False
    lengths = pc.min_max(pc.utf8_length(pc.cast(values, pa.large_string()))).as_py()
    close = ends["max"] - ends["min"] <= _SPREAD * len(values)
    return bool(close or lengths["min"] == lengths["max"] >= _DIGITS)


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
