"""A table as Arrow columns: a data frame, a file, or a table of an engine.

Nothing is skipped silently: a file is read completely, and refused at a line that is not a row,
because a group without its skipped rows would seem smaller or safer than it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ..engine.registry import backend_for
from ..engine.source.count_queries import Tally
from ..engine.source.frame import arrow_table
from ..engine.source.location import Files, Frame, Source, locate
from ..errors import nearest, refuse

LARGE = 1 << 28
"""Files of so many bytes are counted by DuckDB; reading smaller ones once is faster."""
_MEMORY = 1 << 30


@dataclass(frozen=True)
class Rows:
    """A table that can be read column by column.

    written: whether its values are text that must still be read as numbers and dates (CSV).
    there: its counts, made where the rows are; None if rows are read into this process.
    """

    names: tuple[str, ...]
    written: bool
    _load: Callable[[Sequence[str]], pa.Table]
    there: Tally | None = None

    def find(self, name: str) -> str | None:
        """The name of a column as the table spells it; None if there is none."""
        folded = name.lower()
        return next((found for found in self.names if found.lower() == folded), None)

    def spelled(self, name: object) -> str:
        """The same; an unknown column is refused."""
        if isinstance(name, int) and not isinstance(name, bool):
            name = str(name)
        found = self.find(name) if isinstance(name, str) else None
        if found is None:
            near = nearest(str(name), self.names)
            raise refuse("evaluate.evaluated-column-unknown", name=name, nearest=near)
        return found

    def read(self, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        """The columns of these names, as spelled; an empty table is refused."""
        table = self._load(names)
        if table.num_rows == 0:
            raise refuse("evaluate.evaluated-table-empty")
        return {name: table.column(i) for i, name in enumerate(names)}

    def cached(self, names: Sequence[str]) -> Rows:
        """The same table; its columns of these names are loaded once, when the first is read."""
        loaded: dict[str, pa.ChunkedArray] = {}

        def load(chosen: Sequence[str]) -> pa.Table:
            lacking = [name for name in dict.fromkeys([*chosen, *names]) if name not in loaded]
            if lacking:
                loaded.update(zip(lacking, self._load(lacking).columns, strict=True))
            return pa.table([loaded[name] for name in chosen], names=list(chosen))

        return Rows(self.names, self.written, load, self.there)


def open_rows(source: object) -> Rows:
    """The table of a source.

    Parameters
        source: a data frame (pandas, polars, pyarrow, the Arrow PyCapsule interface), a matrix of
            numpy, a path or pattern of .csv, .tsv or .parquet files, duckdb://file#table, a DuckDB
            relation, or rows that are open already.
    """
    if isinstance(source, Rows):
        return source
    if isinstance(source, list | tuple | np.ndarray):
        return _matrix(source)
    return _located(locate(source, "table"))


@contextmanager
def open_counted(source: object) -> Iterator[Rows]:
    """The same table, within the context, with rows that stay where they are if possible.

    They do in every table of PostgreSQL, Spark, a DuckDB file or a DuckDB relation, whatever its
    size, and in files of `LARGE` bytes or more. `there` and `read` see one state of a table in
    PostgreSQL.
    """
    if isinstance(source, Rows | list | tuple | np.ndarray):
        yield open_rows(source)
        return
    found = locate(source, "table")
    small = isinstance(found, Files) and sum(path.stat().st_size for path in found.paths) < LARGE
    if isinstance(found, Frame) or small:
        yield _located(found)
        return
    _refuse_json(found)
    with backend_for(found).open_tally(found, _MEMORY) as there:
        yield replace(_once(there.names, there.load, _written(found)), there=there)


def _located(found: Source) -> Rows:
    if isinstance(found, Frame):
        return _frame(found)
    _refuse_json(found)
    names, load = backend_for(found).open_table(found)
    return _once(names, load, _written(found))


def _written(source: Source) -> bool:
    return isinstance(source, Files) and source.kind in ("csv", "tsv")


def _refuse_json(source: Source) -> None:
    if isinstance(source, Files) and source.kind in ("json", "jsonl"):
        raise refuse("evaluate.json-not-evaluated")


def _once(
    names: tuple[Any, ...], load: Callable[[Sequence[str]], Any], written: bool = False
) -> Rows:
    seen: set[str] = set()
    for name in names:
        folded = name.lower() if isinstance(name, str) else None
        if folded is None or folded in seen:
            raise refuse("evaluate.duplicate-column-names")
        seen.add(folded)
    return Rows(names, written, load)


def _matrix(source: Any) -> Rows:
    try:
        matrix = np.asarray(source)
    except ValueError:
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise refuse("evaluate.malformed-matrix")
    names = tuple(str(j) for j in range(matrix.shape[1]))
    return _once(names, lambda chosen: pa.table({name: matrix[:, int(name)] for name in chosen}))


def _frame(found: Frame) -> Rows:
    import narwhals

    frame = narwhals.from_native(found.data, pass_through=True)
    if not isinstance(frame, narwhals.DataFrame):
        whole = arrow_table(found.data, None)  # a stream can be read once
        return _once(tuple(whole.column_names), lambda chosen: whole.select(list(chosen)))

    def load(chosen: Sequence[str]) -> Any:
        return arrow_table(found.data, {name.lower() for name in chosen}).select(list(chosen))

    return _once(tuple(frame.columns), load)
