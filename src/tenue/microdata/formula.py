"""Text that a spreadsheet would run as a formula gets an apostrophe in front, and it is noted."""

from __future__ import annotations

from typing import Any

__all__ = ["PREFIX", "STARTS", "defused"]

STARTS = "=+-@\t\r\n＝＋－＠"
PREFIX = "'"


def defused(table: Any) -> tuple[Any, dict[str, int]]:
    """The table with harmless text, and how many cells of each column were changed.

    Only text can be a formula: a number below zero keeps its sign.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    columns, names, changed = [], [], {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            first = pc.utf8_slice_codeunits(column, 0, 1)
            risky = pc.fill_null(pc.is_in(first, pa.array(list(STARTS), column.type)), False)
            count = pc.sum(risky).as_py() or 0
            if count:
                changed[name] = int(count)
                prefix = pa.scalar(PREFIX, column.type)
                safe = pc.binary_join_element_wise(prefix, column, pa.scalar("", column.type))
                column = pc.if_else(risky, safe, column)
        columns.append(column)
        names.append(PREFIX + name if name.startswith(tuple(STARTS)) else name)
    return pa.table(columns, names=names), changed
