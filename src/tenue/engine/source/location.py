"""The sources that a holder may give as the table, and where its ledger lies.

Nothing here reads a row. A message names a file by its last part only, and never repeats an
address, which may contain a password.

`census.csv`, `census.csv.gz`, `census.parquet` and `duckdb://census.duckdb` all have
`census.ledger` beside them, so that the same table in another format has the same ledger. A folder
or pattern that finds one file has the ledger of that file. A folder of several files has one beside
the folder, where it survives when the folder is written anew; a pattern has one in the folder that
it searches; and a ledger that lies beside any of the files counts too. Links are followed first.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

from ...errors import InvalidTable, refuse
from ...schema import Schema
from ...schema.address import is_address, without_password
from ..registry import backends
from .file_check import MOST_FILES

Kind = Literal["csv", "tsv", "parquet", "json", "jsonl"]

_KINDS: dict[str, Kind] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_SPARK = ("spark://", "sc://")
_HERE = "spark://local"


@dataclass(frozen=True)
class Files:
    """Files of one kind; `paths` are whole and sorted."""

    kind: Kind
    paths: tuple[Path, ...]
    zipped: bool = False


@dataclass(frozen=True)
class Database:
    """A table or view in a DuckDB file; `table` begins with its schema's name, if that is given."""

    path: Path
    table: tuple[str, ...]


@dataclass(frozen=True)
class Frame:
    """A data frame, or any object that provides Arrow data."""

    data: Any


@dataclass(frozen=True)
class Relation:
    """A relation of the holder's own DuckDB connection, in which questions then run."""

    relation: Any


@dataclass(frozen=True)
class Server:
    """A table or view in a PostgreSQL database.

    address: as libpq reads it; there is no password in it.
    table: begins with its schema's name, if that is given.
    """

    address: str
    table: tuple[str, ...]


@dataclass(frozen=True)
class Cluster:
    """A table of Spark that is reached by an address.

    address: spark://host:7077 for a cluster of its own, sc://host:15002 for Spark Connect,
        spark://local for the processors of this machine.
    table: begins with its database's name, if that is given; empty for files.
    path: the path of its Parquet files, if it is no table.
    files: those files, if they are on this machine.
    """

    address: str
    table: tuple[str, ...]
    path: str = ""
    files: tuple[Path, ...] = ()

    @property
    def is_here(self) -> bool:
        """Whether Spark runs in a process of this machine."""
        return self.address == _HERE


@dataclass(frozen=True)
class Distributed:
    """A data frame of Spark, in whose session questions then run."""

    frame: Any


Local = Files | Database | Frame | Relation
"""What DuckDB reads."""
InSpark = Cluster | Distributed
"""What Spark reads."""
Source = Local | Server | InSpark


def locate(source: object, name: str, folder: Path | None = None) -> Source:
    """The source that was given; refused if it is none.

    Parameters
        source: a path, an address, a data frame, a connection or a relation.
        name: the table's name in a connection or database, unless the address gives another.
        folder: where a relative path starts; None for the working folder.
    """
    for backend in backends():
        known: Source | None = backend.locate(source, name, folder)
        if known is not None:
            return known
    if isinstance(source, str | os.PathLike):
        return _address(os.fspath(source), name, folder or Path())
    given: Any = source
    module, kind = type(source).__module__, type(source).__name__
    if module.split(".")[0] in ("duckdb", "_duckdb"):
        if kind == "DuckDBPyRelation":
            return Relation(source)
        if kind == "DuckDBPyConnection":
            with suppress(Exception):
                return Relation(given.table(f'"{name}"'))
        raise refuse("engine.connection-lacks-table", name=name)
    if module.startswith("pyspark.sql."):
        if kind == "DataFrame":
            return Distributed(source)
        if kind == "SparkSession":
            with suppress(Exception):
                return Distributed(given.table("`" + name.replace("`", "``") + "`"))
        raise refuse("engine.session-lacks-table", name=name)
    if source is None:
        raise refuse("engine.table-without-source", name=name)
    return Frame(source)


def paths_of(source: Source) -> tuple[Path, ...]:
    """The files that hold the table; none if it lives in a server or in this process."""
    if isinstance(source, Files):
        return source.paths
    if isinstance(source, Database):
        # the latest changes may not be in the file itself yet
        return source.path, source.path.with_name(f"{source.path.name}.wal")
    if isinstance(source, Cluster):
        return source.files
    return ()


def names_of(paths: Sequence[Path]) -> str:
    """The files in words, each by the last part of its name."""
    first = paths[0].name if paths else ""
    return first if len(paths) < 2 else f"{first} and {len(paths) - 1} more"


def _address(text: str | bytes, name: str, folder: Path) -> Source:
    if not isinstance(text, str) or "\0" in text or not text.strip():
        raise refuse("engine.source-not-a-file")
    scheme = _SCHEME.match(text)
    if scheme is None:
        return _files(text, folder)
    if scheme[0].lower() == "duckdb://":
        file, _, table = text[scheme.end() :].partition("#")
        return Database(_existing(file, folder), tuple((table or name).split(".", 1)))
    if is_address(text):
        server, _, table = text.partition("#")
        return Server(without_password(server), tuple((unquote(table) or name).split(".", 1)))
    if scheme[0].lower() in _SPARK:
        return _cluster(text, name, folder)
    raise refuse("engine.network-source")


