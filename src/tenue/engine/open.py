"""The engine that reads a given source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import refuse
from ..schema import Table
from .contract import Engine, Numbers, Ordered, Passes, Tallied
from .duckdb.engine import DuckDB
from .duckdb.scratch import Scratch
from .source.location import (
    Cluster,
    Database,
    Distributed,
    Files,
    InSpark,
    Relation,
    Server,
    locate,
)

if TYPE_CHECKING:
    from .duckdb.describe import Described
    from .duckdb.rows import Load

__all__ = [
    "Scratch",
    "describe_table",
    "keep_rows",
    "open_engine",
    "open_ordered",
    "open_table",
    "open_tally",
]


def open_engine(
    source: object, schema: Table, folder: Path | None = None, memory: int | None = None
) -> Engine:
    """The engine for the table; refused if the source is not the table that the schema describes.

    Guarantee
        No row decides anything before `validate`, which reads them all; a data frame is converted
        value by value. A refusal names columns and files, never a value.

    Parameters
        source: a path or pattern of .csv, .tsv, .parquet, .json, .jsonl files; a folder of
            .parquet files; `duckdb://file#table`; `postgresql://user@host/database#table`;
            `spark://host:7077#table`, `sc://host:15002#table` or `spark://local#path`; a data frame
            of pandas, polars, pyarrow, Spark or anything with the Arrow PyCapsule interface; a
            DuckDB connection or Spark session, whose table of the schema's name is read; a DuckDB
            relation.
        schema: what is declared about the table.
        folder: where a relative path starts; None for the working folder.
        memory: how many bytes the engine may hold before it puts rows on disk; None for most of
            what the machine has. A connection keeps its own limit.
    """
    found = locate(source, schema.name, folder)
    if isinstance(found, Server):
        return _in_server(found, schema)
    if isinstance(found, Cluster | Distributed):
        return _in_spark(found, schema)
    return DuckDB(found, schema, memory)


def _in_server(source: Server, schema: Table) -> Engine:
    _refuse_without_psycopg()
    from .postgres.engine import Postgres

    return Postgres(source, schema)


def _refuse_without_psycopg() -> None:
    try:
        import_module(f"{__package__}.postgres.session")
    except ImportError:
        raise refuse("engine.table-needs-psycopg") from None


def _in_spark(source: InSpark, schema: Table) -> Engine:
    _refuse_without_pyspark()
    from .spark.engine import Spark

    return Spark(source, schema)


def _refuse_without_pyspark() -> None:
    try:
        import_module(f"{__package__}.spark.session")
    except ImportError:
        raise refuse("engine.table-needs-pyspark") from None


def open_table(
    source: Files | Database | Relation | Server | InSpark,
) -> tuple[tuple[str, ...], Load]:
    """The columns of a table without a schema, and how they are read; refused if it is none."""
    if isinstance(source, Server):
        _refuse_without_psycopg()
        from .postgres.whole import open_table as open_in_server

        return open_in_server(source)
    if isinstance(source, Cluster | Distributed):
        _refuse_without_pyspark()
        from .spark.whole import open_table as open_in_spark

        return open_in_spark(source)
    from .duckdb.rows import open_whole

    return open_whole(source)


def open_tally(
    source: Files | Database | Relation | Server | InSpark, memory: int
) -> AbstractContextManager[Tallied]:
    """The counts of a table without a schema, made where its rows are, as long as the context
    lasts; refused if it is none.

    Parameters
        memory: how many bytes DuckDB may hold before it puts counts on disk. A relation's
            connection, a server and Spark have limits of their own.
    """
    if isinstance(source, Server):
        _refuse_without_psycopg()
        from .postgres.tally import open_tally as open_in_server

        return open_in_server(source)
    if isinstance(source, Cluster | Distributed):
        _refuse_without_pyspark()
        from .spark.tally import open_tally as open_in_spark

        return open_in_spark(source)
    from .duckdb.tally import open_tally as open_here

    return open_here(source, memory)


def describe_table(source: object, *, values: bool = False) -> list[Described]:
    """The columns of a table without a schema; with `values`, also what its rows hold."""
    from .duckdb.describe import describe

    found = locate(source, "table")
    if isinstance(found, Server):
        _refuse_without_psycopg()
        from .postgres.whole import describe as describe_in_server

        return describe_in_server(found, values=values)
    if isinstance(found, Cluster | Distributed):
        _refuse_without_pyspark()
        from .spark.whole import describe as describe_in_spark

        return describe_in_spark(found, values=values)
    return describe(source, values=values)


def keep_rows(
    fill: Callable[[Callable[[Numbers], None]], None],
    sizes: Sequence[int],
    *,
    memory: int,
    batch: int,
) -> AbstractContextManager[Passes]:
    """The rows that `fill` hands over, kept on disk as long as the context lasts.

    Parameters
        fill: is given what takes a batch: a row for each row, a column for each column.
        sizes: the numbers of column j are at least 0 and below `sizes[j]`.
        memory: how many bytes sorting may hold.
        batch: how many rows are read at a time.
    """
    from .duckdb.passes import keep

    return keep(fill, sizes, memory=memory, batch=batch)


def open_ordered(
    source: Files | Database, *, memory: int, batch: int
) -> AbstractContextManager[Ordered]:
    """A pass over one column of a stored table, holding so many bytes, so many rows at a time."""
    from .duckdb.ordered import order

    return order(source, memory=memory, batch=batch)
