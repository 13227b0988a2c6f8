"""How DuckDB reads each kind of source: the SQL of its rows, and the columns it stores.

Only names, types and file footers are looked at here. Rows are read when a request is measured.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import refuse
from ..source.frame import convert
from ..source.header import Header, read_header
from ..source.limit import check_parquet, check_size
from ..source.location import Database, Files, Frame
from ..storage import Storage, Written
from .dialect import DUCKDB, storage

if TYPE_CHECKING:
    import duckdb


_ARROW = "tenue_frame"
_HELD = "tenue_held"
_JSON_START = 4096
_LENIENT = "ignore_errors = true"
_BROKEN = {
    "not utf-8 encoded": "has bytes that are not UTF-8",
    "unterminated quote": "opens a quote that is never closed",
    "Expected Number of Columns": "has too many or too few values",
}

literal, quoted = DUCKDB.literal, DUCKDB.quoted


@dataclass(frozen=True)
class Readable:
    """What DuckDB can read.

    sql: the table, as it stands after FROM.
    columns: the names it has and how each is stored, in order.
    paths: the files that must stay within reach.
    kept: what must not be forgotten while the table is read.
    unreadable: how many values of a column of a data frame were there and could not be converted.
    """

    sql: str
    columns: tuple[tuple[str, Storage], ...]
    paths: tuple[Path, ...] = ()
    kept: object = field(default=None, repr=False)
    unreadable: Mapping[str, int] = field(default_factory=dict)


def prepare(
    connection: duckdb.DuckDBPyConnection,
    source: Files | Database | Frame,
    wanted: Mapping[str, str] | None,
) -> Readable:
    """Makes the source known to the connection.

    `wanted` are the declared names, by lower case: a line of a file that is no row is left out.
    Without them every column is there, in order, and such a line is an error.
    """
    if isinstance(source, Frame):
        frame = convert(source.data, wanted)
        if frame.table.num_columns == 0:
            return Readable(_ARROW, ())
        connection.register(_ARROW, frame.table)
        columns = _described(connection, _ARROW)
        return Readable(_ARROW, columns, kept=frame.table, unreadable=frame.unreadable)
    if isinstance(source, Database):
        connection.execute(f"ATTACH {literal(str(source.path))} AS {_HELD} (READ_ONLY)")
        connection.execute(f"USE {_HELD}")  # where a view looks for the tables it names
        sql = ".".join([_HELD, *map(quoted, source.table)])
        return Readable(sql, _described(connection, sql), (source.path,))
    if source.kind == "parquet":
        return _parquet(connection, source)
    for path in source.paths:
        check_size(path, zipped=source.zipped)
    if source.kind in ("json", "jsonl"):
        return _json(source, wanted or {})
    if wanted is None:
        return _whole_csv(source)
    # with it DuckDB would skip a line for its bytes only when a question reads that field, and how
    # many rows there are would depend on what is asked
    connection.execute("SET disabled_optimizers = 'unused_columns'")
    return _csv(source, wanted)


def _described(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[tuple[str, Storage], ...]:
    rows = connection.execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()  # noqa: S608
    return tuple((name, storage(kind)) for name, kind, *_ in rows)


def _parquet(connection: duckdb.DuckDBPyConnection, source: Files) -> Readable:
    found: tuple[tuple[str, Storage], ...] | None = None
    for path in source.paths:
        name = literal(str(path))
        (rows,) = _one(connection, f"SELECT num_rows FROM parquet_file_metadata({name})")  # noqa: S608
        schema = f"SELECT name, num_children FROM parquet_schema({name})"  # noqa: S608
        names = _top_level(connection.execute(schema).fetchall())
        decoded = f"SELECT SUM(total_uncompressed_size) FROM parquet_metadata({name})"  # noqa: S608
        (size,) = _one(connection, decoded)
        check_parquet(path, rows=int(rows), columns=len(names), decoded=int(size or 0))
        check_once(names)
        columns = _described(connection, _read_parquet([path]))
        if found is not None and columns != found:
            raise refuse("engine.has-other-columns-than-files-before-it", name=path.name)
        found = columns
    return Readable(_read_parquet(source.paths), found or (), source.paths)


def _one(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[int, ...]:
    row = connection.execute(sql).fetchone()
    return (0,) if row is None else row


def _read_parquet(paths: Iterable[Path]) -> str:
    # folders called year=2020 are no columns: what a file does not hold is not declared by a path
    return f"read_parquet([{listed(paths)}], hive_partitioning = false, union_by_name = false)"


def _csv(source: Files, wanted: Mapping[str, str]) -> Readable:
    """Every field is text first, so that no row decides how another is read.

    A line is no row if it has more or fewer fields than the first, a quote that is not closed, more
    than two million bytes, or bytes in a declared field that are not UTF-8.
    """
    groups: dict[Header, list[Path]] = {}
    for path in source.paths:
        header = read_header(path, source.kind, zipped=source.zipped, wanted=wanted)
        groups.setdefault(header, []).append(path)
    names = {header: [name.lower() for name in header.names] for header in groups}
    shared = set.intersection(*(set(folded) for folded in names.values())) & set(wanted)
    parts = []
    for header, paths in groups.items():
        check_once([name for name in names[header] if name in shared])
        chosen = [f"f{names[header].index(name)} AS {quoted(name)}" for name in sorted(shared)]
        lines = _read_csv(header, paths, source.zipped)
        parts.append(f"SELECT {', '.join(chosen) or 'f0'} FROM {lines}")  # noqa: S608
    return Readable(_union(parts), _written(sorted(shared)), source.paths)


def _whole_csv(source: Files) -> Readable:
    headers = {
        read_header(path, source.kind, zipped=source.zipped, wanted=None) for path in source.paths
    }
    if len(headers) > 1:
        raise refuse("engine.files-have-different-first-lines")
    (header,) = headers
    sql = strictly(_read_csv(header, source.paths, source.zipped))
    return Readable(sql, _written(header.names), source.paths)


def _read_csv(header: Header, paths: Iterable[Path], zipped: bool) -> str:
    fields = ", ".join(f"'f{i}': 'VARCHAR'" for i in range(len(header.names)))
    options = (
        f"auto_detect = false, header = true, delim = {literal(header.separator)}, "
        f"quote = '\"', escape = '\"', nullstr = '', columns = {{{fields}}}, "
        f"{_LENIENT}, compression = '{'gzip' if zipped else 'none'}'"
    )
    return f"read_csv([{listed(paths)}], {options})"


def strictly(sql: str) -> str:
    """The same table, where a line that is no row is an error instead of being left out."""
    return sql.replace(_LENIENT, "ignore_errors = false")


def broken_line(message: str) -> str | None:
    """Which line of a CSV file is no row, and why, from DuckDB's message; never what stands there.

    Example
        >>> broken_line("CSV Error on Line: 3: secret. Expected Number of Columns: 2")
        'Line 3 has too many or too few values'
    """
    line = re.search(r"CSV Error on Line: ([0-9]+)", message)
    why = next((words for sign, words in _BROKEN.items() if sign in message), None)
    return None if line is None or why is None else f"Line {line[1]} {why}"


def _json(source: Files, wanted: Mapping[str, str]) -> Readable:
    """Every value is text first. A key that an object lacks is a missing value, so every declared
    column is there; keys are spelled as declared, for no object says how another spells them."""
    groups: dict[str, list[Path]] = {}
    for path in source.paths:
        groups.setdefault(_layout(path, source), []).append(path)
    names = sorted(wanted.values())
    fields = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    parts = []
    for layout, paths in groups.items():
        options = (
            f"format = '{layout}', records = 'true', columns = {{{fields}}}, {_LENIENT}, "
            f"compression = '{'gzip' if source.zipped else 'none'}'"
        )
        parts.append(f"SELECT * FROM read_json([{listed(paths)}], {options})")  # noqa: S608
    return Readable(_union(parts), _written(names), source.paths)


def _layout(path: Path, source: Files) -> str:
    if source.kind == "jsonl":
        return "newline_delimited"
    opened = gzip.open if source.zipped else open
    try:
        with opened(path, "rb") as file:
            start = file.read(_JSON_START).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    except (OSError, EOFError):
        start = b"?"
    if start not in (b"[", b"{", b""):
        raise refuse("engine.does-not-hold-json-objects", name=path.name)
    return "array" if start == b"[" else "unstructured"


def _written(names: Iterable[str]) -> tuple[tuple[str, Storage], ...]:
    return tuple((name, Written()) for name in names)


def listed(paths: Iterable[Path]) -> str:
    """The SQL of these paths, one after the other."""
    return ", ".join(literal(str(path)) for path in paths)


def _union(parts: list[str]) -> str:
    return f"({' UNION ALL '.join(parts)})"


def _top_level(schema: list[tuple[str, int | None]]) -> list[str]:
    """The names of a Parquet file's columns, without the parts of those that have parts."""
    names = []
    inside = 0
    for name, children in schema[1:]:
        if inside == 0:
            names.append(name)
        else:
            inside -= 1
        inside += children or 0
    return names


def check_once(names: Iterable[str]) -> None:
    """Refuses names that differ by upper and lower case only."""
    seen: set[str] = set()
    for name in map(str.lower, names):
        if name in seen:
            raise refuse("engine.source-has-more-than-one-column-of")
        seen.add(name)
