"""The engine that reads a given source."""

from __future__ import annotations

from pathlib import Path

from ..schema import Table
from .contract import Engine
from .duckdb.engine import DuckDB
from .source.location import locate


def open_engine(source: object, schema: Table, folder: Path | None = None) -> Engine:
    """The engine for the table; refused if the source is not the table that the schema describes.

    Guarantee
        No row is read. A refusal names columns and files, never a value.

    Parameters
        source: a path or pattern of .csv, .tsv, .parquet, .json, .jsonl files;
            `duckdb://file#table`; a data frame of pandas, polars, pyarrow or anything with the
            Arrow PyCapsule interface; a DuckDB connection, whose table of the schema's name is
            read; a DuckDB relation.
        schema: what is declared about the table.
        folder: where a relative path starts; None for the working folder.
    """
    return DuckDB(locate(source, schema.name, folder), schema)
