"""Rows of whole numbers that stay on the machines of a cluster, read in passes and sorted there.

New rows are written as Parquet files before they are used: what was drawn for a row is then drawn
once, whatever machine is lost. Sorts are by ranges, and a position in the order is the position in
its range plus the number of rows in the ranges before: nothing is ever sorted by one machine. Only
the results of `sum`, `sort`, `tally`, `batches` and `take` reach this process, some rows at a time;
a released table is written where it lies.

The machines need Tenue, and a folder that all of them reach.
"""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import EngineFault
from ...noise.keyed_stream import fresh_key, numbered_words
from ...noise.source import Source
from ..contract import FAULT, Key, Numbers, Part
from ..passes.parquet_parts import check_parts, write_part
from . import session
from .session import quiet, watched

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

_ROW = "r"
_PART = 40
"""The number of a row is its partition, followed by this many bits for its position there."""
_BATCH = 1 << 16
"""Rows that this process looks at together."""

Batches = Iterator["pyarrow.RecordBatch"]
Made = Callable[[Batches], Batches]


@contextmanager
def keep(
    frame: DataFrame, numbers: Callable[[pyarrow.RecordBatch], Numbers], width: int, folder: str
) -> Iterator[OnSpark]:
    """The rows of a data frame as `Passes`, as long as the context lasts.

    Parameters
        numbers: makes `width` whole numbers of each row of a batch.
        folder: a private one for files, which all machines reach.
    """
    written = _Folder(folder, count()).written(
        frame, lambda batches: map(numbers, batches), _names(width)
    )
    with _until_end(written) as made:
        yield made


@dataclass(frozen=True)
class _Folder:
    """The folder of all files, and the numbers of the next ones."""

    path: str
    numbers: Iterator[int]

    def written(
        self,
        frame: DataFrame,
        make: Callable[[Batches], Iterator[Numbers]],
        names: Sequence[str],
    ) -> OnSpark:
        """The rows made of each partition, written, with a number for each row."""

        def work(batches: Batches) -> Batches:
            from pyspark import TaskContext

            context = TaskContext.get()
            assert context is not None  # noqa: S101 - this runs in a task
            place = context.partitionId() << _PART
            for made in make(batches):
                rows = np.arange(place, place + len(made))
                place += len(made)
                yield _batch([_ROW, *names], [rows, *made.T])

        made = None
        with _asked(frame):
            made = frame.mapInArrow(_silent(work), _kinds([_ROW, *names]))
        if made is None:
            raise EngineFault(FAULT)
        return self.numbered(made, names)

    def fresh(self) -> str:
        """A path for new files."""
        return f"{self.path}/{next(self.numbers)}"

    def numbered(self, frame: DataFrame, names: Sequence[str]) -> OnSpark:
        """Rows that have their numbers, written."""
        path = self.fresh()
        with _asked(frame):
            frame.write.parquet(path)
            found = frame.sparkSession.read.parquet(path)
            part = f"shiftright({_ROW}, {_PART})"
            sizes = found.selectExpr(f"{part} AS p").groupBy("p").count().collect()
            return OnSpark(self, found, tuple(names), {int(p): int(n) for p, n in sizes}, path)
        raise EngineFault(FAULT)


