"""A request, written anew as one SELECT.

Guarantee
    A sum over up to 2^40 rows stays below 2^126, so the type that holds it cannot overflow. Sums
    that might be larger are refused from the bounds alone.

Rows are grouped by the *stored* values of category keys, as the plain query would do, and only the
groups are then turned into category numbers and added up: as fast as the engine's own GROUP BY, and
undeclared values still end in no cell. Where people have contribution limits,
`contribution_bounds/` chooses among the rows first, and the chosen ones are measured.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from typing import Any

from ...arguments import whole
from ...errors import refuse
from ...schema import Boolean, Bounded, Category, Column, Date, Datetime
from ..contract import Cells
from ..request import Bin, Calendar, CellKey, Factor, Group, Measure, People, Pieces, Request
from ..storage import Fixed, Floating, Integer, Text, Written
from .grid_values import DAY, first_step, last_step
from .int_expr import Whole, integer
from .logical_table import HOUR, Logical, Stored, logical_table, truth, unfit


def is_quick(key: Pieces, column: Column) -> bool:
    """Whether the piece of each row is quick to compute: a quotient, or one comparison."""
    if not isinstance(column, Bounded):
        return False
    inside = [s for s in key.starts if first_step(column) < s <= last_step(column)]
    return len(inside) < 2 or _width(inside) is not None


def piece(key: Pieces, logical: Logical, value: str | None = None) -> str:
    """The SQL of a piece's number; never NULL, for rows without a value have a piece of their own.

    Where pieces are equally wide it is a quotient; else a tree of comparisons, whose depth is the
    logarithm of their number. `value` is another name of the column's logical value.
    """
    column = logical.column(key.column)
    name, missing = value or logical.value(column.name), key.cells - 1
    if isinstance(column, Bounded):
        steps = Whole(name, first_step(column), last_step(column), logical.dialect)
        number = _of_steps(key.starts, steps)
    elif isinstance(column, Category):
        number = _of_classes(key.classes, name)
    elif isinstance(column, Boolean):
        off, on = key.classes
        number = f"CASE WHEN {name} THEN {on} ELSE {off} END"
    else:
        raise unfit(column, "has no pieces")
    return f"CASE WHEN {name} IS NULL THEN {missing} ELSE {number} END"


def _width(starts: Sequence[int]) -> int | None:
    """The width of pieces, if all have the same."""
    width = starts[1] - starts[0]
    return width if all(b - a == width for a, b in pairwise(starts)) else None


def _of_steps(starts: Sequence[int], steps: Whole) -> str:
    inside = [start for start in starts if steps.low < start <= steps.high]
    below = sum(start <= steps.low for start in starts)
    width = _width(inside) if len(inside) > 1 else None
    if width is None:
        return _chosen(range(below, below + len(inside) + 1), inside, steps.sql)
    within = steps.clamp(inside[0] - 1, inside[-1])
    # the lowest piece may be wider than the others: in it the quotient would be negative
    whole = within.plus(width - inside[0]).clamp(0, width * len(inside))
    return whole.floor_divide(width).plus(below).sql


def _of_classes(classes: Sequence[int], number: str) -> str:
    if list(classes) == list(range(len(classes))):
        return number
    # neighbours of one class are one run, and runs are pieces of the category's number
    starts = [i for i in range(1, len(classes)) if classes[i] != classes[i - 1]]
    return _chosen([classes[0], *(classes[i] for i in starts)], starts, number)


def _chosen(classes: Sequence[int], starts: Sequence[int], number: str) -> str:
    """The class of a number, by bisection; each class but the first begins at one of `starts`."""
    if not starts:
        return str(classes[0])
    middle = len(starts) // 2
    low = _chosen(classes[: middle + 1], starts[:middle], number)
    high = _chosen(classes[middle + 1 :], starts[middle + 1 :], number)
    return f"CASE WHEN {number} < {integer(starts[middle])} THEN {low} ELSE {high} END"


# -- The cell that a row is in ---------------------------------------------------------------------

_DAY_ZERO = date(1970, 1, 1).toordinal()


def stored_cell(key: CellKey, logical: Logical) -> str:
    """The SQL of a cell's number, or for a `Group` of its stored value; NULL in no cell."""
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
        steps = logical.steps(logical.bounded(key.column, "has no bins"))
        return _cell(steps.floor_divide(key.width), key)
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
    count = logical.count(column)
    if key.part == "hour":
        return count.floor_divide(HOUR) if isinstance(column, Datetime) else count.times(24)
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
    if part == "quarter":
        return day.year * 4 + (day.month - 1) // 3
    return day.year if part == "year" else day.year * 12 + day.month - 1


