"""The original table, checked against its schema: in memory, or read in passes.

The holder publishes, so a refusal may name the column at fault, the number of rows and the first of
them; it never quotes a value. A release is a data frame of the same kind as the original.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract import FAULT, Engine, HandedOver, KeptThere, Rows, Spread
from ...engine.open import keep_rows, open_engine
from ...engine.source.location import names_of
from ...errors import EngineFault, Fault, refuse
from ...schema import Category, Column, Identifier, Schema
from ...schema.table import RECORD
from .cells import Cells, Numbers

if TYPE_CHECKING:
    import pyarrow


MEMORY = 1 << 30
"""How many bytes of a table may be in memory, by default."""
LEAST_MEMORY = 128 << 20

_FEWEST, _MOST = 1 << 10, 1 << 18
"""Rows of a batch."""
_COPIES = 64
"""How many times the size of a batch may be in memory while it is processed."""


@contextmanager
def keep_table(
    engine: Engine,
    schema: Schema,
    numbers: Callable[[Mapping[str, Cells]], Numbers],
    sizes: Sequence[int],
    memory: int,
    progress: Callable[[int], None],
    named: Callable[[str, pyarrow.Array], None] | None = None,
) -> Iterator[KeptThere]:
    """The rows, kept on disk as long as the context lasts.

    Guarantee
        The random numbers that `numbers` draws for a row are drawn once, for all passes.

    Parameters
        numbers: a row of whole numbers for each row of some cells.
        sizes: number j is at least 0 and below `sizes[j]`.
        memory: how many bytes of the table may be in memory at a time.
        progress: called with the number of rows that were read so far.
        named: called with some stored values of each identifier at a time.
    """
    if isinstance(engine, Spread):
        with engine.keep(lambda part: numbers(_cells_of(schema, part)), len(sizes), named) as there:
            progress(there.passes.rows)
            yield there
        return
    batch = max(_FEWEST, min(_MOST, memory // (_COPIES * 8 * len(sizes))))
    missing: Counter[str] = Counter()
    facts: list[HandedOver] = []
    read = 0

    def fill(take: Callable[[Numbers], None]) -> None:
        def taken(part: pyarrow.RecordBatch) -> None:
            nonlocal read
            cells = _cells_of(schema, part)
            if named is not None:
                for name in (name for name in part.schema.names if name not in cells):
                    named(name, part.column(name))
            missing.update({name: int((~one.present).sum()) for name, one in cells.items()})
            take(numbers(cells))
            read += part.num_rows
            progress(read)

        facts.append(engine.hand_over(taken, batch, names=named is not None))

    with keep_rows(fill, sizes, memory=memory, batch=batch) as passes:
        if passes.rows != facts[0].rows:
            raise Fault("rows were lost on their way to disk")
        yield KeptThere(passes, facts[0], missing)


def _cells_of(schema: Schema, part: pyarrow.RecordBatch) -> dict[str, Cells]:
    return {
        name: Cells.of(schema.columns[name], part.column(name), None)
        for name in part.schema.names
        if not isinstance(schema.columns[name], Identifier)
    }


@dataclass(frozen=True, eq=False)
class Original:
    """The declared columns that are stored and are no identifiers, in the schema's order.

    persons: whose each row is, numbered from 0, and −1 for nobody's where all values are read; None
        if each row is a person.
    beyond: how many stored values of a column were outside its bounds.
    names: the stored values of each identifier, by which a register recognises persons; only of
        the whole table.
    """

    cells: Mapping[str, Cells]
    persons: Numbers | None
    size: int
    beyond: Mapping[str, int] = field(default_factory=dict)
    names: tuple[Any, ...] = field(default=(), repr=False)

    def take(self, rows: NDArray[Any]) -> Original:
        persons = None if self.persons is None else _numbered(self.persons[rows])
        cells = {name: column.take(rows) for name, column in self.cells.items()}
        return Original(cells, persons, int(rows.size))

    def of_persons(self, values: NDArray[Any]) -> NDArray[Any]:
        """One of the values of each person's rows, in the order of persons."""
        if self.persons is None:
            return values
        return values[np.unique(self.persons, return_index=True)[1]]

    def of_rows(self, values: NDArray[Any]) -> NDArray[Any]:
        """For each row the value of its person."""
        return values if self.persons is None else values[self.persons]


