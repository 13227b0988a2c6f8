"""All rows of a table, for its holder: what cannot be read, and what is published."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...schema import Bounded, Column, Date, Datetime, Identifier, Named, Number
from ..contract import HandedOver, Rows, Validated
from ..sql.logical import Logical, Stored
from ..sql.moment import counts
from ..sql.steps import rounded_where
from ..storage import Day, Fixed, Floating, Integer, Moment, Storage, Truth, Written
from .catalogue import Found
from .dialect import POSTGRES, ZONED
from .session import Snapshot

if TYPE_CHECKING:
    import pyarrow


def validate(table: Stored, state: Snapshot, digest: str) -> Validated:
    """Reads every declared column of every row; what is found is for the holder alone.

    Parameters
        digest: by what the table is known again.
    """
    logical = _unfilled(table)
    columns = [held.column for held in logical.table.held.values()]
    doubts, fractions = {}, {}
    for column in columns:
        raw, stored = logical.raw(column.name), logical.stored(column.name)
        rounded = rounded_where(column, stored, raw, POSTGRES)
        if rounded is not None:
            fractions[column.name] = _count(rounded)
        if not isinstance(column, Identifier):
            doubts[column.name] = _count(
                _unreadable(column, stored, raw, logical.value(column.name))
            )
    ((rows, *found),) = state.run(
        logical.select(["COUNT(*)", *doubts.values(), *fractions.values()])
    )
    unreadable, beyond_grid = found[: len(doubts)], found[len(doubts) :]
    return Validated(
        rows, _above_zero(doubts, unreadable), _above_zero(fractions, beyond_grid), digest
    )


def read_rows(table: Stored, found: Found, state: Snapshot) -> Rows:
    """Every row, as `Engine.read_all` says."""
    logical = _unfilled(table)
    held = logical.table.held
    columns = [one.column for one in held.values()]
    chosen, doubts = [], {}
    for column in columns:
        value = logical.raw(column.name)
        if not isinstance(column, Identifier):
            value = logical.whole(column.name)
            doubts[column.name] = _doubts(logical, column)
        chosen.append(f"{value} AS {POSTGRES.quoted(column.name)}")
    everything = state.arrow(logical.select(chosen))
    return Rows(
        logical=everything.select(list(doubts)),
        identifiers=everything.select([c.name for c in columns if c.name not in doubts]),
        types=_types(logical, found),
        **_counted(logical, doubts, state),
    )


def hand_over(
    table: Stored,
    found: Found,
    state: Snapshot,
    take: Callable[[pyarrow.RecordBatch], None],
    batch: int,
    *,
    names: bool = False,
) -> HandedOver:
    """Every row once, as `Engine.hand_over` says."""
    logical = _unfilled(table)
    columns = [one.column for one in logical.table.held.values()]
    naming = [column.name for column in columns if isinstance(column, Identifier)]
    told = [column for column in columns if column.name not in naming]
    chosen = [
        f"CAST({logical.whole(column.name)} AS {POSTGRES.long}) AS {POSTGRES.quoted(column.name)}"
        for column in told
    ]
    if names:
        chosen += [f"{logical.raw(name)} AS {POSTGRES.quoted(name)}" for name in naming]
    rows = 0
    for part in state.batches(logical.select(chosen or ["0 AS nothing"]), batch):
        rows += part.num_rows
        if part.num_rows:
            take(part)
    repeated = []
    for name in naming:
        unit = logical.unit(name)
        twice = f"{logical.select([unit], f'{unit} IS NOT NULL')} GROUP BY 1 HAVING COUNT(*) > 1"
        ((many,),) = state.run(f"SELECT COUNT(*) FROM {POSTGRES.nested(twice)}")  # noqa: S608
        if many:
            repeated.append(name)
    doubts = {column.name: _doubts(logical, column) for column in told}
    types = _types(logical, found)
    return HandedOver(rows, tuple(repeated), types, **_counted(logical, doubts, state))


def _doubts(logical: Logical, column: Column) -> tuple[str, str, str]:
    """Conditions: a value that is there and not understood; an infinite one; one beyond bounds."""
    raw, stored = logical.raw(column.name), logical.stored(column.name)
    return (
        _unreadable(column, stored, raw, logical.value(column.name)),
        _infinite(column, stored, raw),
        _beyond(column, stored, raw),
    )


def _counted(
    logical: Logical, doubts: Mapping[str, tuple[str, str, str]], state: Snapshot
) -> dict[str, dict[str, int]]:
    """In how many rows each column is unreadable, infinite and beyond its bounds; and the first row
    in which it is one of the former two."""
    tests = [_count(test) for each in doubts.values() for test in each]
    counted = list(state.run(logical.select(tests))[0]) if tests else []
    first = {}
    for name, unreadable, infinite in zip(doubts, counted[::3], counted[1::3], strict=True):
        if unreadable or infinite:
            numbered = logical.select(["*", "row_number() OVER () AS place"])
            wrong = " OR ".join(doubts[name][:2])
            inside = POSTGRES.nested(numbered)
            ((place,),) = state.run(f"SELECT min(place) FROM {inside} WHERE {wrong}")  # noqa: S608
            first[name] = int(place)
    kinds = ("unreadable", "infinite", "beyond")
    found = {kind: dict(zip(doubts, counted[i::3], strict=True)) for i, kind in enumerate(kinds)}
    return {**found, "first": first}


def _types(logical: Logical, found: Found) -> dict[str, Any]:
    names = dict(found.types)
    held = logical.table.held.values()
    return {one.column.name: _arrow_type(one.stored, names[one.name]) for one in held}


def _unfilled(table: Stored) -> Logical:
    """The table in which what is missing stays missing."""
    held = {
        name: replace(one, column=replace(one.column, missing=None))
        for name, one in table.held.items()
    }
    declared = Named((one.column.name, one.column) for one in held.values())
    return Logical(Stored(table.sql, held, declared, table.dialect))


def _count(test: str) -> str:
    return f"COUNT(CASE WHEN {test} THEN 1 END)"


def _above_zero(names: dict[str, str], found: list[int]) -> dict[str, int]:
    return {name: many for name, many in zip(names, found, strict=True) if many}


def _double(column: Column, stored: Storage, raw: str) -> str | None:
    """A stored number as a double; None if it is never infinite, NaN or unreadable."""
    if not isinstance(column, Number) or not isinstance(stored, Written | Floating):
        return None
    kind = POSTGRES.double
    return POSTGRES.read(raw, kind) if stored == Written() else f"CAST({raw} AS {kind})"


def _unreadable(column: Column, stored: Storage, raw: str, value: str) -> str:
    test, double = f"{raw} IS NOT NULL AND {value} IS NULL", _double(column, stored, raw)
    return test if double is None else f"{test} AND NOT COALESCE({POSTGRES.is_nan(double)}, FALSE)"


def _infinite(column: Column, stored: Storage, raw: str) -> str:
    double = _double(column, stored, raw)
    if double is not None:
        return f"COALESCE(abs({double}) = {POSTGRES.number(float('inf'))}, FALSE)"
    if isinstance(column, Bounded) and isinstance(stored, Day | Moment):
        return f"COALESCE(NOT isfinite({raw}), FALSE)"
    return "FALSE"


def _beyond(column: Column, stored: Storage, raw: str) -> str:
    if isinstance(column, Number):
        value = _double(column, stored, raw)
        if value is None:
            bit = f"CAST({raw} AS INTEGER)" if isinstance(stored, Truth) else raw
            value = f"CAST({bit} AS {POSTGRES.double})"
        low, high = POSTGRES.number(float(column.low)), POSTGRES.number(float(column.high))
        nan = POSTGRES.is_nan(value)
        return f"COALESCE(({value} < {low} OR {value} > {high}) AND NOT {nan}, FALSE)"
    if isinstance(column, Date | Datetime) and isinstance(stored, Day | Moment | Written):
        return _beyond_times(column, stored, raw)
    return "FALSE"


def _beyond_times(column: Date | Datetime, stored: Storage, raw: str) -> str:
    low, high, _ = counts(column)
    day = 24 * 60 * 60 * 10**6
    if isinstance(column, Date):
        low, high = low * day, (high + 1) * day - 1  # any time of the last day
    if isinstance(stored, Moment):
        value, kind = raw, stored
    else:
        value, kind = f"CAST({raw} AS timestamp)", Moment("timestamp")
        if isinstance(stored, Written):
            value = POSTGRES.read(raw, POSTGRES.moment)
    first, last = (POSTGRES.moment_literal(end, kind) for end in (low, high))
    return f"COALESCE({value} < {first} OR {value} > {last}, FALSE)"


def _arrow_type(stored: Storage, name: str) -> pyarrow.DataType | None:
    """The type in which values leave again; None for text that was read as something else."""
    import pyarrow

    plain: dict[str, Any] = {
        "smallint": pyarrow.int16,
        "integer": pyarrow.int32,
        "bigint": pyarrow.int64,
        "real": pyarrow.float32,
        "double precision": pyarrow.float64,
        "boolean": pyarrow.bool_,
        "date": pyarrow.date32,
    }
    if isinstance(stored, Fixed):
        return pyarrow.decimal128(stored.width, stored.scale)
    if isinstance(stored, Moment):
        return pyarrow.timestamp("us", "UTC" if stored.type == ZONED else None)
    if isinstance(stored, Integer | Floating | Truth | Day):
        return plain[name]()
    if isinstance(stored, Written):
        return pyarrow.float64() if name.startswith("numeric") else None
    return pyarrow.string()
