"""How public tables are read: [lookups.region], with a file beside the schema, CSV or Parquet."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from ...errors import Refused
from ...number import exact
from ..literal import show
from ..lookup import Cell, Lookup
from ..named import COLUMN_NAME, IDENTIFIER, Named, is_column_name, is_identifier
from .mistake import Mistakes
from .section import Section, is_text

_MOST_ROWS = 100_000
_SOURCE = "`source` must be a Parquet file, or a CSV file with a first line of names"
_SOURCE_FIX = 'Write source = "region.csv"'
_LIST_FIX = 'Write columns = ["name"]'


def read_lookups(
    values: Mapping[str, object], mistakes: Mistakes, folder: Path, table: object
) -> Named[Lookup]:
    """Every public table that the schema declares; `table` is the name of the private one."""
    section = Section.read(values.get("lookups", {}), ("lookups",), mistakes)
    found: list[tuple[str, Lookup]] = []
    for name, stated in section.values.items() if section else ():
        path = ("lookups", name)
        taken = {str(table).lower(), *(known.lower() for known, _ in found)}
        if not is_identifier(name) or name.lower() in taken:
            what = f"{show(name)} cannot be the name of a lookup, or is one already"
            mistakes.add(path, what, IDENTIFIER, "Rename it, as in [lookups.region]")
        one = Section.read(stated, path, mistakes)
        read = None if one is None else _lookup(one, name, folder)
        found += [] if read is None else [(name, read)]
    return Named(found)


def _lookup(section: Section, name: str, folder: Path) -> Lookup | None:
    section.known({"source", "key", "columns", "numbers"}, "a lookup")
    source = section.text("source", _SOURCE, _SOURCE_FIX, required=True)
    key = section.text(
        "key", "`key` must name a column of the file", 'Write key = "code"', required=True
    )
    columns = _names(section, "columns", required=True)
    numbers = _names(section, "numbers") or []
    if source is None or key is None or columns is None:
        return None
    for number in numbers:
        if number not in columns:
            section.wrong("numbers", "`numbers` lists columns that hold numbers", _LIST_FIX)
            return None
    rows = _rows(section, folder / source, [key, *columns])
    if rows is None:
        return None
    keys = [row[0] for row in rows]
    if len(set(keys)) < len(keys) or "" in keys:
        twice = next((one for one in keys if keys.count(one) > 1), "")
        allowed = "Every key of a lookup stands in one row, and none is empty"
        section.wrong(
            "key", allowed, "Remove the other row", f"The key {show(twice)} is not unique"
        )
        return None
    cells: list[tuple[str, tuple[Cell, ...]]] = []
    for place, column in enumerate(columns, start=1):
        read = [_cell(row[place], column in numbers) for row in rows]
        if any(isinstance(cell, ValueError) for cell in read):
            what = f"`{column}` holds something that is no number"
            section.wrong("numbers", "Every cell is a decimal number, or empty", "Correct it", what)
            return None
        cells.append((column, tuple(cell for cell in read if not isinstance(cell, ValueError))))
    return Lookup(name=name, key=key, keys=tuple(keys), columns=Named(cells))


def _names(section: Section, key: str, *, required: bool = False) -> list[str] | None:
    allowed = f"`{key}` must be a list of different names, each in quotes"
    value = section.given(key, allowed, _LIST_FIX, required=required)
    if value is None:
        return None
    if not isinstance(value, list) or not all(map(is_text, value)) or (required and not value):
        section.wrong(key, allowed, _LIST_FIX)
        return None
    if len({name.lower() for name in value}) < len(value):
        section.wrong(key, allowed, "Remove one of them")
        return None
    if not all(map(is_column_name, value)):
        section.wrong(key, COLUMN_NAME, "Rename it in the file")
        return None
    return value


def _rows(section: Section, path: Path, names: list[str]) -> list[list[str]] | None:
    """The rows of the file, with these columns; None if something is wrong with it."""
    kind = "Parquet" if path.suffix.lower() == ".parquet" else "CSV"
    try:
        lines = _parquet_lines(path) if kind == "Parquet" else _csv_lines(path)
    except (OSError, ValueError, csv.Error):
        what = f"{show(path.name)} cannot be read as {kind}"
        section.wrong("source", _SOURCE, _SOURCE_FIX, what)
        return None
    header = [name.strip() for name in lines[0]] if lines else []
    if len(lines) > _MOST_ROWS + 1:
        section.wrong(
            "source", f"A lookup has at most {_MOST_ROWS:,} rows", "Leave out what is unused"
        )
        return None
    absent = [name for name in names if name not in header]
    if absent or any(len(line) != len(header) for line in lines[1:] if line):
        what = (
            f"{show(path.name)} has no column `{absent[0]}`"
            if absent
            else "A line has other fields"
        )
        section.wrong("source", _SOURCE, "Correct the file, or the names", what)
        return None
    places = [header.index(name) for name in names]
    return [[line[place].strip() for place in places] for line in lines[1:] if line]


def _csv_lines(path: Path) -> list[list[str]]:
    """The first line of names, and all others; few more than are allowed."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        return [line for _, line in zip(range(_MOST_ROWS + 2), csv.reader(file), strict=False)]


def _parquet_lines(path: Path) -> list[list[str]]:
    """The same of a Parquet file, as a CSV file would say it."""
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(path) as file:
        header = list(file.schema_arrow.names)
        if file.metadata.num_rows > _MOST_ROWS:
            return [header] * (_MOST_ROWS + 2)
        columns = file.read().columns
    texts = [[_written(cell) for cell in column.to_pylist()] for column in columns]
    return [header, *map(list, zip(*texts, strict=True))]


def _written(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool | bytes | list | dict):
        raise ValueError("neither a text nor a number")
    return repr(cell) if isinstance(cell, float) else str(cell)


def _cell(text: str, number: bool) -> Cell | ValueError:
    if not text:
        return None
    try:
        return Fraction(exact(text, "cell")) if number else text
    except Refused:
        return ValueError(text)
