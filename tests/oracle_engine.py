"""An engine in plain Python, slow and obvious: what every other engine must equal.

Rows are dictionaries of Python values: int and Decimal are exact, float is IEEE double, date and
datetime are what they are. It shares no code with the engines it judges.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tenue.engine.contract import Cells
from tenue.engine.request import (
    All,
    Among,
    Any_,
    Bin,
    Calendar,
    Group,
    Key,
    Missing,
    Not,
    Predicate,
    Request,
    Within,
)
from tenue.schema import Boolean, Category, Column, Date, Datetime, Number, Table
from tenue.schema.expression import Constant, Name, Negative, Operation, Tree

__all__ = ["OracleEngine"]

Row = Mapping[str, Any]
HALF = Fraction(1, 2)
DAY_ZERO, SECOND_ZERO = date(1970, 1, 1), datetime(1970, 1, 1)
MICROSECOND = timedelta(microseconds=1)
TRUE, FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")


class OracleEngine:
    """Measures requests on a list of rows."""

    def __init__(self, schema: Table, rows: Sequence[Row]) -> None:
        self.schema = schema
        self.rows = [{name.lower(): value for name, value in row.items()} for row in rows]

    def measure(self, request: Request) -> Cells:
        found: dict[tuple[int, ...], list[Row]] = {}
        for row in self.rows:
            if request.where is not None and self._holds(request.where, row) is not True:
                continue
            key = tuple(self._cell(key, row) for key in request.keys)
            if None not in key:
                found.setdefault(key, []).append(row)  # type: ignore[arg-type]
        cells = {}
        for key, rows in found.items():
            values = []
            for measure in request.measures:
                if measure.kind == "rows":
                    values.append(len(rows))
                    continue
                column = [self.value(str(measure.column), row) for row in rows]
                there = [value for value in column if value is not None]
                values.append(len(there) if measure.kind == "present" else sum(there))
            cells[key] = tuple(values)
        return cells

    def close(self) -> None:
        pass

    def value(self, name: str, row: Row) -> int | None:
        """Steps, the number of the category, or 0 and 1 for False and True."""
        column = self.schema.column(name)
        if isinstance(column, Number) and column.expression is not None:
            found = _steps(column, self._computed(column.expression.tree, row))
        else:
            found = _logical(column, row[name.lower()])
        return _missing(column) if found is None else found

    def _computed(self, tree: Tree, row: Row) -> float | None:
        if isinstance(tree, Constant):
            return _nearest(tree.value)
        if isinstance(tree, Name):
            column, steps = self.schema.column(tree.name), self.value(tree.name, row)
            assert isinstance(column, Number)
            if steps is None:
                return None
            p, q = column.grid.numerator, column.grid.denominator
            if max(p, q) > 2**53:
                return float(steps) * float(column.grid)
            return float(steps) * float(p) / float(q)
        if isinstance(tree, Negative):
            of = self._computed(tree.of, row)
            return None if of is None else -of
        return _operated(tree, self._computed(tree.left, row), self._computed(tree.right, row))

    def _holds(self, predicate: Predicate, row: Row) -> bool | None:
        if isinstance(predicate, Not):
            part = self._holds(predicate.part, row)
            return None if part is None else not part
        if isinstance(predicate, All | Any_):
            parts = [self._holds(part, row) for part in predicate.parts]
            decisive = isinstance(predicate, Any_)
            if decisive in parts:
                return decisive
            return None if None in parts else not decisive
        value = self.value(predicate.column, row)
        if isinstance(predicate, Missing):
            return value is None
        if value is None:
            return None
        if isinstance(predicate, Within):
            low = predicate.first is None or predicate.first <= value
            return low and (predicate.last is None or value <= predicate.last)
        assert isinstance(predicate, Among)
        column = self.schema.column(predicate.column)
        if isinstance(column, Category):
            return column.categories[value] in predicate.values
        return bool(value) in predicate.values

    def _cell(self, key: Key, row: Row) -> int | None:
        value = self.value(key.column, row)
        if value is None or isinstance(key, Group):
            return value
        if isinstance(key, Bin):
            cell = value // key.width - key.first
        else:
            cell = _calendar(key, self.schema.column(key.column), value) - key.first
        return cell if 0 <= cell < key.cells else None


def _missing(column: Column) -> int | None:
    if column.missing is None or isinstance(column, Boolean):
        return None if column.missing is None else int(bool(column.missing))
    if isinstance(column, Category):
        return column.categories.index(str(column.missing))
    return _logical(column, column.missing)


def _logical(column: Column, value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(column, Number):
        return _steps(column, value)
    if isinstance(column, Date | Datetime):
        return _moment(column, value)
    if isinstance(column, Category):
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return column.categories.index(text) if text in column.categories else None
    if isinstance(value, str):
        word = value.strip(" ").lower()
        return 1 if word in TRUE else 0 if word in FALSE else None
    return int(value) if value in (0, 1) else None


def _steps(column: Number, value: Any) -> int | None:
    if value is None:
        return None
    low, high = int(column.low / column.grid), int(column.high / column.grid)
    if isinstance(value, int | Fraction | Decimal):
        steps: Any = math.floor(Fraction(value) / column.grid + HALF)
    else:
        if math.isnan(value):
            return None
        steps = _rounded(float(value), column.grid)
    return low if steps < low else high if steps > high else int(steps)


def _rounded(x: float, grid: Fraction) -> float:
    p, q = grid.numerator, grid.denominator
    y = x / float(grid) if max(p, q) > 2**53 else x * float(q) / float(p)
    return float(math.floor(y + 0.5)) if abs(y) < 2**52 else y


def _moment(column: Date | Datetime, value: Any) -> int:
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    if moment.tzinfo is not None:
        moment = moment.replace(tzinfo=None) - moment.utcoffset()  # type: ignore[operator]
    number = Fraction((moment - SECOND_ZERO) // MICROSECOND, 10**6)
    if isinstance(column, Date):
        number = Fraction(number // (24 * 60 * 60))
    steps = math.floor((number - column.low) / column.grid + HALF)
    return min(max(steps, 0), column.steps)


def _calendar(key: Calendar, column: Column, steps: int) -> int:
    assert isinstance(column, Date | Datetime)
    number = column.low + steps * column.grid
    seconds = number * 86400 if isinstance(column, Date) else number
    if key.part == "hour":
        return math.floor(seconds / 3600)
    days = math.floor(seconds / 86400)
    day = DAY_ZERO + timedelta(days=days)
    return {
        "day": days,
        "week": (days + 3) // 7,
        "month": day.year * 12 + day.month - 1,
        "quarter": day.year * 4 + (day.month - 1) // 3,
        "year": day.year,
    }[key.part]


def _operated(tree: Operation, left: float | None, right: float | None) -> float | None:
    if left is None or right is None or (tree.sign == "/" and right == 0):
        return None
    with_sign = {"+": float.__add__, "-": float.__sub__, "*": float.__mul__, "/": float.__truediv__}
    return with_sign[tree.sign](left, right)


def _nearest(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
