"""A table is read from end to end before anybody asks, so that every possible failure occurs here.

The statistics in a Parquet footer state the least and the greatest value of each row group, and how
many are missing. DuckDB trusts them: a test that all such values pass is left out, a row group that
no such value could match is skipped, and groups are packed into as few bits as the ends need. So a
value that its statistics rule out would not be clamped to the bounds, or be counted as another.
Such a file is refused when its holder opens it, by comparing the footer with the values.

Doubles and identifiers are left out here: every question reads them in a way that hides their
statistics. Those of doubles know no NaN; reading identifiers is slow, and hiding their statistics
is not.

Files are read twice at the same time: their bytes, for a digest and for the structure of CSV, and
their rows, in the way in which every question reads them. Both must give the same number of rows.
"""

from __future__ import annotations

import bisect
import gzip
import itertools
import re
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
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
"""Row groups of a file are checked one by one if at most this many blocks, as long as the smallest
of them, cover the file; in other files their statistics are combined."""

_JSON = re.compile(
    r"(Malformed JSON|JSON transform error) in file .* in (?:line|record/value) (\d+)", re.DOTALL
)
_NUMBER = "file_row_number"
literal, quoted = DUCKDB.literal, DUCKDB.quoted


def check_statistics(table: Stored, readable: Readable, run: Run) -> None:
    """Refuses a Parquet file, by name and column, with a value that its statistics rule out."""
    import duckdb

    if readable.how != "parquet":
        return
    kinds = [(held, _kind(held)) for held in table.held.values()]
    believed = [(held, kind) for held, kind in kinds if kind is not None]
    numbered = all(name.lower() != _NUMBER for name, _ in readable.columns)
    for path in readable.paths if believed else ():
        try:
            group = _row_group(path, run) if numbered else None
            wrong = [name for (name,) in run(_comparison(path, believed, group))]
        except duckdb.Error:  # it cannot write the statistics of some column, declared or not
            wrong = _by_arrow(path, [held for held, _ in believed])
        # raised out of reach of the error above, which may quote a row
        if wrong:
            raise refuse("engine.false-parquet-statistics", column=wrong[0], name=path.name)