@dataclass(frozen=True, eq=False)
class Validated:
    """A table that is well formed, and not read yet."""

    rows: int
    _engine: Engine
    _schema: Schema

    def read(self, *, all_values: bool = False) -> Original:
        """All rows; refused if they are not as the schema declares.

        Parameters
            all_values: whether a value that cannot be read counts as missing, and an infinite one
                as the bound, as for questions; and whether rows may be of nobody, and more of a
                person than the schema states.
        """
        schema = self._schema
        rows = self._engine.read_all()
        self._check_unchanged()
        cells = {}
        for name in rows.logical.column_names:
            column = schema.columns[name]
            if not all_values:
                _check_values(column, rows)
            cells[name] = Cells.of(column, rows.logical.column(name), rows.types[name])
        names = tuple(column.combine_chunks() for column in rows.identifiers.columns)
        persons = _persons(schema, rows, all_rows=all_values)
        return Original(cells, persons, self.rows, rows.beyond, names)

    @property
    def stored(self) -> bool:
        """Whether it is stored in files or on many machines, and may be larger than memory."""
        return self._engine.files is not None or self.spread

    @property
    def spread(self) -> bool:
        """Whether it is stored on many machines."""
        return isinstance(self._engine, Spread)

    @contextmanager
    def keep(
        self,
        numbers: Callable[[Mapping[str, Cells]], Numbers],
        sizes: Sequence[int],
        memory: int,
        progress: Callable[[int], None],
        named: Callable[[str, Any], None] | None = None,
        *,
        all_values: bool = True,
    ) -> Iterator[KeptThere]:
        """All rows as whole numbers on disk, as in `keep_table`; refused as in `read`."""
        schema = self._schema
        with keep_table(self._engine, schema, numbers, sizes, memory, progress, named) as kept:
            self._check_unchanged()
            if kept.passes.rows != self.rows:
                raise EngineFault(FAULT)
            for name in kept.missing if not all_values else ():
                _check_values(schema.columns[name], kept.told)
            for name in kept.told.repeated:
                raise refuse("publish.identifier-not-unique", column=name)
            yield kept

    def _check_unchanged(self) -> None:
        files = self._engine.files
        if files is not None and not files.unchanged():
            paths = [path for path in files.paths if path.suffix != ".wal"]
            raise refuse("engine.table-changed-meanwhile", names=names_of(paths))


@contextmanager
def open_original(source: object, schema: Schema, memory: int | None = None) -> Iterator[Validated]:
    """The table, validated; refused if it is not well formed or has no row.

    memory: how many bytes the engine may use; None for most of the machine's memory.
    """
    engine = open_engine(source, schema, memory=memory)
    try:
        rows = engine.validate().rows
        if rows == 0:
            raise refuse("publish.published-table-empty", name=schema.name)
        yield Validated(rows, engine, schema)
    finally:
        engine.close()


def read_original(source: object, schema: Schema) -> Original:
    """Reads the table; refused if it is not as the schema declares, or has no row."""
    with open_original(source, schema) as table:
        return table.read()


def _check_values(column: Column, rows: Rows | HandedOver) -> None:
    if rows.infinite[column.name]:
        where = _where(rows.infinite, column, rows)
        raise refuse("publish.published-value-infinite", column=column.name, where=where)
    if rows.unreadable[column.name]:
        word = f"Every value of a {column.type} column can be read as such"
        if isinstance(column, Category):
            word = "Every value is one of the declared categories"
        where = _where(rows.unreadable, column, rows)
        raise refuse("publish.value-outside-schema", column=column.name, where=where, word=word)


