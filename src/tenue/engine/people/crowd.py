"""At most so many rows, and so many cells, of each unit: which rows of a table are measured.

Guarantee
    As `request.People`.

The engine finds the rows that are somebody's and in a cell, and hands them over as narrow columns;
`choice.py` says which of them are kept; what is kept is measured apart (`measure.py`). Only so many
rows are looked at in one pass: a table with more is cut into parts by a hash of the unit, so that
all rows of a unit are in the same part.

Units are told apart exactly. Whole numbers are taken as they are. Of anything else a hash is taken,
and its values are counted: if there are as many of them as of units, no two units share one. If
not, which an intruder may bring about, the units are numbered by a join.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...noise.source import Source
from ...number import whole
from ...schema import Bounded, Category
from ..request import CellKey, People, Predicate
from ..sql.cell import cell
from ..sql.dialect import Dialect
from ..sql.logical import Logical
from ..sql.predicate import truth
from ..sql.steps import first_step, last_step
from ..sql.whole import integer
from ..storage import Integer
from .choice import dense, few, few_cells

if TYPE_CHECKING:
    import pyarrow


CHOSEN = "chosen"
"""The column that says whether a row is kept."""
PLACED = "placed"
"""The column that says whether a row's cell is kept."""

_FAR = 2**62
_PASS = 2**24
_NARROW = 2**26  # units in a range below this are numbered by subtraction
_LONG = (-(2**63), 2**64 - 1)
_SIGNED_END = 2**63


@dataclass(frozen=True)
class Crowd:
    """The rows of all units that a request measures.

    sql: the SELECT of u, k0, k1, … and the columns' values.
    handed: the SQL of each column as it is handed over, and `taken` as it is measured.
    whole: whether units are whole numbers of at most 64 bits.
    shape: how many cells each key has.
    dialect: how the rows' engine spells SQL.
    """

    sql: str
    handed: tuple[str, ...]
    taken: tuple[str, ...]
    whole: bool
    shape: tuple[int, ...]
    dialect: Dialect


@dataclass(frozen=True)
class Reader:
    """How the rows of a table are read: as tuples, and as an Arrow table."""

    run: Callable[[str], Sequence[tuple[Any, ...]]]
    arrow: Callable[[str], pyarrow.Table]


def crowd(
    people: People,
    logical: Logical,
    *,
    where: Predicate | None,
    keys: Sequence[CellKey],
    columns: Sequence[str],
    bench: Dialect | None = None,
) -> Crowd:
    """The rows that are somebody's and in a cell.

    Parameters
        people: the unit; its limits are checked, and not applied.
        logical: the table.
        where: which rows there are at all.
        keys: what makes a cell.
        columns: what is measured.
        bench: how SQL is spelled where the chosen rows are measured; as the table's if None.
    """
    limits(people)
    unit, dialect = logical.column(people.unit), logical.dialect
    outputs = [f"{logical.unit(people.unit)} AS u"]
    outputs += [f"{cell(key, logical)} AS k{i}" for i, key in enumerate(keys)]
    handed = [
        f"CAST(k{i} AS {_unsigned(key.cells, dialect)}) AS k{i}" for i, key in enumerate(keys)
    ]
    taken = ["u", *(f"k{i}" for i in range(len(keys)))]
    for name in dict.fromkeys(columns):
        value, column = logical.value(name), logical.column(name)
        if value in outputs:
            continue
        outputs.append(value)
        if isinstance(column, Bounded):
            ends = first_step(column), last_step(column)
            handed.append(f"CAST({value} AS {_signed(*ends, dialect)}) AS {value}")
            taken.append(f"CAST({value} AS {(bench or dialect).holding(*ends)}) AS {value}")
        else:
            handed.append(value)
            taken.append(value)
    sql = logical.select(outputs, None if where is None else truth(where, logical))
    there = " AND ".join(["u IS NOT NULL", *(f"k{i} IS NOT NULL" for i in range(len(keys)))])
    stored = None if isinstance(unit, Category) else logical.stored(unit.name)
    return Crowd(
        sql=f"SELECT * FROM {dialect.nested(sql)} WHERE {there}",  # noqa: S608
        handed=tuple(handed),
        taken=tuple(taken),
        whole=stored is None
        or (isinstance(stored, Integer) and stored.low >= _LONG[0] and stored.high <= _LONG[1]),
        shape=tuple(key.cells for key in keys),
        dialect=dialect,
    )