# -- Products of powers of columns, whose sums are exact -------------------------------------------

_MOST_ROWS = 2**40
_HUGE = 2**126


def check_product(factors: Sequence[Factor], declared: Mapping[str, Column]) -> int:
    """The largest absolute value of the product; refused if a sum of such products might be too
    large. Every column is declared."""
    largest = 1
    for factor in factors:
        column = declared[factor.column]
        if not isinstance(column, Bounded):
            raise unfit(column, "has no moments")
        if whole(factor.power, "power") == 0:
            continue
        size = max(1, *(abs(end(column) - factor.shift) for end in (first_step, last_step)))
        # the power itself may be too large to compute
        bits = (size.bit_length() - 1) * factor.power
        largest = largest * size**factor.power if bits < _HUGE.bit_length() else _HUGE
        if largest * _MOST_ROWS > _HUGE:
            names = ", ".join(dict.fromkeys(f"`{factor.column}`" for factor in factors))
            most = (_HUGE // _MOST_ROWS).bit_length() - 1
            raise refuse("engine.product-sum-too-large", names=names, bit_length=most)
    return largest


def product(factors: Sequence[Factor], logical: Logical) -> str:
    """The SQL of the product; NULL where one of the columns is missing."""
    for factor in factors:
        logical.column(factor.column)
    largest = check_product(factors, logical.table.declared)
    kind = logical.dialect.holding(-largest, largest)
    terms, there = ["1"], []
    for factor in factors:
        column = logical.column(factor.column)
        assert isinstance(column, Bounded)  # noqa: S101 - `check_product` refused the others
        steps = logical.steps(column)
        if factor.power == 0:
            there.append(f"{steps.sql} IS NOT NULL")
            continue
        terms += [f"CAST({steps.plus(-factor.shift).sql} AS {kind})"] * factor.power
    sql = " * ".join(terms[1:] or terms)
    return f"CASE WHEN {' AND '.join(there)} THEN {sql} END" if there else sql


# -- A request, written anew as one SELECT ---------------------------------------------------------

_SINGLE, _DOUBLE = 2**24 - 1, 2**53 - 1
_MOST_VALUES = 1 << 20
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}", re.ASCII)


@dataclass(frozen=True)
class Statement:
    """One SELECT whose rows are `keys` key numbers, then the measures, then how many rows if there
    is no key. A key that is NULL is in no cell."""

    sql: str
    keys: int
    measures: int

    def cells(self, rows: Sequence[tuple[Any, ...]]) -> Cells:
        """The measures of each cell that has rows, from the rows of the SELECT."""
        cells = {}
        for row in rows:
            key, values = row[: self.keys], row[self.keys :]
            if None not in key and (self.keys or values[-1]):
                measured = (int(value or 0) for value in values[: self.measures])
                cells[tuple(map(int, key))] = tuple(measured)
        return cells


def write(request: Request, table: Stored) -> Statement:
    """The SELECT that answers a request without people."""
    if request.where is None:
        table = replace(table, dialect=table.dialect.unfiltered())
    logical = logical_table(request, table)
    late = _late(request, logical)
    keys = [
        logical.value(key.column) if i in late else stored_cell(key, logical)
        for i, key in enumerate(request.keys)
    ]
    outputs = [f"{key} AS k{i}" for i, key in enumerate(keys)] + measures(request, logical)
    where = None if request.where is None else truth(request.where, logical)
    sql = logical.select(outputs, where) + group_by(len(keys))
    if late or any(_by_stored_value(key, logical) for key in request.keys):
        sql = _numbered(sql, request, logical, late)
    return Statement(sql, len(keys), len(request.measures))


def write_counts(columns: Sequence[str], table: Stored) -> str:
    """The SELECT that counts each combination of these columns' logical values; none is missing."""
    logical = Logical(table)
    names = [logical.value(name) for name in columns]
    outputs = [f"{logical.whole(name)} AS v{i}" for i, name in enumerate(columns)]
    there = " AND ".join(f"{name} IS NOT NULL" for name in names)
    return logical.select([*outputs, "COUNT(*) AS c"], there) + group_by(len(names))


def write_lookup(unit: str, name: str, column: str, table: Stored) -> str:
    """The SELECT of a column's logical values in the first two rows of the unit of that name.

    A name equals a stored text byte by byte, and a stored number if it is that number's shortest
    decimal, so that a unit has one name: no number is named '017'. Whole numbers that floating
    point cannot distinguish have no name; a UUID is named by its usual text only; a category by its
    declared name, which missing units may share.
    """
    logical = Logical(table)
    value = logical.value(column)
    return logical.select([value], _is_named(unit, name, logical)) + " LIMIT 2"