def _existing(text: str, folder: Path) -> Path:
    path = folder / text
    try:
        if path.is_file():
            return path.resolve()
        found = "is a folder" if path.is_dir() else "does not exist"
    except (OSError, ValueError):
        found = "cannot be looked at"
    fix = "Correct the path; a relative one starts at the schema's folder"
    raise refuse("engine.unsuitable-source", name=path.name, found=found, advice=fix)


def _files(text: str, folder: Path) -> Files:
    paths = [folder / text]
    if glob.has_magic(text) and not paths[0].exists():
        paths = [Path(found) for found in glob.iglob(str(folder / text), recursive=True)]
        paths = _once(path.resolve() for path in paths if path.is_file() and not _of_ledger(path))
        if not paths:
            raise refuse("engine.no-matching-file", name=Path(text).name)
    elif paths[0].is_dir():
        paths = _inside(paths[0])
    else:
        paths = [_existing(text, folder)]
    if len(paths) > MOST_FILES:
        many, name = len(paths), Path(text).name
        raise refuse("engine.too-many-files", name=name, many=many, most_files=MOST_FILES)
    kinds = {_kind(path) for path in paths}
    if len(kinds) > 1:
        raise refuse("engine.mixed-file-kinds", name=Path(text).name)
    ((kind, zipped),) = kinds
    return Files(kind, tuple(paths), zipped)


def _of_ledger(path: Path) -> bool:
    """Whether it is a ledger or a part of one, which may lie among the files of a pattern."""
    return path.suffix.startswith(".ledger") or path.parent.name.endswith(".ledger-owners")


def _inside(folder: Path) -> list[Path]:
    """The Parquet files in a folder and its subfolders, without hidden files and metadata."""
    found = _once(
        path.resolve()
        for path in folder.rglob("*")
        if path.suffix.lower() in (".parquet", ".pq")
        and path.is_file()
        and not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    )
    if not found:
        raise refuse("engine.folder-without-parquet", name=folder.name)
    return found


def _once(paths: Iterable[Path]) -> list[Path]:
    """In order; a file of several names occurs once, so that each row counts once."""
    first: dict[tuple[int, int], Path] = {}
    for path in sorted(paths):
        entry = path.stat()
        first.setdefault((entry.st_dev, entry.st_ino), path)
    return list(first.values())


def _kind(path: Path) -> tuple[Kind, bool]:
    name = path.name.lower()
    zipped = name.endswith(".gz")
    kind = _KINDS.get(Path(name.removesuffix(".gz")).suffix)
    if kind is None or (zipped and kind == "parquet"):
        fix = "Save the table as Parquet or CSV"
        if Path(name).suffix in (".duckdb", ".db", ".ddb"):
            fix = f"Write duckdb://{path.name}#table, with the table's name"
        raise refuse("engine.unknown-file-kind", name=path.name, advice=fix)
    return kind, zipped


def _cluster(text: str, name: str, folder: Path) -> Cluster:
    """A table of Spark, or Parquet files, whose path has a slash, or ends like theirs."""
    address, _, fragment = text.partition("#")
    scheme, _, host = address.partition("://")
    if "@" in host or ";" in host:  # where Spark Connect expects a token
        raise refuse("engine.secret-in-spark-address")
    address = f"{scheme.lower()}://{host.rstrip('/')}"
    wanted = unquote(fragment)
    if address == _HERE:
        found = _files(wanted, folder) if wanted else None
        if found is None or found.kind != "parquet":
            raise refuse("engine.local-spark-needs-parquet")
        return Cluster(address, (), str((folder / wanted).resolve()), found.paths)
    if "/" in wanted or wanted.endswith((".parquet", ".pq")):
        return Cluster(address, (), wanted)
    return Cluster(address, tuple((wanted or name).split(".")))


# -- Where the ledger of a table lies: beside the files that hold its rows -------------------------

ENDING = ".ledger"


def ledger_places(source: object, schema: Schema) -> tuple[Path, ...]:
    """Where a ledger may lie, the usual place first; nowhere for a table that is in no file.

    Refused if the source is a file that does not exist. Where the given source differs from the
    schema's, a ledger beside the latter counts too: it is the same table to the schema, and a data
    frame or a copy of a file starts no new budget.

    Parameters
        source: the source that was given; None for the schema's own.
    """
    given = schema.location if source is None else source
    if given is None:
        return ()
    found = _places(given, schema.name)
    if source is not None and schema.location is not None:
        with suppress(InvalidTable):
            found += _places(schema.location, schema.name)
    return tuple(dict.fromkeys(found))


def _places(source: object, name: str) -> tuple[Path, ...]:
    found = locate(source, name)
    if isinstance(found, Database):
        return (_named(found.path),)
    if not isinstance(found, Files) or not isinstance(source, str | os.PathLike):
        return ()
    given = Path(os.fspath(source))
    single = tuple(map(_named, found.paths))
    if given.is_dir():
        several = _of_folder(given.resolve())
    elif not given.exists():  # a pattern
        searched = next(path for path in given.parents if not glob.has_magic(str(path)))
        several = _of_folder(searched.resolve())[::-1]
    else:
        return single
    return single + several if len(single) == 1 else several + single


def _named(file: Path) -> Path:
    plain = file.with_suffix("") if file.suffix.lower() == ".gz" else file
    return plain.with_suffix(ENDING)


def _of_folder(folder: Path) -> tuple[Path, ...]:
    """Beside a folder, and in it."""
    name = folder.name + ENDING
    return folder.parent / name, folder / name
