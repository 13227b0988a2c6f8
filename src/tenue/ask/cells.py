"""The cells of an answer: what they are called, and which are shown in which order."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import product
from typing import Any

from ..engine.request import Bin, Calendar, Group, Key
from ..schema import Boolean, Category, Date, Number, Schema
from .question import Comparison, GroupingSets, Question, seen_by

Cell = Fraction | int | float | str | bool | date | datetime | None
Row = tuple[int, dict[str, Cell]]
"""The number of a cell, and its values by alias."""


def cell_labels(question: Question, schema: Schema) -> list[tuple[Cell, ...]]:
    """What the keys of every declared cell are called; the last key runs fastest."""
    seen = seen_by(question, schema)
    return list(product(*(question.labels(key) or key_labels(key, seen) for key in question.keys)))


def arranged(rows: list[Row], question: Question | GroupingSets) -> list[Row]:
    """The rows after HAVING, ORDER BY and LIMIT; what is not defined comes last."""
    rows = [r for r in rows if all(_holds(r[1][c.alias], c) for c in question.having)]
    for order in reversed(question.order):
        known = [r for r in rows if r[1][order.alias] is not None]
        unknown = [r for r in rows if r[1][order.alias] is None]
        known.sort(key=lambda r: r[1][order.alias], reverse=order.descending)  # type: ignore[arg-type,return-value]
        rows = known + unknown
    return rows if question.limit is None else rows[: question.limit]


def in_64_bits(table: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The table with doubles in columns that have a whole number beyond 64 bits, which sums may
    have and Arrow does not."""
    return {
        name: [float(v) if type(v) is int else v for v in values]
        if any(type(v) is int and not -(1 << 63) <= v < 1 << 63 for v in values)
        else values
        for name, values in table.items()
    }


def shaped(rows: Sequence[dict[str, Any]], question: Question) -> Any:
    """A scalar if one cell, a dict by alias if one row, else a list of dicts."""
    if question.keys:
        return list(rows)
    if not rows:
        return []
    (row,) = rows
    return next(iter(row.values())) if len(row) == 1 else row


def _holds(value: Any, wanted: Comparison) -> bool:
    """A comparison with a released value; an undefined value satisfies none."""
    if value is None:
        return False
    other: Any = wanted.value
    if isinstance(value, datetime):
        value = Fraction((value - datetime(1970, 1, 1)) // timedelta(seconds=1))
    elif isinstance(value, date):
        value = Fraction((value - date(1970, 1, 1)).days)
    comparisons = {
        "=": lambda: value == other,
        "<>": lambda: value != other,
        "<": lambda: value < other,
        "<=": lambda: value <= other,
        ">": lambda: value > other,
        ">=": lambda: value >= other,
    }
    return bool(comparisons[wanted.operator]())


def key_labels(key: Key, schema: Schema) -> list[Cell]:
    """What each cell of a key is called, in order: categories, booleans, starts of bins."""
    column = schema.column(key.column)
    if isinstance(key, Group):
        if isinstance(column, Boolean):
            return [False, True]
        assert isinstance(column, Category)  # noqa: S101 - narrows the type
        return list(column.categories)
    if isinstance(key, Bin):
        assert isinstance(column, Number)  # noqa: S101 - narrows the type
        starts = [(key.first + i) * key.width * column.grid for i in range(key.cells)]
        return [int(s) if s.denominator == 1 else s for s in starts]
    whole_day = isinstance(column, Date) or key.part != "hour"
    return [_moment(key, key.first + i, whole_day) for i in range(key.cells)]


def _moment(key: Calendar, index: int, whole_day: bool) -> date | datetime:
    if key.part == "year":
        return date(index, 1, 1)
    if key.part == "quarter":
        return date(index // 4, index % 4 * 3 + 1, 1)
    if key.part == "month":
        return date(index // 12, index % 12 + 1, 1)
    if key.part == "week":
        return date(1970, 1, 1) + timedelta(days=7 * index - 3)
    if whole_day:
        return date(1970, 1, 1) + timedelta(days=index)
    return datetime(1970, 1, 1) + timedelta(hours=index)
