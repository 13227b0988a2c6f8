"""Statements that count the values of a table where its rows are, so that no row leaves.

Values are told apart as whoever reads the table tells them apart: text byte by byte, the two zeros
of floating point by their sign, all NaN alike, and two blanks are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...frozen import dataclass
from ..contract import Numbers
from ..storage import Floating, Nothing, Opaque, Storage, Text

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class Cell:
    """One column.

    sql: the expression of its values, as they are read by those who read all rows.
    stored: how it is stored.
    """

    sql: str
    stored: Storage

    @property
    def floating(self) -> bool:
        """Whether an engine takes its two zeros for one."""
        return isinstance(self.stored, Floating)


class Tally:
    """Counts of a table, as `Tallied` says.

    cells: the columns, by the names that the table gives them.
    table: what stands after FROM.
    number: the SQL of a number for each row, from 0 on.
    run: what a SELECT gives, in batches.
    kept: what must not be forgotten while statements run.
    """

    def __init__(
        self,
        cells: Mapping[str, Cell],
        table: str,
        number: str,
        run: Callable[[str], Iterator[pyarrow.RecordBatch]],
        kept: object = None,
    ) -> None:
        self._kept = kept
        self._cells, self._table, self._number, self._run = cells, table, number, run

    def can_tell(self, name: str) -> bool:
        """Whether equal values of the column are equal to the engine too."""
        stored = self._cells[name].stored
        return not isinstance(stored, Opaque | Nothing) and stored != Text("UUID")

    def tally(self, names: Sequence[str]) -> Iterator[pyarrow.Table]:
        """In their order, by the first column and then by the next ones."""
        keys = ", ".join(self._keys(names))
        sql = f"SELECT {keys}, COUNT(*) AS n FROM {self._values(names)} "  # noqa: S608
        for batch in self._run(f"{sql}GROUP BY {keys} ORDER BY {keys}"):
            yield self._read(names, batch)

    def sizes(self, names: Sequence[str]) -> tuple[Numbers, Numbers]:
        """A statement about the groups of a statement."""
        keys = ", ".join(self._keys(names))
        inner = f"SELECT COUNT(*) AS n FROM {self._values(names)} GROUP BY {keys}"  # noqa: S608
        sql = f"SELECT n, COUNT(*) AS m FROM ({inner}) AS g GROUP BY n ORDER BY n"  # noqa: S608
        found = [batch.columns for batch in self._run(sql)]
        none = np.zeros(0, np.int64)
        sizes, groups = (
            np.concatenate([none, *(np.asarray(part[j]) for part in found)]) for j in (0, 1)
        )
        return sizes.astype(np.int64), groups.astype(np.int64)

    def different(self, name: str) -> int:
        """One number."""
        keys = ", ".join(self._keys([name]))
        inner = f"SELECT DISTINCT {keys} FROM {self._values([name])} WHERE c0 IS NOT NULL"  # noqa: S608
        (found,) = (
            batch.column(0)[0].as_py()
            for batch in self._run(f"SELECT COUNT(*) AS n FROM ({inner}) AS d")  # noqa: S608
            if batch.num_rows
        )
        return int(found)

    def some(self, names: Sequence[str], step: int, most: int) -> pyarrow.Table:
        """By the number of a row."""
        import pyarrow

        picked = [f"{self._cells[name].sql} AS c{j}" for j, name in enumerate(names)]
        sql = f"SELECT {', '.join(picked)}, {self._number} AS r FROM {self._table}"  # noqa: S608
        columns = ", ".join(f"c{j}" for j in range(len(names)))
        sql = f"SELECT {columns} FROM ({sql}) AS s WHERE r % {step} = 0 LIMIT {most}"  # noqa: S608
        return pyarrow.Table.from_batches(self._run(sql)).rename_columns(list(names))

    def _values(self, names: Sequence[str]) -> str:
        parts = []
        for j, name in enumerate(names):
            cell = self._cells[name]
            parts.append(f"{cell.sql} AS c{j}")
            if cell.floating:
                parts.append(f"({cell.sql} = 0 AND CAST({cell.sql} AS STRING) LIKE '-%') AS z{j}")
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