def _is_named(unit: str, name: str, logical: Logical) -> str:
    column = logical.column(unit)
    if isinstance(column, Category):
        known = name in column.categories
        return f"{logical.value(unit)} = {column.categories.index(name)}" if known else "FALSE"
    # unchecked statistics of identifiers could make the engine skip rows
    value, stored = logical.dialect.hidden(logical.raw(unit)), logical.stored(unit)
    if isinstance(stored, Text | Written):
        return f"CAST({value} AS {logical.dialect.text}) = {logical.dialect.literal(name)}"
    if not isinstance(stored, Integer | Fixed | Floating) or not _WHOLE.fullmatch(name):
        return "FALSE"
    if isinstance(stored, Floating) and abs(int(name)) > (_SINGLE if stored.single else _DOUBLE):
        return "FALSE"
    return f"{value} = {name}"


def _by_stored_value(key: CellKey, logical: Logical) -> bool:
    return isinstance(key, Group) and not logical.is_computed(key.column)


def _late(request: Request, logical: Logical) -> set[int]:
    """The keys whose pieces are computed for groups of equal values, and not for each row, for
    which so many comparisons would dominate the time."""
    columns = [logical.column(key.column) for key in request.keys]
    slow = {
        i: column
        for i, (key, column) in enumerate(zip(request.keys, columns, strict=True))
        if isinstance(key, Pieces) and not is_quick(key, column)
    }
    values = math.prod(c.steps + 1 for c in slow.values() if isinstance(c, Bounded))
    return set(slow) if values <= _MOST_VALUES else set()


def group_by(keys: int) -> str:
    return " GROUP BY " + ", ".join(str(i + 1) for i in range(keys)) if keys else ""


def _numbered(sql: str, request: Request, logical: Logical, late: set[int]) -> str:
    """The same groups by category number or piece, of which several stored values may share one."""
    outputs = []
    for i, key in enumerate(request.keys):
        if i in late and isinstance(key, Pieces):
            outputs.append(piece(key, logical, f"k{i}"))
        elif _by_stored_value(key, logical):
            outputs.append(logical.number(key.column, f"k{i}"))
        else:
            outputs.append(f"k{i}")
    outputs += [logical.dialect.total(f"m{i}") for i in range(len(request.measures))]
    rows = logical.dialect.nested(sql)
    return f"SELECT {', '.join(outputs)} FROM {rows}{group_by(len(request.keys))}"  # noqa: S608


def measures(request: Request, logical: Logical) -> list[str]:
    """The SQL of each measure, as m0, m1, …, and then of how many rows if there is no key."""
    outputs = [_measure(measure, logical, request.people) for measure in request.measures]
    if not request.keys:
        outputs.append("COUNT(*)")
    return [f"{output} AS m{i}" for i, output in enumerate(outputs)]


def _measure(measure: Measure, logical: Logical, people: People | None) -> str:
    if measure.kind == "rows":
        return "COUNT(*)"
    if measure.kind in ("units", "unit-total") and people is None:
        raise refuse("engine.request-without-units")
    if measure.kind == "units":
        return "COUNT(DISTINCT u)"
    if measure.kind == "moment":
        value = product(measure.factors, logical)
        return logical.dialect.total(value, check_product(measure.factors, logical.table.declared))
    column = logical.column(measure.column)
    if measure.kind == "present":
        # a column that is never missing is present in every row
        if column.missing is not None:
            return "COUNT(*)"
        there = logical.present if people is None else logical.value
        return f"COUNT({there(column.name)})"
    return _quick_total(column, logical) if people is None else total(measure, logical)


def _quick_total(column: Column, logical: Logical) -> str:
    """The total of rows: from doubled distances to the middle, where these are quicker to add up.

    Their sum is exact as doubles if it stays below 2^53, in whatever order they are added.
    """
    spread = logical.spread(column)
    if spread is None or not isinstance(column, Bounded):
        return total(Measure("total", column.name), logical)
    there, distance = spread
    dialect, first, last = logical.dialect, first_step(column), last_step(column)
    exact = dialect.most_rows is not None and (last - first) * dialect.most_rows <= 2**53
    summed = f"SUM({distance})" if exact else f"SUM(CAST({distance} AS {dialect.long}))"
    middle = f"COUNT({there}) * CAST({integer(first + last)} AS {dialect.huge})"
    return f"(CAST({summed} AS {dialect.huge}) + {middle}) {dialect.divide} 2"


def total(measure: Measure, logical: Logical) -> str:
    column = logical.bounded(measure.column, "has no total")
    largest = max(abs(first_step(column)), abs(last_step(column)))
    return logical.dialect.total(logical.value(column.name), largest)