class OnSpark:
    """`Passes` over files of the cluster.

    sizes: how many rows each partition had when they were written.
    """

    def __init__(
        self,
        folder: _Folder,
        frame: DataFrame,
        names: tuple[str, ...],
        sizes: dict[int, int],
        path: str,
    ) -> None:
        self._folder, self._frame, self._names, self._sizes = folder, frame, names, sizes
        self._path = path
        self.rows = sum(sizes.values())

    def only(self, *columns: int) -> OnSpark:
        names = tuple(self._names[j] for j in columns)
        return OnSpark(self._folder, self._frame, names, self._sizes, self._path)

    def forget(self) -> None:
        """Removes the files, where this process can."""
        shutil.rmtree(self._path, ignore_errors=True)

    def sum(self, measure: Callable[[Numbers], Numbers]) -> Numbers:
        width = len(self._names)

        def work(batches: Batches) -> Batches:
            total = None
            for batch in batches:
                found = measure(_matrix(batch, width))
                total = found if total is None else total + found
            if total is not None:
                yield _batch(["part"], [[pickle.dumps(total)]])

        total = measure(np.zeros((0, width), np.int64))
        for batch in self._arrow(self._values().mapInArrow(_silent(work), "part binary")):
            for part in batch.column(0).to_pylist():
                total = total + pickle.loads(part)  # noqa: S301 - made by `work` above
        return total

    @contextmanager
    def map(self, make: Callable[[Numbers], Numbers], sizes: Sequence[int]) -> Iterator[OnSpark]:
        """Other rows in files of their own, with the numbers of those they were made of; if some
        are left out, the others are numbered anew, in the same order."""
        width, names = len(self._names), _names(len(sizes))

        def work(batches: Batches) -> Batches:
            for batch in batches:
                rows = make(_matrix(batch.select(batch.schema.names[1:]), width))
                numbers = batch.column(0).to_numpy()[: len(rows)]
                yield _batch([_ROW, *names], [numbers, *rows.T])

        given = self._frame.select(_ROW, *self._names)
        with _asked(given):
            frame = given.mapInArrow(_silent(work), _kinds([_ROW, *names]))
        made = self._folder.numbered(frame, names)
        if made.rows < self.rows:
            some = made
            ordered = some._frame.orderBy(_ROW).select(*names)
            made = self._folder.written(ordered, _as_they_are(len(names)), names)
            some.forget()
        with _until_end(made):
            yield made

    def sort(self, key: Key) -> Iterator[Sequence[Numbers]]:
        """In ranges; a range is fetched when the one before was read."""
        keys = self._keys(lambda rows, _: key(rows))
        return self._columns(keys.orderBy(keys.columns), self.rows)

    def tally(self, key: Key) -> Iterator[Sequence[Numbers]]:
        """Counted where they are, then sorted in ranges."""
        keys = self._keys(lambda rows, _: key(rows))
        counted = keys.groupBy(keys.columns).count().orderBy(keys.columns)
        return self._columns(counted, self.rows, counted=True)

    @contextmanager
    def number(self, key: Key, source: Source) -> Iterator[OnSpark]:
        """Keys and random words sorted in ranges, and their positions joined to the rows."""
        drawn = fresh_key(source)
        keys = self._keys(lambda rows, ids: [*key(rows), *_words(drawn, ids), ids])
        places = self._placed(keys, len(keys.columns) - 1, [_ROW])
        name = f"n{next(self._folder.numbers)}"
        joined = self._frame.join(places, _ROW).selectExpr(_ROW, *self._names, f"place AS {name}")
        with _until_end(self._folder.numbered(joined, [*self._names, name])) as made:
            yield made

    @contextmanager
    def permute(
        self, columns: Sequence[int], label: Callable[[Numbers], Numbers], source: Source
    ) -> Iterator[OnSpark]:
        """Rows by group and random words, values by group, joined by position."""
        key = fresh_key(source)
        drawn = self._keys(lambda rows, ids: [label(rows), *_words(key, ids), ids])
        receivers = self._placed(drawn, 3, [_ROW])
        moved = _names(len(columns), "v")
        givers = self._placed(
            self._keys(lambda rows, ids: [label(rows), ids, *(rows[:, j] for j in columns)]),
            2,
            moved,
        )
        pairs = receivers.join(givers, "place").drop("place")
        replaced = {self._names[j]: name for j, name in zip(columns, moved, strict=True)}
        every = [f"{replaced.get(name, name)} AS {name}" for name in self._names]
        joined = self._frame.join(pairs, _ROW).selectExpr(_ROW, *every)
        with _until_end(self._folder.numbered(joined, self._names)) as made:
            yield made

    @contextmanager
    def shuffle(self, source: Source) -> Iterator[OnSpark]:
        key = fresh_key(source)
        keys = self._keys(lambda rows, numbers: [*_words(key, numbers), *rows.T])
        ordered = keys.orderBy("k0", "k1").select(keys.columns[2:])
        written = self._folder.written(ordered, _as_they_are(len(self._names)), self._names)
        with _until_end(written) as made:
            yield made

    def batches(self) -> Iterator[Numbers]:
        yield np.zeros((0, len(self._names)), np.int64)
        for columns in self._columns(self._frame.orderBy(_ROW).select(*self._names), self.rows):
            yield np.stack(columns, axis=1)

    def write(self, table: Callable[[Numbers], pyarrow.Table], folder: Path) -> Sequence[Part]:
        """A file for each partition, written by the machine that has it."""
        width, where = len(self._names), str(folder)

        def work(batches: Batches) -> Batches:
            from pyspark import TaskContext

            context = TaskContext.get()
            assert context is not None  # noqa: S101 - this runs in a task
            tables = (table(_matrix(batch, width)) for batch in batches)
            part = write_part(tables, Path(where), context.partitionId())
            if part is not None:
                yield _batch(["name", "n", "d"], [[part.name], [part.rows], [part.digest]])

        kinds = "name string, n long, d string"
        with _asked(self._frame):
            found = self._values().mapInArrow(_silent(work), kinds).collect()
            return check_parts([Part(*row) for row in found], self.rows, folder)
        raise EngineFault(FAULT)

    def take(self, numbers: Numbers) -> Numbers:
        """The rows of these numbers, found by a join."""
        import pyarrow

        if not numbers.size:  # of nothing, Spark Connect makes no data frame
            return np.zeros((0, len(self._names)), np.int64)
        parts = np.array(sorted(self._sizes), np.int64)
        ends = np.cumsum([self._sizes[part] for part in parts.tolist()])
        where = np.searchsorted(ends, numbers, side="right")
        begins = np.append(0, ends[:-1])
        ids = (parts[where] << _PART) + numbers - begins[where]
        with _asked(self._frame):
            spark = self._frame.sparkSession
            wanted = spark.createDataFrame(pyarrow.table({_ROW: np.unique(ids)}))
            found = self._frame.join(wanted, _ROW).orderBy(_ROW).toArrow()
            known = found.column(_ROW).to_numpy()
            rows = np.stack([found.column(name).to_numpy() for name in self._names], axis=1)
            taken: Numbers = rows[np.searchsorted(known, ids)]
            return taken
        raise EngineFault(FAULT)

    def _values(self) -> DataFrame:
        return self._frame.select(*self._names)

    def _keys(self, make: Callable[[Numbers, Numbers], Sequence[Numbers]]) -> DataFrame:
        """The columns k0, k1, ... that `make` gives of rows and their numbers."""
        width = len(self._names)
        nothing = np.zeros(0, np.int64)
        names = _names(len(make(np.zeros((0, width), np.int64), nothing)), "k")

        def work(batches: Batches) -> Batches:
            for batch in batches:
                numbers = batch.column(0).to_numpy()
                rows = _matrix(batch.select(batch.schema.names[1:]), width)
                yield _batch(names, make(rows, numbers))

        return self._frame.select(_ROW, *self._names).mapInArrow(_silent(work), _kinds(names))

    def _placed(self, keys: DataFrame, sorted_by: int, names: Sequence[str]) -> DataFrame:
        """The columns of keys after those sorted by, with their position in that order."""
        width = len(names)
        ordered = keys.orderBy(keys.columns[:sorted_by]).select(keys.columns[sorted_by:])
        inner = _names(width, "w")
        made = self._folder.written(ordered, _as_they_are(width), inner)
        begins, total = [], 0
        for part in range(max(made._sizes, default=0) + 1):
            begins.append(total)
            total += made._sizes.get(part, 0)
        home = f"CAST(shiftright({_ROW}, {_PART}) AS INT)"
        inside = f"{_ROW} & {(1 << _PART) - 1}L"
        listed = ", ".join(f"{begin}L" for begin in begins)
        place = f"element_at(array({listed}), {home} + 1) + ({inside}) AS place"
        renamed = [f"{own} AS {name}" for own, name in zip(inner, names, strict=True)]
        return made._frame.selectExpr(place, *renamed)

    def _columns(
        self, frame: DataFrame, rows: int, *, counted: bool = False
    ) -> Iterator[Sequence[Numbers]]:
        left = rows
        for batch in self._arrow(frame):
            columns = [column.to_numpy() for column in batch.columns]
            left -= int(columns[-1].sum()) if counted else batch.num_rows
            yield columns
        if left:
            raise EngineFault(FAULT)

    def _arrow(self, frame: DataFrame) -> Batches:
        """The rows of a data frame, some at a time.

        They come through files: handed over by Spark itself, a whole partition would have to fit
        into the driver's memory.
        """
        import pyarrow.parquet

        path = self._folder.fresh()
        try:
            files = None
            with _asked(frame):
                frame.write.parquet(path)
                files = sorted(Path(path).glob("part-*.parquet"), key=_place_of)
            if files is None:
                raise EngineFault(FAULT)
            for file in files:
                with pyarrow.parquet.ParquetFile(file) as part:
                    yield from part.iter_batches(_BATCH)
        finally:
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _until_end(made: OnSpark) -> Iterator[OnSpark]:
    """Rows whose files are removed with the context."""
    try:
        yield made
    finally:
        made.forget()