def passes(
    people: People, rows: Crowd, reader: Reader, source: Source, most: int = _PASS
) -> Iterator[pyarrow.Table]:
    """The rows in parts, all of a unit in the same, with the columns `CHOSEN` and `PLACED`.

    Parameters
        people: the limits.
        rows: what `crowd` wrote.
        reader: where they are.
        source: where the choice is drawn from.
        most: about how many rows a part may have.
    """
    ends = ", MIN(u), MAX(u)" if rows.whole else ""
    everybody = rows.dialect.nested(rows.sql)
    ((count, *span),) = reader.run(f"SELECT COUNT(*){ends} FROM {everybody}")  # noqa: S608
    parts = -(-count // most)
    for part in range(parts):
        share = f" AND {rows.dialect.hash('u')} % {parts} = {part}"
        sql = rows.sql if parts == 1 else rows.sql + share
        table = _numbered(sql, rows, reader, span)
        placed, chosen = _chosen(people, rows, table, source)
        yield table.append_column(CHOSEN, [chosen]).append_column(PLACED, [placed])


def limits(people: People) -> tuple[int, int | None]:
    """The most rows, and the most cells, of a unit; refused if they are none."""
    rows = min(whole(people.rows, "rows", least=1), _FAR)
    if people.groups is None:
        return rows, None
    return rows, min(whole(people.groups, "groups", least=1), _FAR)


def _chosen(
    people: People, rows: Crowd, table: pyarrow.Table, source: Source
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Which rows are in a cell that is kept, and which of those are kept."""
    limit, groups = limits(people)
    units = _column(table, "u")
    if groups is None or not rows.shape:
        return np.ones(len(units), dtype=np.bool_), few(units, limit, source)
    placed = few_cells(units, _cells(table, rows.shape), groups, source)
    kept = placed.copy()
    kept[placed] = few(units[placed], limit, source)
    return placed, kept


def _numbered(sql: str, rows: Crowd, reader: Reader, span: Sequence[int]) -> pyarrow.Table:
    """The rows, with units that are numbers from 0 on, in place of what they are."""
    others = "".join(f", {name}" for name in rows.handed)
    dialect, source = rows.dialect, rows.dialect.nested(sql)
    if span and span[1] - span[0] < _NARROW and dialect.logged:
        # the least unit is a value of a row, and must stand in no statement
        table = reader.arrow(f"SELECT u{others} FROM {source}")  # noqa: S608
        units = (_column(table, "u").astype(np.int64) - span[0]).astype(np.uint32)
        return table.set_column(0, "u", [units])
    if span and span[1] - span[0] < _NARROW:
        # in a type that no stored number leaves: an overflow would be an error that depends on rows
        wide = dialect.long if span[1] < _SIGNED_END else dialect.huge
        narrow = _unsigned(2**32, dialect)
        unit = f"CAST(CAST(u AS {wide}) - {integer(span[0])} AS {narrow}) AS u"
        return reader.arrow(f"SELECT {unit}{others} FROM {source}")  # noqa: S608
    if rows.whole:
        return _dense(reader.arrow(f"SELECT u{others} FROM {source}"))  # noqa: S608
    hashed = f"SELECT {dialect.hash('u')} AS u{others} FROM {source}"  # noqa: S608
    table = _dense(reader.arrow(hashed))
    distinct = dialect.nested(f"SELECT DISTINCT u FROM {source}")  # noqa: S608
    ((units,),) = reader.run(f"SELECT COUNT(*) FROM {distinct}")  # noqa: S608
    if units == _column(table, "u").max(initial=-1) + 1:
        return table
    distinct = dialect.nested("SELECT DISTINCT u FROM crowd")
    named = dialect.nested(f"SELECT u AS v, row_number() OVER () - 1 AS n FROM {distinct}")  # noqa: S608
    joined = f"WITH crowd AS ({sql}) SELECT n AS u{others} FROM crowd JOIN {named} ON u = v"  # noqa: S608
    return reader.arrow(joined)


def _dense(table: pyarrow.Table) -> pyarrow.Table:
    return table.set_column(0, "u", [dense(_column(table, "u"))])


def _column(table: pyarrow.Table, name: str) -> npt.NDArray[Any]:
    found: npt.NDArray[Any] = table.column(name).to_numpy()
    return found


def _cells(table: pyarrow.Table, shape: Sequence[int]) -> npt.NDArray[np.int64]:
    """One number for each cell."""
    cells = np.zeros(len(table), dtype=np.int64)
    most = 1
    for i, size in enumerate(shape):
        # numpy takes unsigned words of 64 bits to floats; a place among cells is below 2^63
        column = _column(table, f"k{i}").astype(np.int64)
        if most * size > _FAR:
            cells, column = dense(cells), dense(column)
            most = size = len(table)
        cells *= size
        cells += column
        most *= size
    return cells


def _unsigned(size: int, dialect: Dialect) -> str:
    """The narrowest type for numbers below `size`."""
    bits = (max(size, 1) - 1).bit_length()
    return next((kind for most, kind in dialect.unsigned if bits <= most), dialect.long)


def _signed(low: int, high: int, dialect: Dialect) -> str:
    """The narrowest type for numbers from `low` to `high`."""
    for bits, kind in dialect.signed:
        if -(2 ** (bits - 1)) <= low and high < 2 ** (bits - 1):
            return kind
    return dialect.holding(low, high)
