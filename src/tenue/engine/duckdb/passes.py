"""Rows of whole numbers in files of a private folder, read in passes and sorted on disk.

Each column is a file of its own, in the smallest whole numbers that hold it. A pass reads some rows
at a time, so that what it holds in memory does not grow with the table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import add
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import EngineFault
from ...noise.source import Source
from ..contract import FAULT, Key, Numbers, Part
from ..passes.parquet_parts import one_part
from ..passes.sorted_runs import WORDS, all_different, random_words, until_different
from ..scratch import Scratch
from .sandbox import quiet, settings

if TYPE_CHECKING:
    import pyarrow

_MERGE = 1 << 24
"""Sorted runs on disk are merged with a block of each in memory. Their number is about table size
over memory, so that memory must be at least √(table · this)."""
_KINDS = (np.uint8, np.uint16, np.uint32, np.int64)
_WHOLE = np.dtype(np.int64)

Fill = Callable[[Callable[[Numbers], None]], None]
"""Calls its argument with one batch after the other."""


@contextmanager
def keep(fill: Fill, sizes: Sequence[int], *, memory: int, batch: int) -> Iterator[OnDisk]:
    """The rows that `fill` hands over, as `keep_rows` says; all files are removed at the end.

    A table that is very much larger than `memory` needs more of it.
    """
    scratch = Scratch()
    try:
        yield _Folder(scratch, memory, batch).filled(fill, sizes)
    finally:
        scratch.close()


@dataclass(frozen=True)
class _File:
    path: Path
    kind: np.dtype[Any]

    def read(self, begin: int, many: int) -> Numbers:
        found = np.fromfile(self.path, self.kind, many, offset=begin * self.kind.itemsize)
        if found.size != many:
            raise EngineFault(FAULT)
        return found


@dataclass(frozen=True)
class _Folder:
    """The folder of all files, how many bytes sorting may hold, and how many rows a batch has."""

    scratch: Scratch
    memory: int
    batch: int

    def filled(self, fill: Fill, sizes: Sequence[int]) -> OnDisk:
        folder = Path(mkdtemp(dir=self.scratch.path))
        files = tuple(_File(folder / f"{j}.bin", _narrowest(size)) for j, size in enumerate(sizes))
        rows = 0
        with suppress(OSError):
            with ExitStack() as opened:
                sinks = [opened.enter_context(file.path.open("wb")) for file in files]

                def take(batch: Numbers) -> None:
                    nonlocal rows
                    for j, (file, sink) in enumerate(zip(files, sinks, strict=True)):
                        sink.write(np.ascontiguousarray(batch[:, j].astype(file.kind)).data)
                    rows += len(batch)

                fill(take)
            return OnDisk(self, files, rows)
        raise EngineFault(FAULT)

    def kept(self, batches: Iterator[Sequence[Numbers]], kinds: Sequence[np.dtype[Any]]) -> OnDisk:
        """Rows that come as columns, in files of these kinds."""

        def fill(take: Callable[[Numbers], None]) -> None:
            for batch in batches:
                take(np.stack(batch, axis=1))

        return self.filled(fill, [int(np.iinfo(kind).max) + 1 for kind in kinds])

    def ordered(
        self, keys: Iterator[Sequence[Numbers]], rows: int, *, counted: bool = False
    ) -> Iterator[Sequence[Numbers]]:
        """The keys in their order, sorted by DuckDB, which puts on disk what does not fit; if they
        are counted, each once and with its count. There must be `rows` of them."""
        import duckdb
        import pyarrow

        first = next(keys)
        memory = max(self.memory, math.isqrt(_MERGE * 8 * len(first) * rows))
        left = rows
        with (
            suppress(duckdb.Error, pyarrow.ArrowException, OSError),
            duckdb.connect(":memory:", config=settings(self.scratch, memory)) as sorter,
        ):
            quiet(sorter)
            sorter.register("keys", _reader(first, keys))
            # by all columns, so that equal keys are equal rows
            sql = "SELECT *, count(*) FROM keys GROUP BY ALL" if counted else "FROM keys"
            for batch in sorter.sql(f"{sql} ORDER BY ALL").to_arrow_reader(self.batch):
                columns = [column.to_numpy() for column in batch.columns]
                left -= int(columns[-1].sum()) if counted else batch.num_rows
                yield columns
            if left == 0:
                return
        # raised out of reach of the error above, which may quote a value
        raise EngineFault(FAULT)


class OnDisk:
    """`Passes` over columns in files."""

    def __init__(self, folder: _Folder, files: tuple[_File, ...], rows: int) -> None:
        self._folder, self._files = folder, files
        self.rows = rows

    def only(self, *columns: int) -> OnDisk:
        return OnDisk(self._folder, tuple(self._files[j] for j in columns), self.rows)

    def sum(self, measure: Callable[[Numbers], Numbers]) -> Numbers:
        return reduce(add, map(measure, self.batches()))

    @contextmanager
    def map(self, make: Callable[[Numbers], Numbers], sizes: Sequence[int]) -> Iterator[OnDisk]:
        def fill(take: Callable[[Numbers], None]) -> None:
            for batch in self.batches():
                take(make(batch))

        with _until_end(self._folder.filled(fill, sizes)) as made:
            yield made

    def sort(self, key: Key) -> Iterator[Sequence[Numbers]]:
        return self._folder.ordered((key(batch) for batch in self.batches()), self.rows)

    def tally(self, key: Key) -> Iterator[Sequence[Numbers]]:
        keys = (key(batch) for batch in self.batches())
        return self._folder.ordered(keys, self.rows, counted=True)

    @contextmanager
    def number(self, key: Key, source: Source) -> Iterator[OnDisk]:
        """Two sorts: rows by their keys and random words, and their positions back by row."""
        with self._receivers(key, source) as receivers:
            pairs = ([row[:, 0], position] for position, row in receivers._numbered())
            positions = self._sorted(pairs, 1, [_WHOLE])
        with _until_end(positions):
            yield OnDisk(self._folder, (*self._files, *positions._files), self.rows)

    @contextmanager
    def permute(
        self, columns: Sequence[int], label: Callable[[Numbers], Numbers], source: Source
    ) -> Iterator[OnDisk]:
        """Three sorts: rows by group and random words, values by group, and both back by row."""
        kinds = [self._files[j].kind for j in columns]
        by_group = (
            [label(batch), numbers, *(batch[:, j] for j in columns)]
            for numbers, batch in self._numbered()
        )
        with (
            self._receivers(lambda batch: [label(batch)], source) as receivers,
            _until_end(self._sorted(by_group, 2, kinds)) as givers,
        ):
            pairs = zip(receivers.batches(), givers.batches(), strict=True)
            moved = self._sorted(([*row.T, *values.T] for row, values in pairs), 1, kinds)
        with _until_end(moved):
            new = dict(zip(columns, moved._files, strict=True))
            files = tuple(new.get(j, file) for j, file in enumerate(self._files))
            yield OnDisk(self._folder, files, self.rows)

    @contextmanager
    def shuffle(self, source: Source) -> Iterator[OnDisk]:
        """One sort of all columns by random words."""
        kinds = [file.kind for file in self._files]
        with self._shuffled(lambda _: [], lambda batch, _: [*batch.T], kinds, source) as made:
            yield made

    def _receivers(self, key: Key, source: Source) -> AbstractContextManager[OnDisk]:
        """The numbers of rows, by key, at random where keys are equal."""
        return self._shuffled(key, lambda _, numbers: [numbers], [_WHOLE], source)

    def _shuffled(
        self,
        key: Key,
        carry: Callable[[Numbers, Numbers], list[Numbers]],
        kinds: Sequence[np.dtype[Any]],
        source: Source,
    ) -> AbstractContextManager[OnDisk]:
        """The columns that `carry` makes of a batch and the numbers of its rows, by key, at random
        where keys are equal."""
        first = len(key(np.zeros((0, len(self._files)), np.int64))) + WORDS

        def keys() -> Iterator[Sequence[Numbers]]:
            for numbers, batch in self._numbered():
                yield [*key(batch), *random_words(len(batch), source), *carry(batch, numbers)]

        def drawn() -> OnDisk:
            ordered = self._folder.ordered(keys(), self.rows)
            return self._folder.kept(all_different(ordered, first), kinds)

        return _until_end(until_different(drawn))

    def _sorted(
        self, keys: Iterator[Sequence[Numbers]], first: int, kinds: Sequence[np.dtype[Any]]
    ) -> OnDisk:
        """The columns from the `first` on, sorted by all of them."""
        ordered = self._folder.ordered(keys, self.rows)
        return self._folder.kept((batch[first:] for batch in ordered), kinds)

    def _numbered(self) -> Iterator[tuple[Numbers, Numbers]]:
        begin = 0
        for batch in self.batches():
            yield np.arange(begin, begin + len(batch)), batch
            begin += len(batch)

    def write(self, table: Callable[[Numbers], pyarrow.Table], folder: Path) -> Sequence[Part]:
        return one_part(map(table, self.batches()), folder)

    def take(self, numbers: Numbers) -> Numbers:
        found, begin = [], 0
        for batch in self.batches():
            here = numbers[(numbers >= begin) & (numbers < begin + len(batch))]
            found.append(batch[here - begin])
            begin += len(batch)
        return np.concatenate(found)

    def batches(self) -> Iterator[Numbers]:
        for begin in range(0, max(self.rows, 1), self._folder.batch):
            many = min(self._folder.batch, self.rows - begin)
            made = np.empty((many, len(self._files)), np.int64, order="F")
            for j, file in enumerate(self._files):
                made[:, j] = file.read(begin, many)
            yield made


@contextmanager
def _until_end(made: OnDisk) -> Iterator[OnDisk]:
    """Rows whose files are removed with the context."""
    try:
        yield made
    finally:
        for file in made._files:
            file.path.unlink(missing_ok=True)


def _reader(
    first: Sequence[Numbers], keys: Iterator[Sequence[Numbers]]
) -> pyarrow.RecordBatchReader:
    import pyarrow as pa

    schema = pa.schema([(f"k{j}", pa.int64()) for j in range(len(first))])
    batches = (pa.record_batch(list(columns), schema=schema) for columns in chain([first], keys))
    return pa.RecordBatchReader.from_batches(schema, batches)


def _narrowest(size: int) -> np.dtype[Any]:
    return np.dtype(next(kind for kind in _KINDS if size - 1 <= np.iinfo(kind).max))
