"""Limits the rows and cells of each unit, by a uniformly random choice.

Guarantee
    As `request.People`. Of each unit at most `limit` rows are kept, whatever is drawn. Given the
    random words, which rows of a unit are kept depends on the words and the order of its own rows
    only; and each set of `limit` of its rows is as likely as any other, independently of other
    units. So the kept rows with and without a unit can be drawn together such that all other units
    keep the same.

Every row gets a random tag, and rows are sorted by unit and tag, packed with the row's number into
one 64-bit word: sorting words was by far the fastest exact way of those tried. Where two tags of a
unit are equal, their order is drawn anew with more bits.

The engine hands over the rows that belong to a unit and a cell, as narrow columns; this module
decides which of them are kept; the kept rows are measured elsewhere (`measure.py`). A pass has a
limited number of rows: a larger table is divided into parts by a hash of the unit, so that all rows
of a unit are in the same part.

Units are distinguished exactly. Whole numbers are used as they are. Other values are hashed, and
the hashes counted: if there are as many of them as of units, no two units share one. If not, which
an intruder may bring about, the units are numbered by a join.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...arguments import whole
from ...noise.source import Source
from ...schema import Bounded, Category
from ..computed_column import Predicate
from ..request import CellKey, People
from ..sql.dialect import Dialect
from ..sql.grid_values import first_step, last_step
from ..sql.int_expr import integer
from ..sql.logical_table import Logical, truth
from ..sql.statement import cell
from ..storage import Integer

if TYPE_CHECKING:
    import pyarrow


Words = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

CHOSEN = "chosen"
"""The column that says whether a row is kept."""
PLACED = "placed"
"""The column that says whether a row's cell is kept."""

_BITS = 64
_TAG = 32
_FEWEST_TAG = 12  # with fewer bits, most tags would have to be drawn again
_ODD = np.uint64(0x9E3779B97F4A7C15)  # multiplying by it is one-to-one, and stirs the high bits
_FAR = 2**62
_PASS = 2**24
_NARROW = 2**26  # units in a range below this are numbered by subtraction
_LONG = (-(2**63), 2**64 - 1)
_SIGNED_END = 2**63


def few(units: npt.NDArray[Any], limit: int, source: Source) -> Mask:
    """Which rows are kept: `limit` of each unit, or all if it has fewer.

    Parameters
        units: the unit of each row, as numbers that are not negative.
        limit: at least 1.
        source: where the tags come from.
    """
    rows = len(units)
    kept = np.ones(rows, dtype=np.bool_)
    if rows <= limit:
        return kept
    place = (rows - 1).bit_length()
    if _free(units, place) < _FEWEST_TAG:
        units = dense(units)
    tag = min(_free(units, place), _TAG)
    keys = _tagged(units, tag, place, source)
    keys.sort()
    _untie(keys, place, source)
    whose = keys >> (tag + place)
    first = np.ones(rows, dtype=np.bool_)
    np.not_equal(whose[limit:], whose[:-limit], out=first[limit:])
    kept[:] = False
    kept[_places(keys[first], place)] = True
    return kept


def few_cells(units: npt.NDArray[Any], cells: npt.NDArray[Any], limit: int, source: Source) -> Mask:
    """Which rows are in one of the cells kept of their unit: `limit` cells of each, or all.

    Each set of a unit's cells is as likely as any other, however many rows are in them.

    Parameters
        units, limit, source: as in `few`.
        cells: the cell of each row, as numbers that are not negative.
    """
    if not len(units):
        return np.ones(0, dtype=np.bool_)
    order = _by_both(units, cells)
    whose, where = units[order], cells[order]
    fresh = np.ones(len(order), dtype=np.bool_)
    np.not_equal(where[1:], where[:-1], out=fresh[1:])
    fresh[1:] |= whose[1:] != whose[:-1]
    chosen = few(whose[fresh], limit, source)
    kept = np.empty(len(order), dtype=np.bool_)
    kept[order] = chosen[np.cumsum(fresh) - 1]
    return kept


