"""A request, written anew as one SELECT for DuckDB.

Rows are grouped by the *stored* values of category keys, as the plain query would do, and only the
groups are then turned into category numbers and added up: as fast as DuckDB's own GROUP BY, and
what is not declared still ends in no cell. Totals are sums of integers as HUGEINT; see `steps.py`
for why they cannot overflow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from ..errors import InvalidArgument
from ..schema import Boolean, Bounded, Category, Column, Date, Datetime
from .logical import Held, Logical
from .moment import DAY, counts
from .request import (
    All,
    Among,
    Any_,
    Bin,
    Calendar,
    Group,
    Key,
    Measure,
    Missing,
    Not,
    Predicate,
    Request,
    Within,
)
from .steps import first_step, last_step
from .whole import Whole, integer

__all__ = ["Statement", "write"]

_HOUR = DAY // 24
_DAY_ZERO = date(1970, 1, 1).toordinal()


@dataclass(frozen=True)
class Statement:
    """One SELECT whose rows are `keys` key numbers, then the measures, then how many rows if there
    is no key. A key that is NULL is in no cell."""

    sql: str
    keys: int
    measures: int


def write(
    request: Request, source: str, held: Mapping[str, Held], declared: Mapping[str, Column]
) -> Statement:
    """The SELECT that answers the request."""
    logical = Logical(source, held, declared)
    keys = [_key(key, logical) for key in request.keys]
    measures = [_measure(measure, logical) for measure in request.measures]
    if not keys:
        measures.append("COUNT(*)")
    where = "" if request.where is None else f" WHERE {_predicate(request.where, logical)}"
    outputs = [f"{key} AS k{i}" for i, key in enumerate(keys)]
    outputs += [f"{measure} AS m{i}" for i, measure in enumerate(measures)]
    sql = f"SELECT {', '.join(outputs)} FROM ({logical.write()}){where}"  # noqa: S608
    sql += _group_by(len(keys))
    if any(isinstance(key, Group) for key in request.keys):
        sql = _numbered(sql, request, logical)
    return Statement(sql, len(keys), len(request.measures))


def _group_by(keys: int) -> str:
    return " GROUP BY " + ", ".join(str(i + 1) for i in range(keys)) if keys else ""


def _numbered(sql: str, request: Request, logical: Logical) -> str:
    """The same groups by category number, of which several stored values may share one."""
    outputs = [
        logical.number(key.column, f"k{i}") if isinstance(key, Group) else f"k{i}"
        for i, key in enumerate(request.keys)
    ]
    outputs += [f"SUM(m{i})" for i in range(len(request.measures))]
    return f"SELECT {', '.join(outputs)} FROM ({sql}){_group_by(len(request.keys))}"  # noqa: S608


def _measure(measure: Measure, logical: Logical) -> str:
    if measure.kind == "rows":
        return "COUNT(*)"
    column = logical.column(measure.column)
    if measure.kind == "present":
        # what is never missing needs no look at the value
        return (
            "COUNT(*)" if column.missing is not None else f"COUNT({logical.present(column.name)})"
        )
    if not isinstance(column, Bounded):
        raise _unfit(column, "has no total")
    return f"SUM({logical.value(column.name)})"


def _predicate(predicate: Predicate, logical: Logical) -> str:
    if isinstance(predicate, Not):
        return f"(NOT {_predicate(predicate.part, logical)})"
    if isinstance(predicate, All | Any_):
        sign, empty = (" AND ", "TRUE") if isinstance(predicate, All) else (" OR ", "FALSE")
        return f"({sign.join(_predicate(part, logical) for part in predicate.parts) or empty})"
    column = logical.column(predicate.column)
    name = logical.value(column.name)
    if isinstance(predicate, Missing):
        return f"({name} IS NULL)"
    if isinstance(predicate, Within):
        return _within(predicate, column, name)
    return _among(predicate, column, name)


def _within(predicate: Within, column: Column, name: str) -> str:
    if not isinstance(column, Bounded):
        raise _unfit(column, "has no order")
    low, high = first_step(column), last_step(column)
    first = low if predicate.first is None else max(low, predicate.first)
    last = high if predicate.last is None else min(high, predicate.last)
    if first > last:
        return _never(name)
    return f"({name} >= {integer(first)} AND {name} <= {integer(last)})"


def _among(predicate: Among, column: Column, name: str) -> str:
    if isinstance(column, Category):
        places = {category: i for i, category in enumerate(column.categories)}
        numbers = [places[value] for value in predicate.values if value in places]
        listed = ", ".join(map(str, numbers))
    elif isinstance(column, Boolean):
        listed = ", ".join("TRUE" if value else "FALSE" for value in predicate.values)
    else:
        raise _unfit(column, "has no categories")
    return f"({name} IN ({listed}))" if listed else _never(name)


def _never(name: str) -> str:
    """False where there is a value, unknown where it is missing."""
    return f"({name} <> {name})"


def _key(key: Key, logical: Logical) -> str:
    column = logical.column(key.column)
    if isinstance(key, Group):
        if not isinstance(column, Category | Boolean):
            raise _unfit(column, "has no declared cells")
        return logical.raw(column.name)
    if isinstance(key, Bin):
        if not isinstance(column, Bounded):
            raise _unfit(column, "has no bins")
        steps = Whole(logical.value(column.name), first_step(column), last_step(column))
        return _cell(steps.floor_divide(key.width), key)
    if not isinstance(column, Date | Datetime):
        raise _unfit(column, "has no calendar")
    return _cell(_calendar(key, column, logical), key)


def _cell(index: Whole, key: Bin | Calendar) -> str:
    if key.first <= index.low and index.high < key.first + key.cells:
        return index.plus(-key.first).sql
    first, last = max(key.first, index.low), min(key.first + key.cells - 1, index.high)
    if first > last:
        return "CAST(NULL AS BIGINT)"
    ends = f"{integer(first)} AND {integer(last)}"
    return f"CASE WHEN {index.sql} BETWEEN {ends} THEN {index.plus(-key.first).sql} END"


def _calendar(key: Calendar, column: Date | Datetime, logical: Logical) -> Whole:
    low, _, grid = counts(column)
    steps = Whole(logical.value(column.name), 0, column.steps)
    count = steps.times(grid).plus(low)
    if key.part == "hour":
        return count.floor_divide(_HOUR) if isinstance(column, Datetime) else count.times(24)
    days = count if isinstance(column, Date) else count.floor_divide(DAY)
    if key.part == "day":
        return days
    if key.part == "week":
        return days.plus(3).floor_divide(7)
    day = logical.stage(column.name, [lambda _: f"make_date(CAST({days.sql} AS INTEGER))"])
    sql = {
        "year": f"year({day})",
        "quarter": f"(year({day}) * 4 + quarter({day}) - 1)",
        "month": f"(year({day}) * 12 + month({day}) - 1)",
    }[key.part]
    return Whole(sql, _index(key.part, days.low), _index(key.part, days.high))


def _index(part: str, days: int) -> int:
    day = date.fromordinal(days + _DAY_ZERO)
    if part == "year":
        return day.year
    return (
        day.year * 4 + (day.month - 1) // 3 if part == "quarter" else day.year * 12 + day.month - 1
    )


def _unfit(column: Column, what: str) -> InvalidArgument:
    return InvalidArgument(
        f"`{column.name}` is a {column.type} and {what}",
        "A request fits the types of its columns",
        "Make requests from questions that were checked against the schema",
    )
