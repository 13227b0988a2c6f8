"""Which values are rounded because nobody stated a grid: rounding is never silent."""

from __future__ import annotations

from ...schema import Column, Number
from ..storage import Fixed, Floating, Storage, Written
from .dialect import Dialect


def rounded_where(column: Column, stored: Storage, raw: str, dialect: Dialect) -> str | None:
    """The SQL that is true where a stored value has a fraction that the assumed grid drops.

    None if that cannot be: a grid is stated, or the storage has whole numbers only. `raw` is the
    name of the stored value. Never NULL, so that it can be counted.
    """
    if not isinstance(column, Number) or not column.assumed_grid or column.expression is not None:
        return None
    if isinstance(stored, Fixed) and stored.scale > 0:
        return f"COALESCE({raw} <> FLOOR({raw}), FALSE)"
    if isinstance(stored, Floating):
        value = f"CAST({raw} AS {dialect.double})"
    elif isinstance(stored, Written):
        value = dialect.read(raw, dialect.double)
    else:
        return None
    # to an engine NaN may be equal to itself or not
    return f"COALESCE({value} <> FLOOR({value}) AND NOT {dialect.is_nan(value)}, FALSE)"
