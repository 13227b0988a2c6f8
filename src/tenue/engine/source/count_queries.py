"""Statements that count the values of a table where its rows are, so that no row leaves.

Values are compared as by a reader of the whole table: text byte by byte, the two zeros of floating
point by their sign; all NaN are equal, and so are all NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..contract import Numbers
from ..sql.dialect import Dialect
from ..storage import Floating, Nothing, Opaque, Storage

if TYPE_CHECKING:
    import pyarrow

BATCH = 1 << 16
"""The most counts that are handed over together."""


@dataclass(frozen=True)
class Cell:
    """One column: its name in statements, and how it is stored."""

    sql: str
    stored: Storage

    @property
    def floating(self) -> bool:
        """Whether an engine does not distinguish its two zeros."""
        return isinstance(self.stored, Floating)


class Taken:
    """How much of a table that is counted elsewhere has reached this process.

    counts: how many group sizes, each with the values of its group, if any.
    rows: how many rows of a sample.
    columns: the columns that were read in full.
    """

    def __init__(self) -> None:
        self.counts, self.rows, self.columns = 0, 0, list[str]()


class Tally:
    """A table whose values are counted where its rows are.

    Guarantee
        One entry is handed over for each combination of values, however many rows have it, except
        by `some` and `load`. Values are equal where a reader of the whole table would find them
        equal.

    engine: the name of the engine that counts; `dialect`, its SQL.
    table: the table, as it stands after FROM.
    cells: the columns, by the names that the table gives them.
    run: gives the rows of a SELECT in batches; refused in words of our own if it fails.
    """

    def __init__(
        self,
        engine: str,
        dialect: Dialect,
        table: str,
        cells: Mapping[str, Cell],
        run: Callable[[str], Iterator[pyarrow.RecordBatch]],
    ) -> None:
        self.engine, self.names, self.taken = engine, tuple(cells), Taken()
        self._dialect, self._table, self._cells, self._run = dialect, table, cells, run

    def can_tell(self, name: str) -> bool:
        """Whether the engine can compare values of the column."""
        return not isinstance(self._cells[name].stored, Opaque | Nothing)

    def tally(self, names: Sequence[str]) -> Iterator[pyarrow.Table]:
        """Each combination of values of these columns once; the last column counts its rows.

        In batches; combinations that agree in the first columns follow one another, and every call
        with the same first columns gives these in the same order.
        """
        keys = ", ".join(self._keys(names))
        sql = f"SELECT {keys}, COUNT(*) AS n FROM {self._values(names)} "  # noqa: S608
        for batch in self._counts(f"{sql}GROUP BY {keys} ORDER BY {keys}"):
            yield self._read(names, batch)

    def sizes(self, names: Sequence[str]) -> tuple[Numbers, Numbers]:
        """The sizes of groups that agree in these columns, and how many groups have each."""
        keys = ", ".join(self._keys(names))
        inner = f"SELECT COUNT(*) AS n FROM {self._values(names)} GROUP BY {keys}"  # noqa: S608
        sql = f"SELECT n, COUNT(*) AS m FROM ({inner}) AS g GROUP BY n ORDER BY n"  # noqa: S608
        found = [np.zeros((2, 0), np.int64), *(np.stack(b.columns) for b in self._counts(sql))]
        sizes, groups = np.concatenate(found, axis=1).astype(np.int64)
        return sizes, groups

    def different(self, name: str) -> int:
        """How many different values a column has, not counting NULL."""
        keys = ", ".join(self._keys([name]))
        inner = f"SELECT DISTINCT {keys} FROM {self._values([name])} WHERE c0 IS NOT NULL"  # noqa: S608
        counts = self._counts(f"SELECT COUNT(*) AS n FROM ({inner}) AS d")  # noqa: S608
        (many,) = (batch.column(0)[0].as_py() for batch in counts if batch.num_rows)
        return int(many)

    def some(self, names: Sequence[str], step: int, most: int) -> pyarrow.Table:
        """Every `step`-th row of the table, `most` at most."""
        rows = f"SELECT {self._chosen(names)}, {self._dialect.number_of_row()} AS r "
        columns = ", ".join(f"c{j}" for j in range(len(names)))
        sql = f"SELECT {columns} FROM ({rows} FROM {self._table}) AS s "  # noqa: S608
        found = self._whole(f"{sql}WHERE r % {step} = 0 LIMIT {most}", names)
        self.taken.rows = max(self.taken.rows, len(found))
        return found

    def load(self, names: Sequence[str]) -> pyarrow.Table:
        """All rows of these columns, for those whose values cannot be counted there."""
        self.taken.columns += [name for name in names if name not in self.taken.columns]
        return self._whole(f"SELECT {self._chosen(names)} FROM {self._table}", names)  # noqa: S608

    def _counts(self, sql: str) -> Iterator[pyarrow.RecordBatch]:
        for batch in self._run(sql):
            self.taken.counts += batch.num_rows
            yield batch

    def _whole(self, sql: str, names: Sequence[str]) -> pyarrow.Table:
        import pyarrow as pa

        batches = list(self._run(sql))
        if not batches:
            return pa.table([pa.nulls(0) for _ in names], names=list(names))
        return pa.Table.from_batches(batches).rename_columns(list(names))

    def _seen(self, name: str) -> str:
        cell = self._cells[name]
        return self._dialect.seen(cell.sql, cell.stored)

    def _chosen(self, names: Sequence[str]) -> str:
        return ", ".join(f"{self._seen(name)} AS c{j}" for j, name in enumerate(names))

    def _values(self, names: Sequence[str]) -> str:
        parts = [self._chosen(names)]
        for j, name in enumerate(names):
            if self._cells[name].floating:
                own = self._seen(name)
                text = f"CAST({own} AS {self._dialect.text})"
                parts.append(f"({own} = 0 AND {text} LIKE '-%') AS z{j}")
        return f"(SELECT {', '.join(parts)} FROM {self._table}) AS v"  # noqa: S608

    def _keys(self, names: Sequence[str]) -> list[str]:
        keys = []
        for j, name in enumerate(names):
            keys += [f"c{j}", *([f"z{j}"] if self._cells[name].floating else [])]
        return keys

    def _read(self, names: Sequence[str], batch: pyarrow.RecordBatch) -> pyarrow.Table:
        import pyarrow as pa
        import pyarrow.compute as pc

        found = dict(zip([*self._keys(names), "n"], batch.columns, strict=True))
        columns = []
        for j, name in enumerate(names):
            column = found[f"c{j}"]
            if self._cells[name].floating:
                negative = pc.fill_null(found[f"z{j}"], False)
                column = pc.if_else(negative, pa.scalar(-0.0, column.type), column)
            columns.append(column)
        return pa.table([*columns, found["n"]], names=[*names, ""])
