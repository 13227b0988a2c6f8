"""All rows of a table, for those who publish it: as whole numbers, and how they were stored.

Only the holder calls this. A question never does: it gets measures (`duckdb.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InvalidTable
from ...schema import Bounded, Column, Date, Identifier, Named, Number, Table
from ..source.location import locate
from ..sql.logical import Logical, Stored
from ..storage import Day, Floating, Moment, Written
from .dialect import DUCKDB
from .engine import DuckDB

if TYPE_CHECKING:
    import pyarrow


_DAY, _MICRO = 24 * 60 * 60, 10**6
_BROKEN = {
    "not utf-8 encoded": "has bytes that are not UTF-8",
    "unterminated quote": "opens a quote that is never closed",
    "Expected Number of Columns": "has too many or too few values",
}
_LENIENT, _STRICT = "ignore_errors = true", "ignore_errors = false"


@dataclass(frozen=True, eq=False)
class Rows:
    """What a table holds, row by row.

    logical: for each declared column that is stored and is no identifier, its grid steps (as
        `steps.py` counts them), category number or boolean; null where the value is missing. What
        the schema declares for missing values is not filled in.
    identifiers: the stored values of columns of type identifier.
    types: how the source stores each column; None where it is text without a type (CSV, JSON).
    unreadable: how many values of a column are there and are not what the schema declares.
    infinite: how many values of a column are infinite.
    beyond: how many values of a column lie beyond its bounds, and count as the bound.
    first: the number of the first row, from 1, in which a column is unreadable or infinite.
    """

    logical: pyarrow.Table
    identifiers: pyarrow.Table
    types: Mapping[str, Any]
    unreadable: Mapping[str, int]
    infinite: Mapping[str, int]
    beyond: Mapping[str, int]
    first: Mapping[str, int]


def read_rows(source: object, schema: Table, folder: Path | None = None) -> Rows:
    """Every row of the table; refused if the source is not the table that the schema describes.

    Numbers are rounded to the grid and clamped to the bounds exactly as they are for questions. A
    file with a line that is not a row is refused, where a question would skip that line.
    """
    reader = _Reader(locate(source, schema.name, folder), schema)
    try:
        return reader.read()
    finally:
        reader.close()


class _Reader(DuckDB):
    """The same opened table, read whole."""

    def read(self) -> Rows:
        stored = self._table.held
        columns = {name: held.column for name, held in stored.items()}
        bare = {name: replace(column, missing=None) for name, column in columns.items()}
        held = {name: replace(stored[name], column=bare[name]) for name in bare}
        source = self._table.sql.replace(_LENIENT, _STRICT)
        table = Logical(Stored(source, held, Named((c.name, c) for c in bare.values()), DUCKDB))
        chosen, doubts = [], []
        for column in bare.values():
            raw = table.raw(column.name)
            if isinstance(column, Identifier):
                chosen.append(f"{raw} AS {DUCKDB.quoted(column.name)}")
                continue
            value = table.value(column.name)
            doubts.append((*self._doubts(column, raw, value), _beyond(column, raw)))
            made = f"CAST({value} AS BIGINT)"
            chosen.append(f"{made} AS {DUCKDB.quoted(column.name)}")
        inside = table.write()
        everything = self._arrow(f"SELECT {', '.join(chosen)} FROM ({inside})")  # noqa: S608
        counted = [f"count_if({test})" for tests in doubts for test in tests]
        found = [0] * len(counted)
        if counted:
            sql = f"SELECT {', '.join(counted)} FROM ({inside})"  # noqa: S608
            found = [int(column[0].as_py() or 0) for column in self._arrow(sql).columns]
        names = [column.name for column in bare.values() if not isinstance(column, Identifier)]
        wrong = {
            name: f"{tests[0]} OR {tests[1]}"
            for i, (name, tests) in enumerate(zip(names, doubts, strict=True))
            if found[3 * i] or found[3 * i + 1]
        }
        hidden = [column.name for column in bare.values() if isinstance(column, Identifier)]
        return Rows(
            logical=everything.select(names),
            identifiers=everything.select(hidden),
            types=self._types(source, held),
            unreadable=dict(zip(names, found[::3], strict=True)),
            infinite=dict(zip(names, found[1::3], strict=True)),
            beyond=dict(zip(names, found[2::3], strict=True)),
            first={name: self._first(test, inside) for name, test in wrong.items()},
        )

    def _first(self, test: str, inside: str) -> int:
        """The number of the first row for which the test is true."""
        numbered = f"SELECT *, row_number() OVER () AS place FROM ({inside})"  # noqa: S608
        sql = f"SELECT min(place) FROM ({numbered}) WHERE {test}"  # noqa: S608
        return int(self._arrow(sql).column(0)[0].as_py())

    def _doubts(self, column: Column, raw: str, value: str) -> tuple[str, str]:
        """Conditions: a value that is there and not understood; an infinite one."""
        stored = self._table.held[column.name.lower()].stored
        there = f"{raw} IS NOT NULL AND {value} IS NULL"
        if isinstance(column, Number) and isinstance(stored, Written | Floating):
            number = f"TRY_CAST({raw} AS DOUBLE)"
            nan = f"COALESCE(isnan({number}), FALSE)"
            return f"{there} AND NOT {nan}", f"COALESCE(isinf({number}), FALSE)"
        if isinstance(column, Bounded) and isinstance(stored, Day | Moment):
            return there, f"COALESCE(isinf({raw}), FALSE)"
        return there, "FALSE"

    def _types(self, source: str, held: Mapping[str, Any]) -> dict[str, Any]:
        chosen = ", ".join(
            f"{DUCKDB.quoted(h.name)} AS {DUCKDB.quoted(h.column.name)}" for h in held.values()
        )
        fields = self._arrow(f"SELECT {chosen} FROM {source} LIMIT 0").schema  # noqa: S608
        return {
            h.column.name: None if h.stored == Written() else fields.field(h.column.name).type
            for h in held.values()
        }

    def _arrow(self, sql: str) -> Any:
        import duckdb

        with self._lock:
            try:
                return None if self._store is None else self._store.arrow(sql)
            except duckdb.Error as error:
                told = broken_line(str(error))
        # raised out of reach of the error above, which quotes a value
        raise InvalidTable(
            told or "The rows of the source could not be read",
            "Every line has as many values as the first line has names, and the file is whole",
            "Mend the file, or save the table again as Parquet or CSV",
        )


def broken_line(message: str) -> str | None:
    """Which line of a CSV file is no row, and why, from DuckDB's message; never what stands there.

    Example
        >>> broken_line("CSV Error on Line: 3: secret. Expected Number of Columns: 2")
        'Line 3 has too many or too few values'
    """
    line = re.search(r"CSV Error on Line: ([0-9]+)", message)
    why = next((words for sign, words in _BROKEN.items() if sign in message), None)
    return None if line is None or why is None else f"Line {line[1]} {why}"


def _beyond(column: Column, raw: str) -> str:
    """Condition: a value that lies beyond the bounds of its column."""
    if not isinstance(column, Bounded):
        return "FALSE"
    if isinstance(column, Number):
        value, unit = f"TRY_CAST({raw} AS DOUBLE)", 1
    else:
        day = _DAY if isinstance(column, Date) else 1
        value, unit = f"TRY(epoch_us(TRY_CAST({raw} AS TIMESTAMP)))", day * _MICRO
    low, high = float(column.low * unit), float(column.high * unit)
    if isinstance(column, Date):
        high += unit - 1  # any time of the last day
    outside = f"{value} < {low!r}::DOUBLE OR {value} > {high!r}::DOUBLE"
    # NaN is greater than any number
    return f"COALESCE(({outside}) AND NOT isnan(CAST({value} AS DOUBLE)), FALSE)"
