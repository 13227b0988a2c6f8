"""The engine that reads a given source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from ..schema import Table
from .contract import Engine, Numbers, Passes
from .registry import backend_for
from .source.location import locate

if TYPE_CHECKING:
    from .duckdb.profile import Described


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
        schema: the declared table.
        folder: where a relative path starts; None for the working folder.
        memory: how many bytes the engine may hold before it puts rows on disk; None for most of
            the machine's memory. A connection keeps its own limit.
    """
    found = locate(source, schema.name, folder)
    return backend_for(found).open_engine(found, schema, memory)


def describe_table(source: object, *, values: bool = False) -> list[Described]:
    """The columns of a table without a schema; with `values`, also the values that rows have."""
    found = locate(source, "table")
    return backend_for(found).describe(found, values=values)


def keep_rows(
    fill: Callable[[Callable[[Numbers], None]], None],
    sizes: Sequence[int],
    *,
    memory: int,
    batch: int,
) -> AbstractContextManager[Passes]:
    """The rows that `fill` hands over, kept on disk as long as the context lasts.

    Parameters
        fill: calls its argument with one batch after the other.
        sizes: the numbers of column j are at least 0 and below `sizes[j]`.
        memory: how many bytes sorting may hold.
        batch: how many rows are read at a time.
    """
    from .duckdb.passes import keep

    return keep(fill, sizes, memory=memory, batch=batch)
