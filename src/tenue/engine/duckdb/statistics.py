"""Whether the statistics of Parquet files are true of their values.

A footer says between which ends the values of each row group lie, and how many are missing. DuckDB
believes it: a test that every such value passes is left out, a row group that no such value could
match is skipped, and groups are packed into as many bits as the ends need. So a value that its
statistics rule out would not be cut to the bounds, or be counted as another. Such a file is refused
when its holder opens it, by reading what the footer speaks of.

Doubles and identifiers are left out here: every question reads them in a way that hides their
statistics. Those of doubles know of no NaN; identifiers are slow to read, and to read them so is
not.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ...errors import refuse
from ...schema import Identifier
from ..sql.logical import Held, Stored
from ..storage import Day, Fixed, Integer, Moment, Truth
from .dialect import DUCKDB
from .reader import Readable

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
