"""A request, written anew as one SELECT.

Rows are grouped by the *stored* values of category keys, as the plain query would do, and only the
groups are then turned into category numbers and added up: as fast as the engine's own GROUP BY, and
what is not declared still ends in no cell. Where people have limits, `people/` chooses among the
rows first, and what it chose is measured. Totals are exact sums of integers; see `steps.py` and
`product.py` for why they cannot overflow.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from ...errors import refuse
from ...frozen import dataclass
from ...schema import Bounded, Category
from ..contract import Cells
from ..request import CellKey, Group, Measure, People, Pieces, Request
from ..storage import Fixed, Floating, Integer, Text, Written
from .cell import stored_cell
from .formula import logical_table
from .logical import Logical, Stored, unfit
from .piece import is_quick, piece_of
from .predicate import truth
from .product import check_product, product
from .steps import first_step, last_step

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
        """What the rows of the SELECT say of each cell that has rows."""
        cells = {}
        for row in rows:
            key, values = row[: self.keys], row[self.keys :]
            if None not in key and (self.keys or values[-1]):
                measured = (int(value or 0) for value in values[: self.measures])
                cells[tuple(map(int, key))] = tuple(measured)
        return cells


def write(request: Request, table: Stored) -> Statement:
    """The SELECT that answers a request without people."""
    sql = _of_rows(request, logical_table(request, table))
    return Statement(sql, len(request.keys), len(request.measures))


def write_counts(columns: Sequence[str], table: Stored) -> str:
    """The SELECT of how often these columns' logical values occur together; none is missing."""
    logical = Logical(table)
    names = [logical.value(name) for name in columns]
    outputs = [f"{logical.whole(name)} AS v{i}" for i, name in enumerate(columns)]
    there = " AND ".join(f"{name} IS NOT NULL" for name in names)
    return logical.select([*outputs, "COUNT(*) AS c"], there) + group_by(len(names))


def write_lookup(unit: str, name: str, column: str, table: Stored) -> str:
    """The SELECT of a column's logical values in the first two rows of the unit of that name.

    A name is text in one form: a whole number means its shortest decimal. It equals a stored text
    byte by byte, and a stored number if it is that number's shortest decimal; '017' is nobody's
    number. One person has one name. Beyond the whole numbers that floating point tells apart,
    nobody has any; a UUID is named by its usual text only; a category by its declared name, shared
    by who is missing.
    """
    logical = Logical(table)
    value = logical.value(column)
    return logical.select([value], _is_named(unit, name, logical)) + " LIMIT 2"


def _is_named(unit: str, name: str, logical: Logical) -> str:
    column = logical.column(unit)
    if isinstance(column, Category):
        known = name in column.categories
        return f"{logical.value(unit)} = {column.categories.index(name)}" if known else "FALSE"
    # rows would be skipped by statistics of identifiers, which nobody compares with their values
    value, stored = logical.dialect.hidden(logical.raw(unit)), logical.stored(unit)
    if isinstance(stored, Text | Written):
        return f"CAST({value} AS {logical.dialect.text}) = {logical.dialect.literal(name)}"
    if not isinstance(stored, Integer | Fixed | Floating) or not _WHOLE.fullmatch(name):
        return "FALSE"
    if isinstance(stored, Floating) and abs(int(name)) > (_SINGLE if stored.single else _DOUBLE):
        return "FALSE"
    return f"{value} = {name}"


def _of_rows(request: Request, logical: Logical) -> str:
    late = _late(request, logical)
    keys = [
        logical.value(key.column) if place in late else stored_cell(key, logical)
        for place, key in enumerate(request.keys)
    ]
    outputs = [f"{key} AS k{i}" for i, key in enumerate(keys)] + measures(request, logical)
    where = None if request.where is None else truth(request.where, logical)
    sql = logical.select(outputs, where) + group_by(len(keys))
    if late or any(_by_stored_value(key, logical) for key in request.keys):
        sql = _numbered(sql, request, logical, late)
    return sql


def _by_stored_value(key: CellKey, logical: Logical) -> bool:
    return isinstance(key, Group) and not logical.is_computed(key.column)


def _late(request: Request, logical: Logical) -> set[int]:
    """The keys whose pieces are found for groups of equal values, and not for each row: so many
    comparisons for a row take longer than all else."""
    slow = [
        (place, logical.column(key.column))
        for place, key in enumerate(request.keys)
        if isinstance(key, Pieces) and not is_quick(key, logical.column(key.column))
    ]
    values = math.prod(c.steps + 1 for _, c in slow if isinstance(c, Bounded))
    return {place for place, _ in slow} if values <= _MOST_VALUES else set()


def group_by(keys: int) -> str:
    """GROUP BY the first so many outputs."""
    return " GROUP BY " + ", ".join(str(i + 1) for i in range(keys)) if keys else ""


def _numbered(sql: str, request: Request, logical: Logical, late: set[int]) -> str:
    """The same groups by category number or piece, of which several stored values may share one."""
    outputs = []
    for i, key in enumerate(request.keys):
        if i in late and isinstance(key, Pieces):
            outputs.append(piece_of(key, logical, f"k{i}"))
        elif _by_stored_value(key, logical):
            outputs.append(logical.number(key.column, f"k{i}"))
        else:
            outputs.append(f"k{i}")
    outputs += [logical.dialect.total(f"m{i}") for i in range(len(request.measures))]
    rows = logical.dialect.nested(sql)
    return f"SELECT {', '.join(outputs)} FROM {rows}{group_by(len(request.keys))}"  # noqa: S608


def measures(request: Request, logical: Logical) -> list[str]:
    """The SQL of each measure, as m0, m1, …, and then of how many rows if there is no key."""
    found = [_measure(measure, logical, request.people) for measure in request.measures]
    if not request.keys:
        found.append("COUNT(*)")
    return [f"{measure} AS m{i}" for i, measure in enumerate(found)]


def _measure(measure: Measure, logical: Logical, people: People | None) -> str:
    if measure.kind == "rows":
        return "COUNT(*)"
    if measure.kind in ("units", "unit-total") and people is None:
        raise refuse("engine.request-without-units")
    if measure.kind == "units":
        return "COUNT(DISTINCT u)"
    if measure.kind == "moment":
        made = product(measure.factors, logical)
        largest = check_product(measure.factors, logical.table.declared)
        return logical.dialect.total(made, largest)
    column = logical.column(measure.column)
    if measure.kind == "present":
        # what is never missing needs no look at the value
        if column.missing is not None:
            return "COUNT(*)"
        there = logical.present if people is None else logical.value
        return f"COUNT({there(column.name)})"
    return total(measure, logical)


def total(measure: Measure, logical: Logical) -> str:
    """The SQL of the sum of a measure's column."""
    column = logical.column(measure.column)
    if not isinstance(column, Bounded):
        raise unfit(column, "has no total")
    largest = max(abs(first_step(column)), abs(last_step(column)))
    return logical.dialect.total(logical.value(column.name), largest)
