"""How DuckDB reads each kind of source: the SQL of its rows, and the columns it stores.

Only names, types and file footers are looked at here. Rows are read when a request is measured.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import refuse
from ..source.file_check import Header, TextFile, check_parquet, check_size, read_header
from ..source.location import Database, Files, Frame, paths_of
from ..storage import Storage, Written
from .dialect import DUCKDB, storage

if TYPE_CHECKING:
    import duckdb


_ARROW = "tenue_frame"
_HELD = "tenue_held"
_JSON_START = 4096
literal, quoted = DUCKDB.literal, DUCKDB.quoted


@dataclass(frozen=True)
class Readable:
    """A table that DuckDB can read.

    sql: the table, as it stands after FROM.
    columns: its names and how each is stored, in order.
    paths: the files that must stay within reach.
    texts: the same files, with what a reading from end to end needs.
    how: how they are read, in words: read otherwise, the same bytes are another table.
    kept: an object that must live while the table is read.
    unreadable: how many values of a column of a data frame are present and were not convertible.
    """

    sql: str
    columns: tuple[tuple[str, Storage], ...] = ()
    paths: tuple[Path, ...] = ()
    texts: tuple[TextFile, ...] = ()
    how: str = ""
    kept: object = field(default=None, repr=False)
    unreadable: Mapping[str, int] = field(default_factory=dict)

    @property
    def separated(self) -> bool:
        """Whether a reading from end to end counts the rows too."""
        return any(text.separator for text in self.texts)


def prepare(
    connection: duckdb.DuckDBPyConnection,
    source: Files | Database | Frame,
    wanted: Mapping[str, str] | None,
    separator: str | None = None,
) -> Readable:
    """Makes the source known to the connection.

    Parameters
        wanted: the declared names, by lower case; without them every column is present, in order.
        separator: the declared character between the fields of a CSV file, if there is one.
    """
    if isinstance(source, Frame):
        from ..source.frame import convert

        table, unreadable = convert(source.data, wanted)
        if table.num_columns == 0:
            return Readable(_ARROW)
        connection.register(_ARROW, table)
        columns = _described(connection, _ARROW)
        return Readable(_ARROW, columns, kept=table, unreadable=unreadable)
    if isinstance(source, Database):
        connection.execute(f"ATTACH {literal(str(source.path))} AS {_HELD} (READ_ONLY)")
        connection.execute(f"USE {_HELD}")  # where a view looks for the tables it names
        sql = ".".join([_HELD, *map(quoted, source.table)])
        texts = tuple(TextFile(path) for path in paths_of(source) if path.exists())
        how = f"duckdb {'.'.join(source.table)}"
        return Readable(sql, _described(connection, sql), (source.path,), texts, how)
    if source.kind == "parquet":
        return _parquet(connection, source)
    for path in source.paths:
        check_size(path, zipped=source.zipped)
    if source.kind in ("json", "jsonl"):
        return _json(source, wanted or {})
    return _csv(source, wanted, separator)


def _described(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[tuple[str, Storage], ...]:
    rows = connection.execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()  # noqa: S608
    return tuple((name, storage(kind)) for name, kind, *_ in rows)


def _parquet(connection: duckdb.DuckDBPyConnection, source: Files) -> Readable:
    shared: tuple[tuple[str, Storage], ...] | None = None
    for path in source.paths:
        name = literal(str(path))
        rows = _one(connection, f"SELECT num_rows FROM parquet_file_metadata({name})")  # noqa: S608
        schema = f"SELECT name, num_children FROM parquet_schema({name})"  # noqa: S608
        names = _top_level(connection.execute(schema).fetchall())
        size = _decoded(connection, path)
        check_parquet(path, rows=rows, columns=len(names), decoded=size)
        check_once(names)
        columns = _described(connection, read_parquet([path]))
        if shared is not None and columns != shared:
            raise refuse("engine.files-differ-in-columns", name=path.name)
        shared = columns
    texts = tuple(map(TextFile, source.paths))
    return Readable(read_parquet(source.paths), shared or (), source.paths, texts, "parquet")


def _decoded(connection: duckdb.DuckDBPyConnection, path: Path) -> int:
    """The size of the decompressed file, as its footer states it."""
    import duckdb

    name = literal(str(path))
    sql = f"SELECT SUM(total_uncompressed_size) FROM parquet_metadata({name})"  # noqa: S608
    with suppress(duckdb.Error):
        return _one(connection, sql)
    # a statistic that DuckDB cannot read is about a row, and not about the size
    import pyarrow.parquet

    footer = pyarrow.parquet.read_metadata(path)
    return sum(footer.row_group(i).total_byte_size for i in range(footer.num_row_groups))


def _one(connection: duckdb.DuckDBPyConnection, sql: str) -> int:
    row = connection.execute(sql).fetchone()
    return 0 if row is None else int(row[0] or 0)


def read_parquet(paths: Iterable[Path]) -> str:
    """The SQL of the rows of Parquet files."""
    # folders called year=2020 are no columns: a path declares nothing that is not in the file
    return f"read_parquet([{listed(paths)}], hive_partitioning = false, union_by_name = false)"


def _csv(source: Files, wanted: Mapping[str, str] | None, separator: str | None) -> Readable:
    """Every field is text first, so that no row decides how another is read."""
    headers = [
        read_header(path, source.kind, zipped=source.zipped, wanted=wanted, separator=separator)
        for path in source.paths
    ]
    files: dict[Header, list[Path]] = {}
    for path, header in zip(source.paths, headers, strict=True):
        files.setdefault(header, []).append(path)
    if wanted is None:
        if len(files) > 1:
            raise refuse("engine.files-differ-in-header")
        names, sql = headers[0].names, _lines(headers[0], source.paths, source)
    else:
        names, sql = _shared(files, wanted, source)
    separators = [header.separator for header in headers]
    texts = tuple(
        TextFile(path, separator, source.zipped)
        for path, separator in zip(source.paths, separators, strict=True)
    )
    how = f"{source.kind} {''.join(separators)!r}"
    return Readable(sql, _written(names), source.paths, texts, how)


def _shared(
    files: Mapping[Header, list[Path]], wanted: Mapping[str, str], source: Files
) -> tuple[tuple[str, ...], str]:
    """The wanted columns that all files have, and the SQL of these."""
    folded = {header: [name.lower() for name in header.names] for header in files}
    shared = tuple(sorted(set.intersection(*map(set, folded.values())) & set(wanted)))
    parts = []
    for header, paths in files.items():
        names = folded[header]
        check_once([name for name in names if name in shared])
        chosen = [f"f{names.index(name)} AS {quoted(name)}" for name in shared]
        lines = _lines(header, paths, source)
        parts.append(f"SELECT {', '.join(chosen) or 'f0'} FROM {lines}")  # noqa: S608
    return shared, _union(parts)


def _lines(header: Header, paths: Iterable[Path], source: Files) -> str:
    names = [f"f{i}" for i in range(len(header.names))]
    return read_csv(names, header.separator, paths, zipped=source.zipped)


def read_csv(names: Sequence[str], separator: str, paths: Iterable[Path], *, zipped: bool) -> str:
    """The SQL of the rows of CSV files; every field is text."""
    fields = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    options = (
        f"auto_detect = false, header = true, delim = {literal(separator)}, "
        f"quote = '\"', escape = '\"', nullstr = '', columns = {{{fields}}}, "
        f"compression = '{'gzip' if zipped else 'none'}'"
    )
    return f"read_csv([{listed(paths)}], {options})"


def _json(source: Files, wanted: Mapping[str, str]) -> Readable:
    """Every value is text first. A key that an object lacks is a missing value, so every declared
    column exists; keys are spelled as declared, for objects may spell them differently."""
    groups: dict[str, list[Path]] = {}
    for path in source.paths:
        groups.setdefault(_layout(path, source), []).append(path)
    names = sorted(wanted.values())
    fields = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    parts = []
    for layout, paths in groups.items():
        options = (
            f"format = '{layout}', records = 'true', columns = {{{fields}}}, "
            f"compression = '{'gzip' if source.zipped else 'none'}'"
        )
        parts.append(f"SELECT * FROM read_json([{listed(paths)}], {options})")  # noqa: S608
    texts = tuple(TextFile(path, zipped=source.zipped) for path in source.paths)
    return Readable(_union(parts), _written(names), source.paths, texts, source.kind)


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
        raise refuse("engine.json-without-objects", name=path.name)
    return "array" if start == b"[" else "unstructured"


def _written(names: Iterable[str]) -> tuple[tuple[str, Storage], ...]:
    return tuple((name, Written()) for name in names)


def listed(paths: Iterable[Path]) -> str:
    """The SQL of these paths, separated by commas."""
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
            raise refuse("engine.duplicate-source-columns")
        seen.add(name)
