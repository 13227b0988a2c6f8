"""A table read from end to end before anybody asks: whatever could fail, fails here.

A footer says between which ends the values of each row group lie, and how many are missing. DuckDB
believes it: a test that every such value passes is left out, a row group that no such value could
match is skipped, and groups are packed into as many bits as the ends need. So a value that its
statistics rule out would not be cut to the bounds, or be counted as another. Such a file is refused
when its holder opens it, by reading what the footer speaks of.

Doubles and identifiers are left out here: every question reads them in a way that hides their
statistics. Those of doubles know of no NaN; identifiers are slow to read, and to read them so is
not.

Files are read twice at the same time: their bytes, for a digest and for the structure of CSV, and
their rows, in the way in which every question reads them. Both must agree on how many there are.
"""

from __future__ import annotations

import gzip
import itertools
import re
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from ...errors import Refused, refuse
from ...schema import Identifier
from ..contract import Validated
from ..source.file_check import read_whole
from ..source.location import names_of
from ..sql.logical_table import Held, Stored
from ..sql.row_checks import checks_of, unfilled
from ..storage import Day, Fixed, Integer, Moment, Text, Truth, Written
from .dialect import DUCKDB
from .sources import Readable, read_parquet

Run = Callable[[str], list[tuple[Any, ...]]]

MOST_BLOCKS = 100_000
"""Row groups of a file are looked at one by one if so many blocks of the smallest one cover it; in
other files their statistics are put together."""

_NUMBER = "file_row_number"
literal, quoted = DUCKDB.literal, DUCKDB.quoted


def check_statistics(table: Stored, readable: Readable, run: Run) -> None:
    """Refuses a Parquet file, by name and column, that holds a value its statistics rule out."""
    import duckdb

    if readable.how != "parquet":
        return
    kinds = [(held, _kind(held)) for held in table.held.values()]
    looked_at = [(held, kind) for held, kind in kinds if kind is not None]
    numbered = all(name.lower() != _NUMBER for name, _ in readable.columns)
    for path in readable.paths if looked_at else ():
        try:
            group = _row_group(path, run) if numbered else None
            found = [name for (name,) in run(_written(path, looked_at, group))]
        except duckdb.Error:  # of some column, declared or not, it cannot write the statistics
            found = _by_arrow(path, [held for held, _ in looked_at])
        # raised out of reach of the error above, which may quote a row
        for column in found:
            raise refuse("engine.false-parquet-statistics", column=column, name=path.name)


def _by_arrow(path: Path, columns: Sequence[Held]) -> list[str]:
    """The columns that hold a value which their statistics rule out, as Arrow reads both."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    found = []
    with pq.ParquetFile(path) as file:
        places = {file.schema.column(i).path: i for i in range(len(file.schema))}
        for group, held in itertools.product(range(file.num_row_groups), columns):
            said = file.metadata.row_group(group).column(places[held.name]).statistics
            if said is None:
                continue
            values = file.read_row_group(group, columns=[held.name]).column(0)
            time = isinstance(held.stored, Day | Moment)
            if time:
                values = values.cast(pa.int32() if values.type == pa.date32() else pa.int64())
            there = pc.min_max(values).as_py()
            ends = (said.min_raw, said.max_raw) if time else (said.min, said.max)
            gap = said.has_null_count and said.null_count == 0 and values.null_count > 0
            stated = said.has_min_max and there["min"] is not None
            if gap or (stated and (there["min"] < ends[0] or there["max"] > ends[1])):
                found.append(held.column.name)
    return found


def _kind(held: Held) -> str | None:
    """The SQL type of a column whose statistics are believed; None of others."""
    stored = held.stored
    if isinstance(held.column, Identifier):
        return None
    if isinstance(stored, Integer | Moment):
        return stored.type
    if isinstance(stored, Fixed):
        return f"DECIMAL({stored.width}, {stored.scale})"
    if isinstance(stored, Truth):
        return "BOOLEAN"
    return "DATE" if isinstance(stored, Day) else None


def _row_group(path: Path, run: Run) -> str | None:
    """The SQL of the number of a row's row group; None if that would take too long.

    In a block as long as the smallest row group, the last one aside, at most one row group begins.
    So it is the row group in which the block begins, or the next one.
    """
    sql = "SELECT row_group_id, any_value(row_group_num_rows) AS many "
    sql += f"FROM parquet_metadata({literal(str(path))}) GROUP BY 1 HAVING many > 0 ORDER BY 1"
    found = run(sql)
    if len(found) < 2:
        return str(found[0][0]) if found else None
    numbers, sizes = zip(*found, strict=True)
    block, rows = min(sizes[:-1]), sum(sizes)
    if block == max(sizes) and numbers == tuple(range(len(numbers))):
        return f"{_NUMBER} // {block}"
    if -(-rows // block) > MOST_BLOCKS:
        return None
    ends = [sum(sizes[: place + 1]) for place in range(len(sizes))]
    places, place = [], 0
    for begin in range(0, rows, block):
        while ends[place] <= begin:
            place += 1
        places.append(place)
    following = [numbers[min(place + 1, len(numbers) - 1)] for place in places]
    at = f"[{_NUMBER} // {block} + 1]"
    return (
        f"CASE WHEN {_NUMBER} < {_list(ends[place] for place in places)}{at} "
        f"THEN {_list(numbers[place] for place in places)}{at} ELSE {_list(following)}{at} END"
    )


def _list(numbers: Any) -> str:
    return f"[{', '.join(map(str, numbers))}]"


def _written(path: Path, columns: Sequence[tuple[Held, str]], group: str | None) -> str:
    """The SELECT of the columns that hold a value which their statistics rule out."""
    made, tests = [], []
    for place, (held, kind) in enumerate(columns):
        stored = DUCKDB.hidden(quoted(held.name))
        ends = f"min({stored}) AS low{place}, max({stored}) AS high{place}"
        made.append(f"{ends}, count({stored}) AS there{place}")
        tests.append(
            f"SELECT {literal(held.column.name)} FROM seen "  # noqa: S608
            f"JOIN ({_said(path, held.name, kind, group)}) AS said ON seen.g = said.g "
            f"WHERE low{place} < said.low OR high{place} > said.high "
            f"OR (said.gone = 0 AND there{place} < many)"
        )
    numbered = "" if group is None else f", {_NUMBER} = true"
    source = f"read_parquet({literal(str(path))}, hive_partitioning = false{numbered})"
    chosen = f"{group or 0} AS g, count(*) AS many, {', '.join(made)}"
    seen = f"SELECT {chosen} FROM {source} GROUP BY 1"  # noqa: S608
    return f"WITH seen AS MATERIALIZED ({seen}) {' UNION ALL '.join(tests)} LIMIT 1"


def _said(path: Path, name: str, kind: str, group: str | None) -> str:
    """The SELECT of what the footer says of a column: by row group, or of all of them together.

    An end is NULL, and rules nothing out, where a row group does not state it.
    """
    ends = []
    for word, of in (("low", "min"), ("high", "max")):
        end = f"TRY_CAST(COALESCE(stats_{of}_value, stats_{of}) AS {kind})"
        ends.append(f"CASE WHEN count({end}) = count(*) THEN {of}({end}) END AS {word}")
    key = "0" if group is None else "row_group_id"
    source = f"parquet_metadata({literal(str(path))}) WHERE path_in_schema = {literal(name)}"
    chosen = f"{key} AS g, {', '.join(ends)}, sum(stats_null_count) AS gone"
    return f"SELECT {chosen} FROM {source} GROUP BY 1"  # noqa: S608


# -- A table read from end to end before anybody asks: whatever could fail, fails here -------------

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
