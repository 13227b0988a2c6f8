"""What a file says about its own columns: names and types; values only when asked for.

Used by `tenue init`, which runs on the holder's side.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import refuse
from ..source.header import read_header
from ..source.limit import MOST_COLUMNS
from ..storage import Day, Fixed, Floating, Integer, Moment, Truth
from .dialect import DUCKDB, storage
from .reader import check_once

_READERS = {".csv": "read_csv", ".tsv": "read_csv", ".parquet": "read_parquet"}
_MOST_CATEGORIES = 200


@dataclass(frozen=True)
class Described:
    """A column: its name, its type in Tenue's words, whether it holds whole numbers.

    bounds, categories: what the rows hold, only if that was asked for.
    """

    name: str
    type: str
    whole: bool = False
    bounds: tuple[Any, Any] | None = None
    categories: tuple[str, ...] | None = None


def describe(path: Path, *, values: bool = False) -> list[Described]:
    """The columns of a CSV, TSV or Parquet file; with `values`, also what rows hold."""
    import duckdb

    reader = _READERS.get(_ending(path))
    if reader is None or not path.is_file():
        raise refuse("engine.is-not-table-that-can-be-described", path=str(path))
    with duckdb.connect() as connection:
        try:
            table = connection.sql(f"SELECT * FROM {reader}(?)", params=[str(path)])  # noqa: S608 - our own word
            _check_names(path, table.columns)
            return [
                _column(table, name, str(kind), values)
                for name, kind in zip(table.columns, table.types, strict=True)
            ]
        except duckdb.Error:
            raise refuse("engine.could-not-be-read-as-table", name=path.name) from None


def _ending(path: Path) -> str:
    """.csv also for a file that ends in .csv.gz."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _check_names(path: Path, found: list[str]) -> None:
    """Refuses what could be described but not asked: see `reader.prepare`."""
    names = tuple(found)
    if _ending(path) != ".parquet":  # DuckDB gives new names to equal ones and to none
        kind, zipped = _ending(path).removeprefix("."), path.suffix.lower() == ".gz"
        wanted = {name.lower() for name in found}
        names = read_header(path, kind, zipped=zipped, wanted=wanted).names
    if len(found) > MOST_COLUMNS:
        raise refuse("engine.columns", name=path.name, many=len(found), most_columns=MOST_COLUMNS)
    check_once(names)


def _column(table: Any, name: str, kind: str, values: bool) -> Described:
    quoted, stored = DUCKDB.quoted(name), storage(kind)
    if isinstance(stored, Truth):
        return Described(name, "boolean")
    if isinstance(stored, Day | Moment | Integer | Fixed | Floating):
        time = {Day: "date", Moment: "datetime"}.get(type(stored), "number")
        bounds = _ends(table, quoted) if values else None
        return Described(name, time, whole=isinstance(stored, Integer), bounds=bounds)
    categories = None
    if values:
        found = table.aggregate(f"{quoted} AS v", quoted).filter("v IS NOT NULL").fetchall()
        if len(found) <= _MOST_CATEGORIES:
            categories = tuple(sorted(str(row[0]) for row in found))
    return Described(name, "category", categories=categories)


def _ends(table: Any, quoted: str) -> tuple[Any, Any] | None:
    ((low, high),) = table.aggregate(f"min({quoted}), max({quoted})").fetchall()
    return None if low is None or low == high else (low, high)
