"""All rows of a table, for those who publish it: as whole numbers, and how they were stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ...errors import refuse
from ...schema import Bounded, Column, Date, Identifier, Named, Number
from ..contract import Rows
from ..sql.logical import Logical, Stored
from ..storage import Day, Floating, Moment, Storage, Written
from .dialect import DUCKDB
from .reader import broken_line, strictly

if TYPE_CHECKING:
    import pyarrow


_DAY, _MICRO = 24 * 60 * 60, 10**6


def read_rows(table: Stored, run: Callable[[str], pyarrow.Table]) -> Rows:
    """Every row, as `Engine.read_all` says; `run` gives those of a SELECT."""

    def read(sql: str) -> pyarrow.Table:
        import duckdb

        try:
            return run(sql)
        except duckdb.Error as error:
            told = broken_line(str(error))
        # raised out of reach of the error above, which quotes a value
        told = told or "The rows of the source could not be read"
        raise refuse("engine.rows-could-not-be-read", told=told)

    held = {
        name: replace(one, column=replace(one.column, missing=None))
        for name, one in table.held.items()
    }
    columns = [one.column for one in held.values()]
    declared = Named((column.name, column) for column in columns)
    logical = Logical(Stored(strictly(table.sql), held, declared, DUCKDB))
    chosen, doubts = [], {}
    for column in columns:
        value = raw = logical.raw(column.name)
        if not isinstance(column, Identifier):
            made = logical.value(column.name)
            doubts[column.name] = _doubts(column, logical.stored(column.name), raw, made)
            value = f"CAST({made} AS BIGINT)"
        chosen.append(f"{value} AS {DUCKDB.quoted(column.name)}")
    everything = read(logical.select(chosen))
    counted = [f"count_if({test})" for tests in doubts.values() for test in tests]
    found = (
        [int(n[0].as_py() or 0) for n in read(logical.select(counted)).columns] if counted else []
    )
    first = {}
    for name, unreadable, infinite in zip(doubts, found[::3], found[1::3], strict=True):
        if unreadable or infinite:
            numbered = logical.select(["*", "row_number() OVER () AS place"])
            wrong = " OR ".join(doubts[name][:2])
            place = read(f"SELECT min(place) FROM ({numbered}) WHERE {wrong}")  # noqa: S608
            first[name] = int(place.column(0)[0].as_py())
    spelled = [f"{DUCKDB.quoted(h.name)} AS {DUCKDB.quoted(h.column.name)}" for h in held.values()]
    sql = f"SELECT {', '.join(spelled)} FROM {strictly(table.sql)} LIMIT 0"  # noqa: S608
    stored = read(sql).schema
    return Rows(
        logical=everything.select(list(doubts)),
        identifiers=everything.select([c.name for c in columns if c.name not in doubts]),
        types={
            one.column.name: None if one.stored == Written() else stored.field(one.column.name).type
            for one in held.values()
        },
        unreadable=dict(zip(doubts, found[::3], strict=True)),
        infinite=dict(zip(doubts, found[1::3], strict=True)),
        beyond=dict(zip(doubts, found[2::3], strict=True)),
        first=first,
    )


def _doubts(column: Column, stored: Storage, raw: str, value: str) -> tuple[str, str, str]:
    """Conditions: a value that is there and not understood; an infinite one; one beyond bounds."""
    there, infinite = f"{raw} IS NOT NULL AND {value} IS NULL", "FALSE"
    if isinstance(column, Number) and isinstance(stored, Written | Floating):
        number = f"TRY_CAST({raw} AS DOUBLE)"
        there += f" AND NOT COALESCE(isnan({number}), FALSE)"
        infinite = f"COALESCE(isinf({number}), FALSE)"
    elif isinstance(column, Bounded) and isinstance(stored, Day | Moment):
        infinite = f"COALESCE(isinf({raw}), FALSE)"
    return there, infinite, _beyond(column, raw)


def _beyond(column: Column, raw: str) -> str:
    if not isinstance(column, Bounded):
        return "FALSE"
    if isinstance(column, Number):
        value, unit = f"TRY_CAST({raw} AS DOUBLE)", 1
    else:
        day = _DAY if isinstance(column, Date) else 1
        value, unit = f"TRY(epoch_us(TRY_CAST({raw} AS TIMESTAMP)))", day * _MICRO
    low, high = float(column.low * unit), float(column.high * unit)
    if isinstance(column, Date):
        high += unit - 1  # any time of the last day
    outside = f"{value} < {low!r}::DOUBLE OR {value} > {high!r}::DOUBLE"
    # NaN is greater than any number
    return f"COALESCE(({outside}) AND NOT isnan(CAST({value} AS DOUBLE)), FALSE)"