def _where(counts: Mapping[str, int], column: Column, rows: Rows | HandedOver) -> str:
    many, first = counts[column.name], rows.first[column.name]
    return f"in row {first}" if many == 1 else f"in {many} rows, row {first} the first,"


def _persons(schema: Schema, rows: Rows, *, all_rows: bool) -> Numbers | None:
    if schema.unit == RECORD:
        for name in rows.identifiers.column_names:
            values = _names(rows.identifiers.column(name)).drop_null()
            if len(values) != len(values.unique()):
                raise refuse("publish.identifier-not-unique", column=name)
        return None
    name = schema.column(schema.unit).name
    columns = rows.identifiers if name in rows.identifiers.column_names else rows.logical
    values = _names(columns.column(name))
    if all_rows:
        codes = values.dictionary_encode().indices.fill_null(-1)
        return np.asarray(codes.to_numpy(zero_copy_only=False), np.int64)
    if values.null_count:
        raise refuse("publish.unit-missing-in-rows", column=name)
    persons = _numbered(values.dictionary_encode().indices.to_numpy())
    limit = schema.rows_per_unit
    if limit is not None and int(np.bincount(persons).max()) > limit:
        raise refuse("publish.too-many-person-rows", limit=limit)
    return persons


def _names(column: Any) -> Any:
    """The names of persons: NaN names nobody, and the two zeros of a double are one name."""
    import pyarrow as pa

    names = column.combine_chunks()
    if not pa.types.is_floating(names.type):
        return names
    numbers = names.to_numpy(zero_copy_only=False)
    return pa.array(numbers + numbers.dtype.type(0), mask=np.isnan(numbers))


def _numbered(codes: NDArray[Any]) -> Numbers:
    return np.unique(codes, return_inverse=True)[1].astype(np.int64).reshape(-1)


def kind_of(source: object) -> str:
    """The kind of the original: "pandas", "polars", "csv" or "arrow"."""
    package = type(source).__module__.split(".")[0]
    if package in ("pandas", "polars"):
        return package
    if not isinstance(source, str | os.PathLike):
        return "arrow"
    name = str(source).lower().removesuffix(".gz")
    return "csv" if name.endswith((".csv", ".tsv")) else "arrow"


def native(table: Any, source: Any, kind: str, *, typed: bool = True) -> Any:
    """The Arrow table as a data frame of the source's kind; if that was a path, unchanged.

    typed: whether its columns get the types of the source.
    """
    if kind == "polars":
        import polars

        frame = polars.DataFrame(table)
        return _polars(frame, source) if typed else frame
    if kind == "pandas":
        frame = table.to_pandas()
        return _pandas(frame, source) if typed else frame
    return table


def _polars(frame: Any, source: Any) -> Any:
    import polars

    stored = {name.lower(): dtype for name, dtype in source.schema.items()}
    for name in frame.columns:
        if stored.get(name.lower()) in (polars.Categorical, polars.Enum):
            # an Enum has its own categories; a Categorical shares those of the source
            words = sorted(set(frame[name].drop_nulls().to_list()))
            frame = frame.with_columns(polars.col(name).cast(polars.Enum(words)))
    return frame


def _pandas(frame: Any, source: Any) -> Any:
    import pandas

    stored = {str(name).lower(): source[name].dtype for name in source.columns}
    for name in frame.columns:
        dtype = stored.get(name.lower())
        if dtype is None or frame[name].dtype == dtype:
            continue
        if getattr(dtype, "kind", "") == "b" and frame[name].dtype.kind not in "biuf":
            continue  # any text would become true
        # the categories of the source may name values that are in no released row
        kind = "category" if isinstance(dtype, pandas.CategoricalDtype) else dtype
        try:
            kept = frame[name].astype(kind)
        except (TypeError, ValueError):
            continue
        # a whole number that does not fit would silently become another one
        if getattr(dtype, "kind", "") not in "iu" or (kept == frame[name]).all():
            frame[name] = kept
    return frame
