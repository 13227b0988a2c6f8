"""Any table as Arrow columns, without a schema, for those who evaluate it.

Nothing is left out in silence: a file with a line that is no row is refused, for a group whose
rows were skipped would look smaller or safer than it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...errors import refuse
from ..source.location import Database, Files, Relation
from .dialect import DUCKDB
from .reader import broken_line, prepare

if TYPE_CHECKING:
    import pyarrow


Load = Callable[[Sequence[str]], "pyarrow.Table"]
"""The columns of these names, in this order."""


def open_whole(source: Files | Database | Relation) -> tuple[tuple[str, ...], Load]:
    """The names of a table's columns, and how they are read; refused if it is no table."""
    import duckdb

    if isinstance(source, Relation):
        return tuple(source.relation.columns), lambda chosen: source.relation.project(
            ", ".join(map(DUCKDB.quoted, chosen))
        ).to_arrow_table()
    connection = duckdb.connect()
    try:
        readable = prepare(connection, source, None)
    except duckdb.Error:
        readable = None
    if readable is None:
        raise refuse("engine.file-could-not-be-opened-as-table")
    names = tuple(name for name, _ in readable.columns)
    # by place, for the names of a file may be anything
    table = f"{readable.sql} AS whole({', '.join(f'f{i}' for i in range(len(names)))})"

    def load(chosen: Sequence[str]) -> pyarrow.Table:
        picked = ", ".join(f"f{names.index(name)}" for name in chosen)
        try:
            return connection.sql(f"SELECT {picked} FROM {table}").to_arrow_table()  # noqa: S608
        except duckdb.Error as error:
            told = broken_line(str(error))
        # raised out of reach of the error above, which may quote a row
        told = told or "The file could not be read to its end"
        raise refuse("engine.file-could-not-be-read", told=told)

    return names, load
