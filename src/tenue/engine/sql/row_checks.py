"""All rows of a table in SQL, for its holder: what cannot be read, and what is published."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from ...schema import Bounded, Column, Date, Datetime, Identifier, Named, Number
from ..contract import HandedOver, Rows, Validated
from ..storage import Day, Fixed, Floating, Integer, Moment, Nothing, Storage, Truth, Written
from .dialect import Dialect
from .grid_values import counted_stages, counts, rounded_where
from .logical_table import Held, Logical, Stored

if TYPE_CHECKING:
    import pyarrow


class Statements(Protocol):
    """A connection in which all statements see one state of the table."""

    def run(self, sql: str) -> Sequence[tuple[Any, ...]]:
        """The rows of a SELECT."""
        ...

    def arrow(self, sql: str) -> pyarrow.Table:
        """The rows of a SELECT, as an Arrow table."""
        ...

    def batches(self, sql: str, size: int) -> Iterable[pyarrow.RecordBatch]:
        """The rows of a SELECT, at most so many at a time."""
        ...


@dataclass(frozen=True)
class Checks:
    """What is counted when a table is validated: the SQL of each count, by column."""

    unreadable: Mapping[str, str]
    rounded: Mapping[str, str]

    def chosen(self) -> list[str]:
        """What is selected."""
        return ["COUNT(*)", *self.unreadable.values(), *self.rounded.values()]

    def validated(self, row: Sequence[int | None], digest: str = "") -> Validated:
        """What the selected row says; whatever else was selected behind is left out."""
        many = [int(count or 0) for count in row[: 1 + len(self.unreadable) + len(self.rounded)]]
        last = 1 + len(self.unreadable)
        return Validated(
            many[0],
            _above_zero(self.unreadable, many[1:last]),
            _above_zero(self.rounded, many[last:]),
            digest,
        )


def checks_of(logical: Logical) -> Checks:
    """What to count of the columns of a table in which nothing is filled in."""
    unreadable, rounded = {}, {}
    for held in logical.table.held.values():
        column, raw = held.column, logical.raw(held.column.name)
        fraction = rounded_where(column, held.stored, raw, logical.dialect)
        if fraction is not None:
            rounded[column.name] = count_where(fraction)
        if not _always_readable(column, held.stored):
            unreadable[column.name] = count_where(_unreadable(column, logical))
    return Checks(unreadable, rounded)


Types = Callable[[Held], "pyarrow.DataType | None"]
"""How the source stores a column; None where it is text without a type."""


def read_rows(table: Stored, state: Statements, types: Types) -> Rows:
    """Every row, as `Engine.read_all` says."""
    logical = unfilled(table)
    held, dialect = logical.table.held, table.dialect
    columns = [one.column for one in held.values()]
    chosen, doubts = [], {}
    for column in columns:
        value = logical.raw(column.name)
        if not isinstance(column, Identifier):
            value = logical.whole(column.name)
            doubts[column.name] = _doubts(column, logical)
        chosen.append(f"{value} AS {dialect.quoted(column.name)}")
    everything = state.arrow(logical.select(chosen))
    return Rows(
        logical=everything.select(list(doubts)),
        identifiers=everything.select([c.name for c in columns if c.name not in doubts]),
        types={one.column.name: types(one) for one in held.values()},
        **_counted(logical, doubts, state),
    )


def hand_over(
    table: Stored,
    state: Statements,
    types: Types,
    take: Callable[[pyarrow.RecordBatch], None],
    batch: int,
    *,
    names: bool = False,
) -> HandedOver:
    """Every row once, as `Engine.hand_over` says."""
    logical, dialect = unfilled(table), table.dialect
    held = logical.table.held.values()
    naming = [one.column.name for one in held if isinstance(one.column, Identifier)]
    values = [one.column for one in held if one.column.name not in naming]
    chosen = [f"{logical.whole(c.name)} AS {dialect.quoted(c.name)}" for c in values]
    if names:
        chosen += [f"{logical.raw(name)} AS {dialect.quoted(name)}" for name in naming]
    rows = 0
    for part in state.batches(logical.select(chosen or ["0 AS nothing"]), batch):
        rows += part.num_rows
        if part.num_rows:
            take(part)
    return handed_over(logical, state, types, rows)


def handed_over(logical: Logical, state: Statements, types: Types, rows: int) -> HandedOver:
    """What is known of the rows of a table in which nothing is filled in, without reading them
    here."""
    held, dialect = logical.table.held.values(), logical.dialect
    naming = [one.column.name for one in held if isinstance(one.column, Identifier)]
    values = [one.column for one in held if one.column.name not in naming]
    repeated = []
    for name in naming:
        unit = logical.unit(name)
        twice = f"{logical.select([unit], f'{unit} IS NOT NULL')} GROUP BY 1 HAVING COUNT(*) > 1"
        ((many,),) = state.run(f"SELECT COUNT(*) FROM {dialect.nested(twice)}")  # noqa: S608
        if many:
            repeated.append(name)
    stored = {one.column.name: types(one) for one in held}
    doubts = {column.name: _doubts(column, logical) for column in values}
    return HandedOver(rows, tuple(repeated), stored, **_counted(logical, doubts, state))


def _doubts(column: Column, logical: Logical) -> tuple[str, str, str]:
    """Conditions: a value that is there and not understood; an infinite one; one beyond bounds."""
    return _unreadable(column, logical), _infinite(column, logical), _beyond(column, logical)


def _counted(
    logical: Logical, doubts: Mapping[str, tuple[str, str, str]], state: Statements
) -> dict[str, dict[str, int]]:
    """In how many rows each column is unreadable, infinite and beyond its bounds; and the first row
    in which it is one of the former two."""
    dialect = logical.dialect
    tests = [count_where(test) for each in doubts.values() for test in each]
    found = [int(many) for many in state.run(logical.select(tests))[0]] if tests else []
    first = {}
    for name, unreadable, infinite in zip(doubts, found[::3], found[1::3], strict=True):
        if unreadable or infinite:
            numbered = logical.select(["*", f"{dialect.place()} AS place"])
            wrong = " OR ".join(doubts[name][:2])
            sql = f"SELECT min(place) FROM {dialect.nested(numbered)} WHERE {wrong}"  # noqa: S608
            first[name] = int(state.run(sql)[0][0])
    kinds = ("unreadable", "infinite", "beyond")
    counted = {kind: dict(zip(doubts, found[i::3], strict=True)) for i, kind in enumerate(kinds)}
    return {**counted, "first": first}


def unfilled(table: Stored) -> Logical:
    """The stored columns, with what is missing left missing."""
    held = {
        name: replace(one, column=replace(one.column, missing=None))
        for name, one in table.held.items()
    }
    declared = Named((one.column.name, one.column) for one in held.values())
    return Logical(replace(table, held=held, declared=declared))


def count_where(test: str) -> str:
    """The SQL of how many rows pass a test."""
    return f"COUNT(*) FILTER (WHERE {test})"


def _above_zero(names: Iterable[str], counts: Sequence[int]) -> dict[str, int]:
    return {name: many for name, many in zip(names, counts, strict=True) if many}


def _always_readable(column: Column, stored: Storage) -> bool:
    if isinstance(column, Identifier) or isinstance(stored, Nothing):
        return True
    if isinstance(column, Number):
        return isinstance(stored, Integer | Fixed | Floating | Truth)
    return isinstance(column, Bounded) and isinstance(stored, Day | Moment)


def _double(stored: Storage, raw: str, dialect: Dialect) -> str:
    """A stored number as a double."""
    if isinstance(stored, Written):
        return dialect.read(raw, dialect.double)
    number = f"CAST({raw} AS INTEGER)" if isinstance(stored, Truth) else raw
    return f"CAST({number} AS {dialect.double})"


def _unreadable(column: Column, logical: Logical) -> str:
    """The condition that a value is there and is not what the schema declares; NaN is missing."""
    raw, stored = logical.raw(column.name), logical.stored(column.name)
    test = f"{raw} IS NOT NULL AND {logical.value(column.name)} IS NULL"
    if isinstance(column, Number) and isinstance(stored, Written | Floating):
        nan = logical.dialect.is_nan(_double(stored, raw, logical.dialect))
        test += f" AND NOT COALESCE({nan}, FALSE)"
    return test


def _infinite(column: Column, logical: Logical) -> str:
    raw, stored, dialect = logical.raw(column.name), logical.stored(column.name), logical.dialect
    if isinstance(column, Number) and isinstance(stored, Written | Floating):
        return f"COALESCE(abs({_double(stored, raw, dialect)}) = {dialect.number(math.inf)}, FALSE)"
    if isinstance(column, Bounded) and isinstance(stored, Day | Moment):
        return f"COALESCE({dialect.is_endless(raw)}, FALSE)"
    return "FALSE"


def _beyond(column: Column, logical: Logical) -> str:
    dialect = logical.dialect
    if isinstance(column, Number):
        value = _double(logical.stored(column.name), logical.raw(column.name), dialect)
        low, high = dialect.number(float(column.low)), dialect.number(float(column.high))
        # to an engine NaN may be greater than any number
        test = f"({value} < {low} OR {value} > {high}) AND NOT {dialect.is_nan(value)}"
    elif isinstance(column, Date | Datetime):
        first, last, _ = counts(column)
        stored = logical.stored(column.name)
        stages, _, _ = counted_stages(column, stored, first - 1, last + 1, dialect)
        value = logical.stage_stored(column.name, stages)
        test = f"{value} < {first} OR {value} > {last}"
    else:
        return "FALSE"
    return f"COALESCE({test}, FALSE)"
