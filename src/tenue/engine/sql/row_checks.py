"""All rows of a table in SQL, for its holder: to find unreadable values, and to publish them."""

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

    def arrow(self, sql: str) -> pyarrow.Table:
        """The rows of a SELECT, as an Arrow table."""

    def batches(self, sql: str, size: int) -> Iterable[pyarrow.RecordBatch]:
        """The rows of a SELECT, at most `size` at a time."""


@dataclass(frozen=True)
class Checks:
    """The SQL of each count of a validation, by column; `nobodys` counts rows without a unit."""

    unreadable: Mapping[str, str]
    rounded: Mapping[str, str]
    nobodys: str = "0"

    def chosen(self) -> list[str]:
        return ["COUNT(*)", self.nobodys, *self.unreadable.values(), *self.rounded.values()]

    def validated(self, row: Sequence[int | None], digest: str = "") -> Validated:
        """The facts in the row of `chosen`, which may have further columns behind."""
        rows, nobodys, *counts = (int(count or 0) for count in row)
        unreadable = zip(self.unreadable, counts, strict=False)
        rounded = zip(self.rounded, counts[len(self.unreadable) :], strict=False)
        return Validated(
            rows,
            {name: many for name, many in unreadable if many},
            {name: many for name, many in rounded if many},
            digest,
            nobodys,
        )


def checks_of(logical: Logical, unit: str | None = None) -> Checks:
    """The checks of a table in which missing values are not filled in.

    unit: the column of the unit, if a row may lack it.
    """
    unreadable, rounded = {}, {}
    for held in logical.table.held.values():
        column, raw = held.column, logical.raw(held.column.name)
        fraction = rounded_where(column, held.stored, raw, logical.dialect)
        if fraction is not None:
            rounded[column.name] = count_where(fraction)
        if not _always_readable(column, held.stored):
            unreadable[column.name] = count_where(_unreadable(column, logical))
    if unit is None:
        return Checks(unreadable, rounded)
    return Checks(unreadable, rounded, count_where(f"{logical.unit(unit)} IS NULL"))


Types = Callable[[Held], "pyarrow.DataType | None"]
"""How the source stores a column; None where it is text without a type."""


def read_rows(table: Stored, state: Statements, types: Types) -> Rows:
    """Every row, as `Engine.read_all` says."""
    logical = unfilled(table)
    identifiers, values = _split(logical)
    everything = state.arrow(logical.select(_outputs(logical, values, identifiers)))
    facts = _facts(logical, values, types, state)
    return Rows(everything.select(values), everything.select(identifiers), **facts)


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
    logical = unfilled(table)
    identifiers, values = _split(logical)
    outputs = _outputs(logical, values, identifiers if names else [])
    rows = 0
    for part in state.batches(logical.select(outputs or ["0 AS nothing"]), batch):
        rows += part.num_rows
        if part.num_rows:
            take(part)
    return handed_over(logical, state, types, rows)


def handed_over(logical: Logical, state: Statements, types: Types, rows: int) -> HandedOver:
    """Facts about the rows of a table in which missing values are not filled in; the rows
    themselves stay where they are."""
    identifiers, values = _split(logical)
    repeated = []
    for name in identifiers:
        unit = logical.unit(name)
        twice = f"{logical.select([unit], f'{unit} IS NOT NULL')} GROUP BY 1 HAVING COUNT(*) > 1"
        ((many,),) = state.run(f"SELECT COUNT(*) FROM {logical.dialect.nested(twice)}")  # noqa: S608
        if many:
            repeated.append(name)
    return HandedOver(rows, tuple(repeated), **_facts(logical, values, types, state))


def _split(logical: Logical) -> tuple[list[str], list[str]]:
    """The names of the identifiers, and of the other columns."""
    columns = [held.column for held in logical.table.held.values()]
    identifiers = [column.name for column in columns if isinstance(column, Identifier)]
    return identifiers, [column.name for column in columns if column.name not in identifiers]


def _outputs(logical: Logical, values: list[str], identifiers: list[str]) -> list[str]:
    """The logical values of some columns and the stored values of others, by their names."""
    quoted = logical.dialect.quoted
    outputs = [f"{logical.whole(name)} AS {quoted(name)}" for name in values]
    return outputs + [f"{logical.raw(name)} AS {quoted(name)}" for name in identifiers]


def _facts(
    logical: Logical, values: list[str], types: Types, state: Statements
) -> dict[str, dict[str, Any]]:
    """The fields of `ReadFacts`, of these columns."""
    dialect, first = logical.dialect, {}
    kinds = {"unreadable": _unreadable, "infinite": _infinite, "beyond": _beyond}
    columns = [logical.column(name) for name in values]
    doubts = {c.name: [test(c, logical) for test in kinds.values()] for c in columns}
    tests = [count_where(test) for each in doubts.values() for test in each]
    found = [int(many) for many in state.run(logical.select(tests))[0]] if tests else []
    for name, unreadable, infinite in zip(doubts, found[::3], found[1::3], strict=True):
        if unreadable or infinite:
            numbered = logical.select(["*", f"{dialect.place()} AS place"])
            either = " OR ".join(doubts[name][:2])
            sql = f"SELECT min(place) FROM {dialect.nested(numbered)} WHERE {either}"  # noqa: S608
            first[name] = int(state.run(sql)[0][0])
    stored = {held.column.name: types(held) for held in logical.table.held.values()}
    counted = {kind: dict(zip(doubts, found[i::3], strict=True)) for i, kind in enumerate(kinds)}
    return {"types": stored, **counted, "first": first}


def unfilled(table: Stored) -> Logical:
    """The stored columns, in which missing values stay missing."""
    stored = {
        name: replace(held, column=replace(held.column, missing=None))
        for name, held in table.held.items()
    }
    declared = Named((held.column.name, held.column) for held in stored.values())
    return Logical(replace(table, held=stored, declared=declared))


def count_where(test: str) -> str:
    """The SQL of how many rows pass a test."""
    return f"COUNT(*) FILTER (WHERE {test})"


def _always_readable(column: Column, stored: Storage) -> bool:
    if isinstance(column, Identifier) or isinstance(stored, Nothing):
        return True
    if isinstance(column, Number):
        return isinstance(stored, Integer | Fixed | Floating | Truth)
    return isinstance(column, Bounded) and isinstance(stored, Day | Moment)


def _double(stored: Storage, raw: str, dialect: Dialect) -> str:
    if isinstance(stored, Written):
        return dialect.read(raw, dialect.double)
    number = f"CAST({raw} AS INTEGER)" if isinstance(stored, Truth) else raw
    return f"CAST({number} AS {dialect.double})"


def _unreadable(column: Column, logical: Logical) -> str:
    """The condition that a value is present and not what the schema declares; NaN is missing."""
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
