"""Text that a spreadsheet would run as a formula gets an apostrophe in front, and it is noted.

Spreadsheets run a cell that begins with one of a few signs. Some drop spaces and invisible signs
first, and some read the wide and small forms of a sign as the sign itself; so does this.
"""

from __future__ import annotations

from typing import Any

STARTS = "=+-@\t\r\n＝＋－＠﹦﹢﹣﹫−"
IGNORED = "white space, control signs and invisible signs"
PREFIX = "'"

_SIGNS = STARTS.replace("\t\r\n", "").replace("-", r"\-")
# \s misses what is no ASCII; \pZ are separators (the no-break space), \pC controls and formats
_RUNS = rf"^(?:[\s\pZ\pC]*[{_SIGNS}]|[\t\r\n])"


def defused(table: Any) -> tuple[Any, dict[str, int]]:
    """The table with harmless text, and how many cells of each column were changed.

    Only text can be a formula: a number below zero keeps its sign.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    columns, changed = [], {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if _is_text(column.type):
            column, count = _safe(column)
            if count:
                changed[name] = count
        columns.append(column)
    names = pc.cast(pa.array(table.column_names), pa.string())
    return pa.table(columns, names=_safe(names)[0].to_pylist()), changed


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _safe(words: Any) -> tuple[Any, int]:
    import pyarrow as pa
    import pyarrow.compute as pc

    risky = pc.fill_null(pc.match_substring_regex(words, _RUNS), False)
    count = int(pc.sum(risky).as_py() or 0)
    if not count:
        return words, 0
    prefix, nothing = pa.scalar(PREFIX, words.type), pa.scalar("", words.type)
    return pc.if_else(risky, pc.binary_join_element_wise(prefix, words, nothing), words), count
