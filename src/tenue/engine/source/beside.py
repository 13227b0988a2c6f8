"""Where the ledger of a table lies: beside the files that hold its rows.

`census.csv`, `census.csv.gz`, `census.parquet` and `duckdb://census.duckdb` all have
`census.ledger` beside them, so that the same table in another format has the same ledger. A folder
or pattern that finds one file has the ledger of that file. A folder of several files has one beside
the folder, where whoever writes the folder anew leaves it alone; a pattern has one in the folder
that it looks through; and a ledger that lies beside any of the files counts too. Links are followed
first.
"""

from __future__ import annotations

import glob
import os
from contextlib import suppress
from pathlib import Path

from ...errors import InvalidTable
from ...schema import Schema
from .location import Database, Files, locate

ENDING = ".ledger"


def ledger_places(source: object, schema: Schema) -> tuple[Path, ...]:
    """Where a ledger may lie, the usual place first; nothing for a table in no file.

    Refused if the source is a file that is not there. Where another source is given than the one
    that the schema names, a ledger that lies beside the latter counts too: it is the same table to
    the schema, and a data frame or a copy of a file starts no new budget.

    Parameters
        source: what was given for the table; None for the schema's own source.
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
    elif not given.exists():
        several = _of_folder(_searched(given).resolve())[::-1]
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


def _searched(pattern: Path) -> Path:
    """The folder below which a pattern finds its files."""
    above = [folder for folder in pattern.parents if not glob.has_magic(str(folder))]
    return above[0]
