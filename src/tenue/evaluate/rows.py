"""A table as Arrow columns: a data frame, a file, or what DuckDB holds.

Nothing is left out in silence: a file with a line that is no row is refused, for a group whose
rows were skipped would look smaller or safer than it is.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..engine.duckdb.reader import literal, prepare, quoted
from ..engine.duckdb.rows import broken_line
from ..engine.source.frame import arrow_table
from ..engine.source.header import read_header
from ..engine.source.limit import check_size
from ..engine.source.location import Database, Files, Frame, Relation, locate
from ..errors import InvalidTable, nearest, refuse

if TYPE_CHECKING:
    import pyarrow


_LONGEST_LINE = 2**20
_UNREADABLE = "A line has too many or too few fields, an open quote, or bytes that are not UTF-8"


@dataclass(frozen=True)
class Rows:
    """A table that can be read column by column.

    names: its columns, as it spells them.
    written: whether its values are text that has yet to be read as numbers and dates (CSV).
    """

    names: tuple[str, ...]
    written: bool
    _load: Callable[[Sequence[str]], pyarrow.Table]

    def find(self, name: str) -> str | None:
        """How the table spells the column; None if it has none of that name."""
        folded = name.lower()
        return next((found for found in self.names if found.lower() == folded), None)

    def spelled(self, name: object) -> str:
        """The same, refused if there is none."""
        if isinstance(name, int) and not isinstance(name, bool):
            name = str(name)
        found = self.find(name) if isinstance(name, str) else None
        if found is None:
            raise refuse(
                "evaluate.table-has-no-column", name=name, nearest=nearest(str(name), self.names)
            )
        return found

    def read(self, names: Sequence[str]) -> dict[str, pyarrow.ChunkedArray]:
        """The columns of these names, as spelled; refused if there is no row."""
        table = self._load(names)
        if table.num_rows == 0:
            raise refuse("evaluate.table-has-no-rows")
        return {name: table.column(i) for i, name in enumerate(names)}


def open_rows(source: object) -> Rows:
    """The table that was given; refused if it is none.

    Parameters
        source: a data frame (pandas, polars, pyarrow, the Arrow PyCapsule interface), a matrix of
            numpy, a path or pattern of .csv, .tsv or .parquet files, duckdb://file#table, a DuckDB
            relation, or rows that are open already.
    """
    import numpy as np

    if isinstance(source, Rows):
        return source
    if isinstance(source, list | tuple | np.ndarray):
        return _matrix(source)
    found = locate(source, "table")
    if isinstance(found, Frame):
        return _frame(found)
    if isinstance(found, Relation):
        return _once(
            tuple(found.relation.columns),
            lambda names: found.relation.project(_listed(names)).to_arrow_table(),
        )
    if isinstance(found, Files) and found.kind in ("json", "jsonl"):
        raise refuse("evaluate.table-is-json-file")
    if isinstance(found, Files) and found.kind != "parquet":
        return _csv(found)
    return _stored(found)


def _once(
    names: tuple[Any, ...], load: Callable[[Sequence[str]], Any], written: bool = False
) -> Rows:
    seen: set[str] = set()
    for name in names:
        folded = name.lower() if isinstance(name, str) else None
        if folded is None or folded in seen:
            raise refuse("evaluate.two-columns-of-table-have-same-name")
        seen.add(folded)
    return Rows(names, written, load)


def _matrix(source: Any) -> Rows:
    import numpy as np
    import pyarrow

    try:
        matrix = np.asarray(source)
    except ValueError:
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise refuse("evaluate.matrix-is-not-table-of-numbers")
    names = tuple(str(j) for j in range(matrix.shape[1]))
    return _once(
        names, lambda chosen: pyarrow.table({name: matrix[:, int(name)] for name in chosen})
    )


def _frame(found: Frame) -> Rows:
    import narwhals

    frame = narwhals.from_native(found.data, pass_through=True)
    if not isinstance(frame, narwhals.DataFrame):
        whole = arrow_table(found.data, _Every())  # a stream can be read once
        return _once(tuple(whole.column_names), lambda chosen: whole.select(list(chosen)))

    def load(chosen: Sequence[str]) -> Any:
        return arrow_table(found.data, {name.lower() for name in chosen}).select(list(chosen))

    return _once(tuple(frame.columns), load)


class _Every(tuple[str, ...]):
    """Holds every name."""

    __slots__ = ()

    def __contains__(self, name: object) -> bool:
        return True


def _stored(found: Files | Database) -> Rows:
    import duckdb

    connection = duckdb.connect()
    try:
        readable = prepare(connection, found, {})
    except duckdb.Error:
        readable = None
    if readable is None:
        raise refuse("evaluate.file-could-not-be-opened-as-table")

    def load(chosen: Sequence[str]) -> Any:
        return _queried(
            lambda: connection.sql(f"SELECT {_listed(chosen)} FROM {readable.sql}").to_arrow_table()  # noqa: S608
        )

    return _once(tuple(name for name, _ in readable.columns), load)


def _csv(found: Files) -> Rows:
    import duckdb

    for path in found.paths:
        check_size(path, zipped=found.zipped)
    headers = {
        read_header(path, found.kind, zipped=found.zipped, wanted=_pieces(path, found.zipped))
        for path in found.paths
    }
    if len(headers) > 1:
        raise refuse("evaluate.files-have-different-first-lines")
    (header,) = headers
    fields = ", ".join(f"'f{i}': 'VARCHAR'" for i in range(len(header.names)))
    listed = ", ".join(literal(str(path)) for path in found.paths)
    options = (
        f"auto_detect = false, header = true, delim = {literal(header.separator)}, quote = '\"', "
        f"escape = '\"', nullstr = '', columns = {{{fields}}}, strict_mode = true, "
        f"compression = '{'gzip' if found.zipped else 'none'}'"
    )

    def load(chosen: Sequence[str]) -> Any:
        picked = ", ".join(f"f{header.names.index(name)}" for name in chosen)
        sql = f"SELECT {picked} FROM read_csv([{listed}], {options})"  # noqa: S608
        return _queried(lambda: duckdb.connect().sql(sql).to_arrow_table())

    return _once(header.names, load, written=True)


def _pieces(path: Path, zipped: bool) -> set[str]:
    """The first line, cut at every sign that may separate names: the right one finds most."""
    opened = gzip.open if zipped else open
    try:
        with opened(path, "rb") as file:
            line = file.readline(_LONGEST_LINE).decode("utf-8-sig", errors="replace")
    except (OSError, EOFError):
        return set()
    return {piece.strip().strip('"').lower() for piece in re.split(r"[,;\t|]", line)}


def _queried(run: Callable[[], Any]) -> Any:
    import duckdb

    try:
        return run()
    except duckdb.Error as error:
        told = broken_line(str(error))
    # raised out of reach of the error above, which may quote a row
    raise InvalidTable(
        told or "The file could not be read to its end",
        f"Every line is one row. {_UNREADABLE}",
        "Mend the file, or save it again as CSV or Parquet",
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(quoted, names))
