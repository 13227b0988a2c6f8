"""Reads the values of a schema file as a table, or refuses them with every mistake among them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from ...arguments import above_zero, exact, fraction_of_one, moderate, whole
from ...errors import Refused, nearest
from ..case_insensitive import COLUMN_NAME, IDENTIFIER, Named, is_column_name, is_identifier
from ..column import Column, Number
from ..table import (
    FIXED_NOISE,
    NEIGHBOURS,
    PROMISES,
    PROTOCOLS,
    RECORD,
    REFINEMENT,
    Budget,
    Cell,
    Lookup,
    Protocol,
    Question,
    Table,
)
from ..toml_values import show
from .columns import read_column, read_markers
from .section import Section, is_text
from .text import Lines, Mistakes

_MOST_ROWS = 100_000
_SOURCE = "`source` must be a Parquet file, or a CSV file with a first line of names"
_SOURCE_FIX = 'Write source = "region.csv"'
_LIST_FIX = 'Write columns = ["name"]'
_SECTIONS = ("table", "columns", "budget", "protocol", "questions", "lookups")
_LIMITS = ("rows_per_unit", "groups_per_unit")
_TABLE_KEYS = {"name", "source", "unit", "neighbours", "rows", "version", "bounds_from_data"}
_TABLE_KEYS |= {"missing", "separator", "ledger", *_LIMITS}
_SEPARATORS = (",", ";", "\t", "|", ":", "^", "~")
_SCHEMES = ("duckdb", "postgresql", "spark", "sc")
_UNIT_TYPES = ("identifier", "category")
_NEIGHBOURS_FIX = (
    'Write neighbours = "replace" if the number of rows is public, else "add-or-remove"'
)

E = TypeVar("E")


def read_table(values: Mapping[str, object], lines: Lines, folder: Path, file: str) -> Table:
    """The table that the values describe; refused with every mistake among them."""
    mistakes = Mistakes(lines)
    for name in values:
        if name not in _SECTIONS:
            what = f"`{name}` is not a section of a schema"
            allowed = "The sections are " + ", ".join(f"[{known}]" for known in _SECTIONS)
            mistakes.add((name,), what, allowed, nearest(name, _SECTIONS))
    columns = _columns(values, mistakes, folder)
    budget = _budget(values, mistakes)
    protocol = _protocol(values, mistakes)
    questions = _entries(values, "questions", "question", "median_income", mistakes, _question)
    table = _table(values, mistakes)
    taken = {str(table.get("name")).lower()}

    def lookup(section: Section, name: str) -> Lookup | None:
        return _lookup(section, name, folder)

    lookups = _entries(values, "lookups", "lookup", "region", mistakes, lookup, taken)
    if table.get("unit") == RECORD:
        _refuse_sums_of_persons(columns, mistakes)
    mistakes.stop(file)
    stated = {"budget": budget, "protocol": protocol, "questions": questions, "lookups": lookups}
    return Table(columns=columns, **stated, **table)  # type: ignore[arg-type]


def _section(values: Mapping[str, object], name: str, mistakes: Mistakes) -> Section | None:
    return Section.read(values[name], (name,), mistakes) if name in values else None


def _entries(
    values: Mapping[str, object],
    title: str,
    word: str,
    example: str,
    mistakes: Mistakes,
    read: Callable[[Section, str], E | None],
    taken: set[str] | None = None,
) -> Named[E]:
    """The entries of a section, by name; `taken`: names, in lower case, that none may have."""
    section = _section(values, title, mistakes)
    entries: list[tuple[str, E]] = []
    seen = set(taken or ())
    for name, stated in section.values.items() if section else ():
        path = (title, name)
        if not is_identifier(name) or name.lower() in seen:
            what = f"{show(name)} cannot be the name of a {word}, or is one already"
            mistakes.add(path, what, IDENTIFIER, f"Rename it, as in [{title}.{example}]")
        seen.add(name.lower())
        declared = Section.read(stated, path, mistakes)
        entry = None if declared is None else read(declared, name)
        entries += [] if entry is None else [(name, entry)]
    return Named(entries)


# -- Lookups: public tables in files ---------------------------------------------------------------


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
    if not set(numbers) <= set(columns):
        section.wrong("numbers", "`numbers` lists columns that hold numbers", _LIST_FIX)
        return None
    rows = _rows(section, folder / source, [key, *columns])
    if rows is None:
        return None
    keys = [row[0] for row in rows]
    if len(set(keys)) < len(keys) or "" in keys:
        twice = next((one for one in keys if keys.count(one) > 1), "")
        allowed = "Every key of a lookup is in one row only, and none is empty"
        what = f"The key {show(twice)} is not unique"
        section.wrong("key", allowed, "Remove the other row", what)
        return None
    cells: list[tuple[str, tuple[Cell, ...]]] = []
    for index, column in enumerate(columns, start=1):
        try:
            cells.append((column, tuple(_cell(row[index], column in numbers) for row in rows)))
        except Refused:
            what = f"`{column}` has a cell that is not a number"
            section.wrong("numbers", "Every cell is a decimal number, or empty", "Correct it", what)
            return None
    return Lookup(name=name, key=key, keys=tuple(keys), columns=Named(cells))


def _cell(text: str, number: bool) -> Cell:
    if not text:
        return None
    return exact(text, "cell") if number else text


def _names(section: Section, key: str, *, required: bool = False) -> list[str] | None:
    allowed = f"`{key}` must be a list of different names, each in quotes"

    def are_texts(value: object) -> bool:
        listed = isinstance(value, list) and all(map(is_text, value))
        return listed and bool(value or not required)

    value: list[str] | None = section.valid(key, are_texts, allowed, _LIST_FIX, required=required)
    if value is None:
        return None
    if len({name.lower() for name in value}) < len(value):
        section.wrong(key, allowed, "Remove one of them")
        return None
    if not all(map(is_column_name, value)):
        section.wrong(key, COLUMN_NAME, "Rename it in the file")
        return None
    return value


def _rows(section: Section, path: Path, names: list[str]) -> list[list[str]] | None:
    """The cells of these columns, row by row; None if the file has mistakes."""
    kind = "Parquet" if path.suffix.lower() == ".parquet" else "CSV"
    try:
        lines = _parquet_lines(path) if kind == "Parquet" else _csv_lines(path)
    except (OSError, ValueError, csv.Error):
        what = f"{show(path.name)} cannot be read as {kind}"
        section.wrong("source", _SOURCE, _SOURCE_FIX, what)
        return None
    header = [name.strip() for name in lines[0]] if lines else []
    if len(lines) > _MOST_ROWS + 1:
        allowed = f"A lookup has at most {_MOST_ROWS:,} rows"
        section.wrong("source", allowed, "Leave out what is unused")
        return None
    absent = [name for name in names if name not in header]
    if absent or any(len(line) != len(header) for line in lines[1:] if line):
        what = "A line has more or fewer fields than the first"
        if absent:
            what = f"{show(path.name)} has no column `{absent[0]}`"
        section.wrong("source", _SOURCE, "Correct the file, or the names", what)
        return None
    indices = [header.index(name) for name in names]
    return [[line[index].strip() for index in indices] for line in lines[1:] if line]


def _csv_lines(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(islice(csv.reader(file), _MOST_ROWS + 2))  # one more than are allowed


def _parquet_lines(path: Path) -> list[list[str]]:
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


# -- Columns, and the table itself -----------------------------------------------------------------


def _refuse_sums_of_persons(columns: Named[Column], mistakes: Mistakes) -> None:
    for name, column in columns.items():
        if isinstance(column, Number) and column.bounds_per_unit is not None:
            mistakes.add(
                ("columns", name, "bounds_per_unit"),
                f"`bounds_per_unit` is stated for `{name}`, and every record is a unit",
                "It has a meaning only if `unit` is a column that identifies a person",
                "Remove it: `bounds` already bounds the value of one record",
            )


def _columns(values: Mapping[str, object], mistakes: Mistakes, folder: Path) -> Named[Column]:
    section = _section(values, "columns", mistakes)
    if section is None or not section.values:
        if section is not None or "columns" not in values:
            what = "No column is declared"
            allowed = "A column that is not declared is invisible, so at least one must be"
            mistakes.add(("columns",), what, allowed, "Add a section such as [columns.age]")
        return Named()
    table = values.get("table")
    everywhere = Section(table if isinstance(table, Mapping) else {}, ("table",), mistakes)
    markers = read_markers(everywhere, numbers=True)
    columns: list[tuple[str, Column]] = []
    seen: dict[str, str] = {}
    for name, stated in section.values.items():
        if not is_column_name(name):
            mistakes.add(
                ("columns", name),
                f"{show(name)} cannot be the name of a column",
                COLUMN_NAME,
                "Rename it in a view, and name the view as the source",
            )
        elif name.lower() in seen:
            mistakes.add(
                ("columns", name),
                f"`{name}` and `{seen[name.lower()]}` are one name to SQL",
                "Names must differ by more than upper and lower case",
                "Rename one of them",
            )
        seen.setdefault(name.lower(), name)
        declared = Section.read(stated, ("columns", name), mistakes)
        if declared is not None:
            column = read_column(declared, name, section.values, folder, markers)
            columns += [] if column is None else [(name, column)]
    return Named(columns)


def _table(values: Mapping[str, object], mistakes: Mistakes) -> dict[str, Any]:
    section = Section.read(values.get("table", {}), ("table",), mistakes)
    if section is None:
        return {}
    section.known(_TABLE_KEYS, "[table]")
    name = section.text("name", IDENTIFIER, 'Write name = "census"', required=True)
    if name is not None and not is_identifier(name):
        section.wrong("name", IDENTIFIER, 'Write something like "census_2020"')
    unit = _unit(section, values.get("columns"))
    return {
        "name": name,
        "source": _source(section),
        "unit": unit,
        "neighbours": section.choice("neighbours", NEIGHBOURS, required=True, fix=_NEIGHBOURS_FIX),
        "rows": _whole(section, "rows"),
        **_limits(section, unit),
        "separator": section.choice("separator", _SEPARATORS, fix='Write separator = ";"'),
        "ledger": section.text(
            "ledger", "`ledger` must be the path of a file", 'Write ledger = "census.ledger"'
        ),
        "version": section.text(
            "version", "`version` must be text that is not blank", 'Write version = "2024-12"'
        ),
        "bounds_from_data": section.flag("bounds_from_data") or False,
    }


def _source(section: Section) -> str | None:
    allowed = (
        "`source` must be a file, a pattern of files, or duckdb://, postgresql://, spark://, sc://"
    )
    source = section.text("source", allowed, 'Write source = "census.parquet"')
    scheme, mark, _ = (source or "").partition("://")
    if mark and scheme not in _SCHEMES:
        # the rest of the address may hold a password, and is not repeated
        what = f"`source` starts with {scheme}://" if scheme.isalnum() else "`source` is no address"
        section.wrong("source", allowed, nearest(scheme, _SCHEMES), what)
    return source


def _unit(section: Section, columns: object) -> str | None:
    allowed = 'The unit is "record", or an identifier or category column that names a person'
    fix = 'Write unit = "record" if every person has one row'
    unit = section.text("unit", allowed, fix, required=True)
    if unit is None or not isinstance(columns, Mapping):
        return unit
    declared = {str(name).lower(): name for name in columns}
    column = declared.get(unit.lower())
    if unit == RECORD:
        if column is not None:
            what = f"`unit` is {show(unit)}, and a column is called `{column}`"
            section.wrong("unit", allowed, "Rename that column in a view", what)
        return unit
    if column is None:
        section.wrong("unit", allowed, nearest(unit, [RECORD, *map(str, columns)]))
        return unit
    stated = columns[column]
    kind = stated.get("type") if isinstance(stated, Mapping) else None
    if isinstance(kind, str) and kind not in _UNIT_TYPES:
        what = f"`unit` is {show(unit)}, which is a {kind} column"
        section.wrong("unit", allowed, f'Write type = "identifier" in [columns.{column}]', what)
    return str(column)


def _limits(section: Section, unit: str | None) -> dict[str, int | None]:
    limits = {key: _whole(section, key) for key in _LIMITS}
    if unit == RECORD:
        allowed = 'It has a meaning only if `unit` is a column: a "record" is one row'
        for key in limits:
            if key in section:
                fix = f"Remove `{key}`, or name the column that identifies a person as `unit`"
                section.wrong(key, allowed, fix)
    elif unit is not None and "rows_per_unit" not in section:
        _whole(section, "rows_per_unit", required=True)
    return limits


def _whole(section: Section, key: str, *, required: bool = False) -> int | None:
    return section.number(
        key,
        lambda value: whole(value, key, least=1),
        f"`{key}` must be a whole number, at least 1",
        f"Write {key} = 10, or the number that is right",
        required=required,
    )


def _epsilon(section: Section, key: str, *, required: bool = False) -> Fraction | None:
    return section.number(
        key,
        lambda value: above_zero(value, key),
        f"`{key}` must be an epsilon above 0",
        f"Write {key} = 1.0",
        required=required,
    )


def _budget(values: Mapping[str, object], mistakes: Mistakes) -> Budget | None:
    section = _section(values, "budget", mistakes)
    if section is None:
        return None
    section.known({"total", "per_analyst", "delta", "individual"}, "[budget]")
    total = _epsilon(section, "total", required=True)
    each = _epsilon(section, "per_analyst")
    own = _epsilon(section, "individual")
    delta = section.number(
        "delta",
        lambda value: fraction_of_one(value, "delta"),
        "`delta` must lie strictly between 0 and 1",
        "Write delta = 1e-9",
    )
    if total is None:
        return None
    if each is not None and each > total:
        allowed = f"No analyst can spend more than the total, {show(total)}"
        section.wrong("per_analyst", allowed, "Lower `per_analyst`, or raise `total`")
    return Budget(total=total, per_analyst=each, delta=delta, individual=own)


def _protocol(values: Mapping[str, object], mistakes: Mistakes) -> Protocol | None:
    section = _section(values, "protocol", mistakes)
    if section is None:
        return None
    section.known({"kind", "scale"}, "[protocol]")
    kind = section.choice("kind", PROTOCOLS, required=True)
    scale = section.number(
        "scale",
        lambda value: moderate(value, "scale"),
        "`scale` must be a number above 0",
        "Write scale = 20",
        required=kind == FIXED_NOISE,
    )
    if kind == REFINEMENT and "scale" in section:
        section.wrong("scale", "Refinement adds no noise", "Remove `scale`")
        return None
    if kind is None or (kind == FIXED_NOISE and scale is None):
        return None
    return Protocol(kind=kind, scale=scale)


def _question(section: Section, name: str) -> Question | None:
    section.known({"sql", "promise", "epsilon", "times"}, "a question")
    sql = section.text(
        "sql",
        "`sql` must be the question's text",
        'Write sql = "SELECT MEDIAN(income) FROM census"',
        required=True,
    )
    promise = section.choice("promise", PROMISES, required=True)
    # One limit without the other does not limit what individual DP gives away.
    both = promise == "individual" and ("epsilon" in section or "times" in section)
    epsilon = _epsilon(section, "epsilon", required=both)
    times = _whole(section, "times", required=both)
    if sql is None or promise is None:
        return None
    return Question(name=name, sql=sql, promise=promise, epsilon=epsilon, times=times)
