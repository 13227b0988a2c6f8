"""All rows of a table: as whole numbers, and how they were stored, for those who publish it; as
Arrow columns, without a schema, for those who evaluate it.

Nothing is left out in silence: a file is read as a whole first, and refused with the line if one
is no row, for a group whose rows were skipped would look smaller or safer than it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from ...errors import refuse
from ...schema import Bounded, Column, Date, Identifier, Named, Number
from ..contract import HandedOver, Rows
from ..source.location import Database, Files, Relation, names_of, paths_of
from ..source.whole import read_whole
from ..sql.logical import Held, Logical, Stored
from ..storage import Day, Floating, Moment, Storage, Written
from ..watch import Watched
from .dialect import DUCKDB
from .reader import prepare

if TYPE_CHECKING:
    import pyarrow

    from .sandbox import Store


Load = Callable[[Sequence[str]], "pyarrow.Table"]
"""The columns of these names, in this order."""
_DAY, _MICRO = 24 * 60 * 60, 10**6


def read_rows(table: Stored, run: Callable[[str], pyarrow.Table]) -> Rows:
    """Every row, as `Engine.read_all` says; `run` gives those of a SELECT."""

    def read(sql: str) -> pyarrow.Table:
        return _read(lambda: run(sql), "rows")

    logical, held = _without_defaults(table)
    columns = [one.column for one in held.values()]
    chosen, doubts = [], {}
    for column in columns:
        value = raw = logical.raw(column.name)
        if not isinstance(column, Identifier):
            made = logical.value(column.name)
            doubts[column.name] = _doubts(column, logical.stored(column.name), raw, made)
            value = f"CAST({made} AS BIGINT)"
        chosen.append(f"{value} AS {DUCKDB.quoted(column.name)}")
    everything = read(logical.select(chosen))
    return Rows(
        logical=everything.select(list(doubts)),
        identifiers=everything.select([c.name for c in columns if c.name not in doubts]),
        types=_types(table, held, read),
        **_counted(logical, doubts, read),
    )


def hand_over(
    table: Stored,
    store: Store,
    take: Callable[[pyarrow.RecordBatch], None],
    batch: int,
    *,
    names: bool = False,
) -> HandedOver:
    """Every row once, as `Engine.hand_over` says."""
    logical, held = _without_defaults(table)
    naming = [one.column for one in held.values() if isinstance(one.column, Identifier)]
    columns = [one.column for one in held.values() if one.column not in naming]
    chosen = [
        f"CAST({logical.value(c.name)} AS BIGINT) AS {DUCKDB.quoted(c.name)}" for c in columns
    ]
    if names:
        chosen += [f"{logical.raw(c.name)} AS {DUCKDB.quoted(c.name)}" for c in naming]
    rows = 0
    for part in store.batches(logical.select(chosen or ["0 AS nothing"]), batch):
        take(part)
        rows += part.num_rows
    doubts = {
        c.name: _doubts(c, logical.stored(c.name), logical.raw(c.name), logical.value(c.name))
        for c in columns
    }
    repeated = []
    for column in naming:
        unit = logical.unit(column.name)
        named = logical.select([unit], f"{unit} IS NOT NULL")
        twice = f"{named} GROUP BY {unit} HAVING count(*) > 1"
        if store.run(f"SELECT count(*) FROM ({twice})") != [(0,)]:  # noqa: S608
            repeated.append(column.name)
    types = _types(table, held, store.arrow)
    return HandedOver(rows, tuple(repeated), types, **_counted(logical, doubts, store.arrow))


def _counted(
    logical: Logical,
    doubts: Mapping[str, tuple[str, str, str]],
    read: Callable[[str], pyarrow.Table],
) -> dict[str, dict[str, int]]:
    """In how many rows each column is unreadable, infinite and beyond its bounds; and the first row
    in which it is one of the former two."""
    tests = [f"count_if({test})" for each in doubts.values() for test in each]
    found = [int(n[0].as_py() or 0) for n in read(logical.select(tests)).columns] if tests else []
    first = {}
    for name, unreadable, infinite in zip(doubts, found[::3], found[1::3], strict=True):
        if unreadable or infinite:
            numbered = logical.select(["*", "row_number() OVER () AS place"])
            wrong = " OR ".join(doubts[name][:2])
            place = read(f"SELECT min(place) FROM ({numbered}) WHERE {wrong}")  # noqa: S608
            first[name] = int(place.column(0)[0].as_py())
    kinds = ("unreadable", "infinite", "beyond")
    counted = {kind: dict(zip(doubts, found[i::3], strict=True)) for i, kind in enumerate(kinds)}
    return {**counted, "first": first}


def _types(
    table: Stored, held: Mapping[str, Held], read: Callable[[str], pyarrow.Table]
) -> dict[str, Any]:
    """How each column is stored; None where it is text that is read as something else."""
    spelled = [f"{DUCKDB.quoted(h.name)} AS {DUCKDB.quoted(h.column.name)}" for h in held.values()]
    sql = f"SELECT {', '.join(spelled)} FROM {table.sql} LIMIT 0"  # noqa: S608
    stored = read(sql).schema
    return {
        one.column.name: None if one.stored == Written() else stored.field(one.column.name).type
        for one in held.values()
    }


def _without_defaults(table: Stored) -> tuple[Logical, dict[str, Held]]:
    """The logical table in which what is missing stays so, and its columns."""
    held = {
        name: replace(one, column=replace(one.column, missing=None))
        for name, one in table.held.items()
    }
    declared = Named((one.column.name, one.column) for one in held.values())
    return Logical(Stored(table.sql, held, declared, table.dialect)), held


def _doubts(column: Column, stored: Storage, raw: str, value: str) -> tuple[str, str, str]:
    """Conditions: a value that is there and not understood; an infinite one; one beyond bounds."""
    there, infinite = unreadable_where(column, stored, raw, value), "FALSE"
    if isinstance(column, Number) and isinstance(stored, Written | Floating):
        infinite = f"COALESCE(isinf(TRY_CAST({raw} AS DOUBLE)), FALSE)"
    elif isinstance(column, Bounded) and isinstance(stored, Day | Moment):
        infinite = f"COALESCE(isinf({raw}), FALSE)"
    return there, infinite, _beyond(column, raw)


def unreadable_where(column: Column, stored: Storage, raw: str, value: str) -> str:
    """The condition that a value is there and is not what the schema declares; NaN is missing."""
    there = f"{raw} IS NOT NULL AND {value} IS NULL"
    if isinstance(column, Number) and isinstance(stored, Written | Floating):
        there += f" AND NOT COALESCE(isnan(TRY_CAST({raw} AS DOUBLE)), FALSE)"
    return there


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


def open_whole(source: Files | Database | Relation) -> tuple[tuple[str, ...], Load]:
    """The names of a table's columns, and how they are read; refused if it is no table.

    A file is read as a whole before the first column is handed over.
    """
    import duckdb

    if isinstance(source, Relation):
        return tuple(source.relation.columns), lambda chosen: source.relation.project(
            ", ".join(map(DUCKDB.quoted, chosen))
        ).to_arrow_table()
    connection = duckdb.connect()
    watched = Watched(paths_of(source))
    try:
        readable = prepare(connection, source, None)
    except duckdb.Error:
        readable = None
    if readable is None:
        raise refuse("engine.file-could-not-be-opened-as-table")
    names = tuple(name for name, _ in readable.columns)
    # by place, for the names of a file may be anything
    table = f"{readable.sql} AS whole({', '.join(f'f{i}' for i in range(len(names)))})"
    rows = cache(lambda: read_whole(readable.texts)[1])

    def load(chosen: Sequence[str]) -> pyarrow.Table:
        many = rows()
        picked = ", ".join(f"f{names.index(name)}" for name in chosen)
        sql = f"SELECT {picked} FROM {table}"  # noqa: S608
        found = _read(lambda: connection.sql(sql).to_arrow_table(), "file")
        if not watched.unchanged():
            raise refuse("engine.changed-while-it-was-read", names=names_of(readable.paths))
        if readable.separated and found.num_rows != many:
            raise refuse("engine.readers-disagree", names=names_of(readable.paths))
        return found

    return names, load


def _read(run: Callable[[], pyarrow.Table], what: str) -> pyarrow.Table:
    """What `run` gives, or a refusal."""
    import duckdb

    try:
        return run()
    except duckdb.Error:
        pass
    # raised out of reach of the error above, which may quote a row
    raise refuse(f"engine.{what}-could-not-be-read")
