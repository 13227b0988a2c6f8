"""A recoded table as one of single values, so that it can be compared with its original.

An interval stands for its middle, whichever tool wrote it: `[30, 39]` of Tenue, `[30, 40[` of ARX,
`(30,40]` of R. A star stands for a blank. That is how a reader would count with them; nothing is
promised by it.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...schema import Boolean, Category, Column, Table
from ..rows import Rows
from ..value import is_text, one_array

if TYPE_CHECKING:
    import pyarrow

_INTERVAL = re.compile(r"[\[\](]\s*([^,;]+?)\s*[,;]\s*([^,;]+?)\s*[\[\])]")
_ANYTHING = re.compile(r"\*+")


def as_single_values(rows: Rows, schema: Table | None) -> tuple[Rows, tuple[str, ...]]:
    """The table with middles for intervals, and which of its columns had any."""
    read = rows.read(rows.names)
    made: dict[str, Any] = {}
    for name, column in read.items():
        declared = None if schema is None else schema.columns.get(name)
        middles = _middles(column, declared)
        if middles is not None:
            made[name] = middles

    def load(chosen: Sequence[str]) -> pyarrow.Table:
        import pyarrow

        return pyarrow.table([made.get(name, read[name]) for name in chosen], names=list(chosen))

    return Rows(rows.names, rows.written, load), tuple(made)


def _middles(column: pyarrow.ChunkedArray, declared: Column | None) -> Any:
    """The middles of a column of intervals; None if it is none."""
    import pyarrow

    array = one_array(column)
    if isinstance(declared, Category | Boolean) or not is_text(array.type):
        return None
    coded = array if pyarrow.types.is_dictionary(array.type) else array.dictionary_encode()
    marks = () if declared is None else declared.marks
    texts = [
        None if text is None or text in marks or not text.strip() else str(text).strip()
        for text in coded.dictionary.to_pylist()
    ]
    if not any(text is not None and _INTERVAL.fullmatch(text) for text in texts):
        return None
    for read, kind in ((float, pyarrow.float64()), (_moment, pyarrow.timestamp("us"))):
        try:
            middles = [None if text is None else _middle(text, read) for text in texts]
        except ValueError:
            continue
        return pyarrow.chunked_array([pyarrow.array(middles, kind).take(coded.indices)])
    return None


def _middle(text: str, read: Callable[[str], Any]) -> Any:
    if _ANYTHING.fullmatch(text):
        return None
    found = _INTERVAL.fullmatch(text)
    low, high = map(read, found.groups() if found else (text, text))
    return low + (high - low) / 2


def _moment(text: str) -> datetime.datetime:
    """A date or datetime; what is in a zone is no moment of a clock on the wall."""
    found = datetime.datetime.fromisoformat(text)
    if found.tzinfo is not None:
        raise ValueError(text)
    return found