def dense(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """0, 1, 2, … for whole numbers of 64 bits: equal ones, and only those, get the same.

    Example
        >>> len(set(dense(np.array([5, 2**63, 5, 0], dtype=np.uint64)).tolist()))
        3
    """
    rows = len(values)
    words: Words = values.astype(np.int64).view(np.uint64) if values.dtype.kind == "i" else values
    words = words.astype(np.uint64, copy=False)
    place = max(rows - 1, 0).bit_length()
    keys = words * _ODD
    keys >>= place
    keys <<= place
    keys |= np.arange(rows, dtype=np.uint64)
    keys.sort()
    order = _places(keys, place)
    ordered = words[order]
    keys >>= place
    alike = keys[1:] == keys[:-1]
    if np.any(alike & (ordered[1:] != ordered[:-1])):  # two values share their high bits
        again = np.lexsort((ordered, keys))
        order, ordered = order[again], ordered[again]
    rank = np.zeros(rows, dtype=np.int64)
    np.cumsum(ordered[1:] != ordered[:-1], out=rank[1:])
    codes = np.empty(rows, dtype=np.int64)
    codes[order] = rank
    return codes


def _free(units: npt.NDArray[Any], place: int) -> int:
    return _BITS - int(units.max()).bit_length() - place


def _places(keys: Words, place: int) -> npt.NDArray[np.int64]:
    """The number of each row, from the low bits of its word."""
    return (keys & np.uint64((1 << place) - 1)).view(np.int64)


def _tagged(units: npt.NDArray[Any], tag: int, place: int, source: Source) -> Words:
    """For each row its unit, a random tag, and its number."""
    keys: Words = units.astype(np.uint64)
    keys <<= tag
    keys |= source.words(len(units), 32) >> (_TAG - tag)
    keys <<= place
    keys |= np.arange(len(units), dtype=np.uint64)
    return keys


def _untie(keys: Words, place: int, source: Source) -> None:
    """Puts rows with the same unit and tag, which stand side by side, into a random order."""
    heads = keys >> place
    after = np.flatnonzero(heads[1:] == heads[:-1]) + 1
    if not len(after):
        return
    tied = np.union1d(after, after - 1)
    heads = heads[tied]
    while True:
        words = source.words(len(tied), 64)
        order = np.lexsort((words, heads))
        drawn, whose = words[order], heads[order]
        if not np.any((drawn[1:] == drawn[:-1]) & (whose[1:] == whose[:-1])):
            keys[tied] = keys[tied][order]
            return


def _by_both(units: npt.NDArray[Any], cells: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    place = (len(units) - 1).bit_length()
    within = int(cells.max()).bit_length()
    if _free(units, place) < within:
        return np.lexsort((cells, units))
    keys = units.astype(np.uint64)
    keys <<= within
    keys |= cells.astype(np.uint64)
    keys <<= place
    keys |= np.arange(len(units), dtype=np.uint64)
    keys.sort()
    return _places(keys, place)


@dataclass(frozen=True)
class UnitRows:
    """The rows of all units that a request measures.

    sql: the SELECT of u, k0, k1, … and the columns' values.
    handed: the SQL of each column as it is handed over; `taken`, as it is measured.
    whole: whether units are whole numbers of at most 64 bits.
    shape: how many cells each key has.
    dialect: the SQL of the rows' engine.
    """

    sql: str
    handed: tuple[str, ...]
    taken: tuple[str, ...]
    whole: bool
    shape: tuple[int, ...]
    dialect: Dialect


@dataclass(frozen=True)
class Reader:
    """Reads the rows of a SELECT: as tuples, or as an Arrow table."""

    run: Callable[[str], Sequence[tuple[Any, ...]]]
    arrow: Callable[[str], pyarrow.Table]


def unit_rows(
    name: str,
    logical: Logical,
    *,
    where: Predicate | None,
    keys: Sequence[CellKey],
    columns: Sequence[str],
    bench: Dialect | None = None,
) -> UnitRows:
    """The rows that belong to a unit and a cell.

    Parameters
        name: the column of the units.
        where, keys: as in `Request`.
        columns: those that are measured.
        bench: the SQL of the database in which chosen rows are measured; the table's if None.
    """
    unit, dialect = logical.column(name), logical.dialect
    outputs, handed, taken = [f"{logical.unit(name)} AS u"], list[str](), ["u"]
    for i, key in enumerate(keys):
        outputs.append(f"{cell(key, logical)} AS k{i}")
        handed.append(f"CAST(k{i} AS {_unsigned(key.cells, dialect)}) AS k{i}")
        taken.append(f"k{i}")
    there = " AND ".join(f"{one} IS NOT NULL" for one in taken)
    for measured in dict.fromkeys(columns):
        value, column = logical.value(measured), logical.column(measured)
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
    stored = None if isinstance(unit, Category) else logical.stored(unit.name)
    return UnitRows(
        sql=f"SELECT * FROM {dialect.nested(sql)} WHERE {there}",  # noqa: S608
        handed=tuple(handed),
        taken=tuple(taken),
        whole=stored is None
        or (isinstance(stored, Integer) and stored.low >= _LONG[0] and stored.high <= _LONG[1]),
        shape=tuple(key.cells for key in keys),
        dialect=dialect,
    )


def passes(
    people: People, rows: UnitRows, reader: Reader, source: Source, most: int = _PASS
) -> Iterator[pyarrow.Table]:
    """The rows in parts, all of a unit in the same, with the columns `CHOSEN` and `PLACED`.

    Parameters
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
    """The most rows, and the most cells, of a unit; refused below 1."""
    rows = min(whole(people.rows, "rows", least=1), _FAR)
    cells = people.groups
    return rows, None if cells is None else min(whole(cells, "groups", least=1), _FAR)


def _chosen(
    people: People, rows: UnitRows, table: pyarrow.Table, source: Source
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


def _numbered(sql: str, rows: UnitRows, reader: Reader, span: Sequence[int]) -> pyarrow.Table:
    others = "".join(f", {name}" for name in rows.handed)
    dialect, source = rows.dialect, rows.dialect.nested(sql)
    narrow = span and span[1] - span[0] < _NARROW
    if narrow and not dialect.logged:
        # in a type that holds every stored number: an overflow would be an error that depends on
        # rows
        wide = dialect.long if span[1] < _SIGNED_END else dialect.huge
        kind = _unsigned(2**32, dialect)
        unit = f"CAST(CAST(u AS {wide}) - {integer(span[0])} AS {kind}) AS u"
        return reader.arrow(f"SELECT {unit}{others} FROM {source}")  # noqa: S608
    unit = "u" if rows.whole else f"{dialect.hash('u')} AS u"
    table = reader.arrow(f"SELECT {unit}{others} FROM {source}")  # noqa: S608
    units: npt.NDArray[Any]
    if narrow:  # the least unit is a value of a row, and must stand in no statement
        units = (_column(table, "u").astype(np.int64) - span[0]).astype(np.uint32)
    else:
        units = dense(_column(table, "u"))
    table = table.set_column(0, "u", [units])
    if rows.whole:
        return table
    distinct = dialect.nested(f"SELECT DISTINCT u FROM {source}")  # noqa: S608
    ((different,),) = reader.run(f"SELECT COUNT(*) FROM {distinct}")  # noqa: S608
    if different == units.max(initial=-1) + 1:
        return table
    distinct = dialect.nested("SELECT DISTINCT u FROM crowd")
    named = dialect.nested(f"SELECT u AS v, row_number() OVER () - 1 AS n FROM {distinct}")  # noqa: S608
    joined = f"WITH crowd AS ({sql}) SELECT n AS u{others} FROM crowd JOIN {named} ON u = v"  # noqa: S608
    return reader.arrow(joined)


def _column(table: pyarrow.Table, name: str) -> npt.NDArray[Any]:
    return np.asarray(table.column(name))


def _cells(table: pyarrow.Table, shape: Sequence[int]) -> npt.NDArray[np.int64]:
    cells = np.zeros(len(table), dtype=np.int64)
    most = 1
    for i, size in enumerate(shape):
        # numpy converts unsigned words of 64 bits to floats; a cell's number is below 2^63
        column = _column(table, f"k{i}").astype(np.int64)
        if most * size > _FAR:
            cells, column = dense(cells), dense(column)
            most = size = len(table)
        cells *= size
        cells += column
        most *= size
    return cells


def _unsigned(size: int, dialect: Dialect) -> str:
    bits = (max(size, 1) - 1).bit_length()
    return next((kind for most, kind in dialect.unsigned if bits <= most), dialect.long)


def _signed(low: int, high: int, dialect: Dialect) -> str:
    bits = max(high, -1 - low).bit_length() + 1
    return next((kind for most, kind in dialect.signed if bits <= most), dialect.holding(low, high))
