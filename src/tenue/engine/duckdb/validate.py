"""A table read from end to end before anybody asks: whatever could fail, fails here.

Files are read twice at the same time: their bytes, for a digest and for the structure of CSV, and
their rows, in the way in which every question reads them. Both must agree on how many there are.
"""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from ...errors import Refused, refuse
from ..contract import Validated
from ..source.location import names_of
from ..source.whole import read_whole
from ..sql.logical import Stored
from ..sql.rows import checks_of, unfilled
from ..storage import Text, Written
from .dialect import DUCKDB
from .reader import Readable, read_parquet
from .statistics import check_statistics

Run = Callable[[str], list[tuple[Any, ...]]]

_JSON = re.compile(
    r"(Malformed JSON|JSON transform error) in file .* in (?:line|record/value) (\d+)", re.DOTALL
)


def validate(table: Stored, readable: Readable, run: Run) -> Validated:
    """Reads every row of every declared column once; refused if one cannot be read.

    Parameters
        readable: the files behind the table, if there are any.
        run: gives the rows of a SELECT.
    """
    with ThreadPoolExecutor(1) as beside:
        bytes_read = beside.submit(read_whole, readable.texts)
        found, told = _counted(table, run)
        digest, rows = bytes_read.result()  # its refusal knows the line
    if found is None:
        raise _refusal(table, readable, run, told)
    if readable.separated and rows != found.rows:
        raise refuse("engine.ambiguous-csv", names=names_of(readable.paths))
    check_statistics(table, readable, run)
    counts = Counter(found.unreadable) + Counter(readable.unreadable)
    return replace(found, unreadable=dict(counts), digest=digest)


def _counted(table: Stored, run: Run) -> tuple[Validated | None, str]:
    import duckdb

    logical = unfilled(table)
    checks, read = checks_of(logical), []
    for held in logical.table.held.values():
        raw = logical.raw(held.column.name)
        read.append(f"strlen({raw})" if held.stored in (Text(), Written()) else raw)
    # a count or a test may be answered from a file's statistics; a hash needs every value, or the
    # length of a text, for which it is read too
    chosen = [*checks.chosen(), f"bit_xor(hash({', '.join(read)}))"]
    try:
        (row,) = run(logical.select(chosen))
    except duckdb.Error as error:
        return None, str(error)
    return checks.validated(row), ""


def _refusal(table: Stored, readable: Readable, run: Run, told: str) -> Refused:
    """What could not be read, from what DuckDB said and by reading again piece by piece."""
    names = names_of(readable.paths)
    json = _JSON.search(told)
    if json is not None:
        place = int(json[2]) - (json[1] == "Malformed JSON")
        path = next((path for path in readable.paths if f'"{path}"' in told), readable.paths[0])
        where = _object(path, place, lines=readable.how == "jsonl")
        return refuse("engine.malformed-json", where=where)
    if readable.how == "parquet":
        for text in readable.texts:
            alone = replace(table, sql=read_parquet([text.path]))
            column = _first_unread(alone, run)
            if column is not None:
                where = f"The column `{column}` of {text.path.name}"
                return refuse("engine.unreadable-declared-column", where=where)
    column = _first_unread(table, run)
    of = f" of {names}" if names else ""
    where = f"The rows{of}" if column is None else f"The column `{column}`{of}"
    return refuse("engine.unreadable-declared-column", where=where)


def _first_unread(table: Stored, run: Run) -> str | None:
    import duckdb

    for held in table.held.values():
        sql = f"SELECT bit_xor(hash({DUCKDB.quoted(held.name)})) FROM {table.sql}"  # noqa: S608
        try:
            run(sql)
        except duckdb.Error:
            return held.column.name
    return None


def _object(path: Path, place: int, *, lines: bool) -> str:
    if not lines:
        return f"Object {place} of {path.name}"
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as file:
        filled = (number for number, line in enumerate(file, 1) if line.strip())
        line = next(islice(filled, place - 1, None), place)
    return f"Line {line} of {path.name}"
