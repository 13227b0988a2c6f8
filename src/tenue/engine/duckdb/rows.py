"""All rows of a table: as whole numbers, and how they were stored, for those who publish it; as
Arrow columns, without a schema, for those who evaluate it.

Nothing is left out in silence: a file is read as a whole first, and refused with the line if one
is no row, for a group whose rows were skipped would look smaller or safer than it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from ...errors import refuse
from ..contract import Rows
from ..source.location import Database, Files, Relation, names_of, paths_of
from ..source.whole import read_whole
from ..sql.logical import Held, Stored
from ..sql.rows import Types, read_rows
from ..storage import Written
from ..watch import Watched
from .dialect import DUCKDB
from .reader import prepare

if TYPE_CHECKING:
    import pyarrow

    from .sandbox import Store


Load = Callable[[Sequence[str]], "pyarrow.Table"]
"""The columns of these names, in this order."""
Made = TypeVar("Made")


def read_all(table: Stored, store: Store) -> Rows:
    """Every row, as `Engine.read_all` says."""
    return _read(lambda: read_rows(table, store, types_of(table, store)), "rows")


def types_of(table: Stored, store: Store) -> Types:
    """How the source stores each column."""
    names = [
        f"{DUCKDB.quoted(h.name)} AS {DUCKDB.quoted(h.column.name)}" for h in table.held.values()
    ]
    sql = f"SELECT {', '.join(names)} FROM {table.sql} LIMIT 0"  # noqa: S608
    stored = store.arrow(sql).schema

    def type_of(held: Held) -> pyarrow.DataType | None:
        return None if held.stored == Written() else stored.field(held.column.name).type

    return type_of


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
        raise refuse("engine.unopenable-file")
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
            raise refuse("engine.table-changed-meanwhile", names=names_of(readable.paths))
        if readable.separated and found.num_rows != many:
            raise refuse("engine.ambiguous-csv", names=names_of(readable.paths))
        return found

    return names, load


def _read(run: Callable[[], Made], what: str) -> Made:
    """What `run` gives, or a refusal."""
    import duckdb

    try:
        return run()
    except duckdb.Error:
        pass
    # raised out of reach of the error above, which may quote a row
    raise refuse(f"engine.{what}-not-read")
