"""The cell that a row is in."""

from __future__ import annotations

from datetime import date

from ...schema import Boolean, Bounded, Category, Date, Datetime
from ..request import Bin, Calendar, CellKey, Group, Pieces
from .logical import Logical, unfit
from .moment import DAY, counts
from .piece import piece
from .whole import Whole, integer

_HOUR = DAY // 24
_DAY_ZERO = date(1970, 1, 1).toordinal()


def stored_cell(key: CellKey, logical: Logical) -> str:
    """The SQL of a cell's number, or for a `Group` that of the stored value; NULL in no cell."""
    column = logical.column(key.column)
    if not isinstance(key, Group) or logical.is_computed(key.column):
        return cell(key, logical)
    if not isinstance(column, Category | Boolean):
        raise unfit(column, "has no declared cells")
    return logical.raw(column.name)


def cell(key: CellKey, logical: Logical) -> str:
    """The SQL of a cell's number, from 0 to one less than the key has; NULL in no cell."""
    column = logical.column(key.column)
    if isinstance(key, Group):
        if logical.is_computed(key.column) and isinstance(column, Bounded):
            return _cell(logical.steps(column), Bin(key.column, 1, 0, key.cells))
        if not isinstance(column, Category | Boolean):
            raise unfit(column, "has no declared cells")
        return f"CAST({logical.value(column.name)} AS INTEGER)"
    if isinstance(key, Pieces):
        return piece(key, logical)
    if isinstance(key, Bin):
        if not isinstance(column, Bounded):
            raise unfit(column, "has no bins")
        return _cell(logical.steps(column).floor_divide(key.width), key)
    if not isinstance(column, Date | Datetime):
        raise unfit(column, "has no calendar")
    return _cell(_calendar(key, column, logical), key)


def _cell(index: Whole, key: Bin | Calendar) -> str:
    if key.first <= index.low and index.high < key.first + key.cells:
        return index.plus(-key.first).sql
    first, last = max(key.first, index.low), min(key.first + key.cells - 1, index.high)
    if first > last:
        return f"CAST(NULL AS {index.dialect.long})"
    ends = f"{integer(first)} AND {integer(last)}"
    return f"CASE WHEN {index.sql} BETWEEN {ends} THEN {index.plus(-key.first).sql} END"


def _calendar(key: Calendar, column: Date | Datetime, logical: Logical) -> Whole:
    low, _, grid = counts(column)
    count = logical.steps(column).times(grid).plus(low)
    if key.part == "hour":
        return count.floor_divide(_HOUR) if isinstance(column, Datetime) else count.times(24)
    days = count if isinstance(column, Date) else count.floor_divide(DAY)
    if key.part == "day":
        return days
    if key.part == "week":
        return days.plus(3).floor_divide(7)
    dialect = logical.dialect
    day = logical.stage(column.name, [lambda _: dialect.date(days.sql)])
    sql = dialect.part("year", day)
    if key.part != "year":
        many = 4 if key.part == "quarter" else 12
        sql = f"({sql} * {many} + {dialect.part(key.part, day)} - 1)"
    return Whole(sql, _index(key.part, days.low), _index(key.part, days.high), dialect)


def _index(part: str, days: int) -> int:
    day = date.fromordinal(days + _DAY_ZERO)
    if part == "year":
        return day.year
    return (
        day.year * 4 + (day.month - 1) // 3 if part == "quarter" else day.year * 12 + day.month - 1
    )