def _place_of(file: Path) -> tuple[int, str]:
    """The number of a file's partition, and its name: numbers above 99999 are longer texts."""
    return int(file.name.split("-")[1]), file.name


@contextmanager
def _asked(frame: DataFrame) -> Iterator[None]:
    """Leaves the block where Spark fails, or no machine works for too long.

    The code after the block raises the one fault, out of reach of Spark's error, which may quote a
    value.
    """
    try:
        with quiet(), watched(frame.sparkSession, session.FREE):
            yield
    except (GeneratorExit, EngineFault):
        raise
    except Exception:
        return


def _silent(work: Made) -> Made:
    """The work of a task, whose errors say nothing, for what went wrong may be a value."""

    def done(batches: Batches) -> Batches:
        failed = False
        try:
            yield from work(batches)
        except Exception:
            failed = True
        if failed:  # raised out of reach of the error above
            raise RuntimeError("rows could not be passed over")

    return done


def _as_they_are(width: int) -> Callable[[Batches], Iterator[Numbers]]:
    return lambda batches: (_matrix(batch, width) for batch in batches)


def _words(key: bytes, numbers: Numbers) -> list[Numbers]:
    return [*numbered_words(key, numbers).view(np.int64).T]


def _names(many: int, letter: str = "c") -> list[str]:
    return [f"{letter}{j}" for j in range(many)]


def _kinds(names: Sequence[str]) -> str:
    return ", ".join(f"{name} long" for name in names)


def _matrix(batch: pyarrow.RecordBatch, width: int) -> Numbers:
    found = np.empty((batch.num_rows, width), np.int64, order="F")
    for j in range(width):
        found[:, j] = batch.column(j).to_numpy()
    return found


def _batch(names: Sequence[str], columns: Sequence[Any]) -> pyarrow.RecordBatch:
    import pyarrow

    return pyarrow.RecordBatch.from_arrays([pyarrow.array(one) for one in columns], list(names))