def _by_arrow(path: Path, columns: Sequence[Held]) -> list[str]:
    """The columns with a value that their statistics rule out, as Arrow reads both."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    wrong = []
    with pq.ParquetFile(path) as file:
        numbers = {file.schema.column(i).path: i for i in range(len(file.schema))}
        for group, held in itertools.product(range(file.num_row_groups), columns):
            stated = file.metadata.row_group(group).column(numbers[held.name]).statistics
            if stated is None:
                continue
            values = file.read_row_group(group, columns=[held.name]).column(0)
            time = isinstance(held.stored, Day | Moment)
            if time:
                values = values.cast(pa.int32() if values.type == pa.date32() else pa.int64())
            actual = pc.min_max(values).as_py()
            low, high = (stated.min_raw, stated.max_raw) if time else (stated.min, stated.max)
            gap = stated.has_null_count and stated.null_count == 0 and values.null_count > 0
            bounded = stated.has_min_max and actual["min"] is not None
            if gap or (bounded and (actual["min"] < low or actual["max"] > high)):
                wrong.append(held.column.name)
    return wrong


def _kind(held: Held) -> str | None:
    """The SQL type of a column whose statistics DuckDB uses; None of others."""
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

    In a block as long as the smallest row group, except the last one, at most one row group begins.
    So it is the row group in which the block begins, or the next one.
    """
    sql = "SELECT row_group_id, any_value(row_group_num_rows) AS many "
    sql += f"FROM parquet_metadata({literal(str(path))}) GROUP BY 1 HAVING many > 0 ORDER BY 1"
    groups = run(sql)
    if len(groups) < 2:
        return str(groups[0][0]) if groups else None
    numbers, sizes = zip(*groups, strict=True)
    block, rows = min(sizes[:-1]), sum(sizes)
    if block == max(sizes) and numbers == tuple(range(len(numbers))):
        return f"{_NUMBER} // {block}"
    if -(-rows // block) > MOST_BLOCKS:
        return None
    ends = list(itertools.accumulate(sizes))
    first = [bisect.bisect_right(ends, begin) for begin in range(0, rows, block)]
    border, own, following = (
        f"[{', '.join(map(str, listed))}][{_NUMBER} // {block} + 1]"
        for listed in (
            [ends[i] for i in first],
            [numbers[i] for i in first],
            [numbers[min(i + 1, len(numbers) - 1)] for i in first],
        )
    )
    return f"CASE WHEN {_NUMBER} < {border} THEN {own} ELSE {following} END"


def _comparison(path: Path, columns: Sequence[tuple[Held, str]], group: str | None) -> str:
    """The SELECT of the columns with a value that their statistics rule out."""
    made, tests = [], []
    for place, (held, kind) in enumerate(columns):
        stored = DUCKDB.hidden(quoted(held.name))
        ends = f"min({stored}) AS low{place}, max({stored}) AS high{place}"
        made.append(f"{ends}, count({stored}) AS there{place}")
        tests.append(
            f"SELECT {literal(held.column.name)} FROM seen "  # noqa: S608
            f"JOIN ({_stated(path, held.name, kind, group)}) AS said ON seen.g = said.g "
            f"WHERE low{place} < said.low OR high{place} > said.high "
            f"OR (said.gone = 0 AND there{place} < many)"
        )
    numbered = "" if group is None else f", {_NUMBER} = true"
    source = f"read_parquet({literal(str(path))}, hive_partitioning = false{numbered})"
    chosen = f"{group or 0} AS g, count(*) AS many, {', '.join(made)}"
    seen = f"SELECT {chosen} FROM {source} GROUP BY 1"  # noqa: S608
    return f"WITH seen AS MATERIALIZED ({seen}) {' UNION ALL '.join(tests)} LIMIT 1"


def _stated(path: Path, name: str, kind: str, group: str | None) -> str:
    """The SELECT of the footer's statistics of a column: by row group, or of all of them together.

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


def validate(table: Stored, readable: Readable, run: Run, unit: str | None = None) -> Validated:
    """Reads every row of every declared column once; refused if one cannot be read.

    `readable` has the files behind the table, if there are any; `unit` is as in `checks_of`.
    """
    with ThreadPoolExecutor(1) as beside:
        bytes_read = beside.submit(read_whole, readable.texts)
        facts, error = _counted(table, run, unit)
        digest, rows = bytes_read.result()  # its refusal knows the line
    if facts is None:
        raise _refusal(table, readable, run, error)
    if readable.separated and rows != facts.rows:
        raise refuse("engine.ambiguous-csv", names=names_of(readable.paths))
    check_statistics(table, readable, run)
    counts = Counter(facts.unreadable) + Counter(readable.unreadable)
    return replace(facts, unreadable=dict(counts), digest=digest)


def _counted(table: Stored, run: Run, unit: str | None) -> tuple[Validated | None, str]:
    import duckdb

    logical = unfilled(table)
    checks, read = checks_of(logical, unit), []
    for held in logical.table.held.values():
        raw = logical.raw(held.column.name)
        read.append(f"strlen({raw})" if held.stored in (Text(), Written()) else raw)
    # DuckDB may answer a count or a test from a file's statistics; a hash needs every value, or the
    # length of every text, for which the text is read too
    chosen = [*checks.chosen(), f"bit_xor(hash({', '.join(read)}))"]
    try:
        (row,) = run(logical.select(chosen))
    except duckdb.Error as error:
        return None, str(error)
    return checks.validated(row), ""


def _refusal(table: Stored, readable: Readable, run: Run, error: str) -> Refused:
    """The refusal of unreadable rows, from DuckDB's error or by reading again, column by column."""
    names = names_of(readable.paths)
    json = _JSON.search(error)
    if json is not None:
        number = int(json[2]) - (json[1] == "Malformed JSON")
        path = next((path for path in readable.paths if f'"{path}"' in error), readable.paths[0])
        where = _object(path, number, lines=readable.how == "jsonl")
        return refuse("engine.malformed-json", where=where)
    parts = [(table, names)]
    if readable.how == "parquet":
        alone = [(replace(table, sql=read_parquet([path])), path.name) for path in readable.paths]
        parts = [*alone, *parts]
    what = "rows"
    for part, name in parts:
        column = _first_unread(part, run)
        if column is not None:
            what, names = f"column `{column}`", name
            break
    where = f"The {what} of {names}" if names else f"The {what}"
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


def _object(path: Path, number: int, *, lines: bool) -> str:
    if not lines:
        return f"Object {number} of {path.name}"
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as file:
        filled = (i for i, line in enumerate(file, 1) if line.strip())
        line = next(itertools.islice(filled, number - 1, None), number)
    return f"Line {line} of {path.name}"
