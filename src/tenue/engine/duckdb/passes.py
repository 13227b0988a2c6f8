"""Rows of whole numbers in files of a private folder, read in passes and sorted on disk.

Each column is a file of its own, in the smallest whole numbers that hold it. A pass reads some rows
at a time, so that what it holds in memory does not grow with the table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ...errors import EngineFault
from ...noise.source import Source
from ..contract import FAULT, Numbers, Part
from ..passes.parquet_parts import one_part
from ..passes.sorted_runs import WORDS, all_different, random_words, until_different
from ..scratch import Scratch
from .sandbox import limited, quiet

if TYPE_CHECKING:
    import pyarrow

_MERGE = 1 << 24
"""Runs that lie on disk are merged with a block of each in memory: there are about as many as the
table is larger than memory, so that memory must be at least √(table · this)."""
_KINDS = (np.uint8, np.uint16, np.uint32, np.int64)


@contextmanager
def keep(
    fill: Callable[[Callable[[Numbers], None]], None],
    sizes: Sequence[int],
    *,
    memory: int,
    batch: int,
) -> Iterator[OnDisk]:
    """The rows that `fill` hands over, as `Passes`; all files are removed at the end.

    Parameters
        fill: is given what takes a batch: a row for each row, a column for each column.
        sizes: the numbers of column j are at least 0 and below `sizes[j]`.
        memory: how many bytes sorting may hold; more for a table that is very much larger.
        batch: how many rows are read at a time.
    """
    scratch = Scratch()
    try:
        place = _Place(scratch, memory, batch)
        yield place.filled(fill, sizes)
    finally:
        scratch.close()


@dataclass(frozen=True)
class _File:
    """One column on disk."""

    path: Path
    kind: np.dtype[Any]

    def read(self, begin: int, many: int) -> Numbers:
        found = np.fromfile(self.path, self.kind, many, offset=begin * self.kind.itemsize)
        if found.size != many:
            raise EngineFault(FAULT)
        return found


@dataclass(frozen=True)
class _Place:
    """Where files lie, and how much of them is held at a time."""

    scratch: Scratch
    memory: int
    batch: int

    def filled(
        self, fill: Callable[[Callable[[Numbers], None]], None], sizes: Sequence[int]
    ) -> OnDisk:
        folder = Path(mkdtemp(dir=self.scratch.path))
        kinds = [np.dtype(_narrowest(size)) for size in sizes]
        files = tuple(_File(folder / f"{j}.bin", kind) for j, kind in enumerate(kinds))
        rows = 0
        try:
            with ExitStack() as opened:
                sinks: list[IO[bytes]] = [opened.enter_context(f.path.open("wb")) for f in files]

                def take(batch: Numbers) -> None:
                    nonlocal rows
                    for j, (file, sink) in enumerate(zip(files, sinks, strict=True)):
                        sink.write(np.ascontiguousarray(batch[:, j].astype(file.kind)).data)
                    rows += len(batch)

                fill(take)
            return OnDisk(self, files, rows)
        except OSError:
            pass
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
        """The keys of so many rows in their order, sorted by DuckDB, which puts on disk what does
        not fit; each once and with its count, if they are counted."""
        import duckdb
        import pyarrow

        first = next(keys)
        memory = max(self.memory, math.isqrt(_MERGE * 8 * len(first) * rows))
        left = rows
        try:
            with duckdb.connect(":memory:", config=limited(self.scratch, memory)) as sorter:
                quiet(sorter)
                sorter.register("keys", _reader(first, keys))
                # by all columns, so that equal keys are equal rows
                sql = "SELECT *, count(*) FROM keys GROUP BY ALL" if counted else "FROM keys"
                found = sorter.sql(f"{sql} ORDER BY ALL")
                for batch in found.to_arrow_reader(self.batch):
                    columns = [column.to_numpy() for column in batch.columns]
                    left -= int(columns[-1].sum()) if counted else batch.num_rows
                    yield columns
                if left == 0:
                    return
        except (duckdb.Error, pyarrow.ArrowException, OSError):
            pass
        # raised out of reach of the error above, which may quote a value
        raise EngineFault(FAULT)


class OnDisk:
    """The rows, as `Passes` says."""

    def __init__(self, place: _Place, files: tuple[_File, ...], rows: int) -> None:
        self._place, self._files = place, files
        self.rows = rows

    def only(self, *columns: int) -> OnDisk:
        """The same files, without the others."""
        return OnDisk(self._place, tuple(self._files[j] for j in columns), self.rows)

    def sum(self, measure: Callable[[Numbers], Numbers]) -> Numbers:
        """What `measure` gives, added up batch by batch."""
        batches = self.batches()
        total = measure(next(batches))
        for batch in batches:
            total = total + measure(batch)
        return total

    @contextmanager
    def map(self, make: Callable[[Numbers], Numbers], sizes: Sequence[int]) -> Iterator[OnDisk]:
        """Other rows in files of their own."""

        def fill(take: Callable[[Numbers], None]) -> None:
            for batch in self.batches():
                take(make(batch))

        with _until_end(self._place.filled(fill, sizes)) as made:
            yield made

    def sort(self, key: Callable[[Numbers], Sequence[Numbers]]) -> Iterator[Sequence[Numbers]]:
        """The keys, in one sort."""
        return self._place.ordered((key(batch) for batch in self.batches()), self.rows)

    def tally(self, key: Callable[[Numbers], Sequence[Numbers]]) -> Iterator[Sequence[Numbers]]:
        """The keys, counted before they are sorted."""
        keys = (key(batch) for batch in self.batches())
        return self._place.ordered(keys, self.rows, counted=True)

    @contextmanager
    def number(
        self, key: Callable[[Numbers], Sequence[Numbers]], source: Source
    ) -> Iterator[OnDisk]:
        """Two sorts: rows by their keys and random words, and their places back by row."""
        whole = np.dtype(np.int64)
        with self._in_random_order(key, lambda _, numbers: [numbers], [whole], source) as ordered:
            both = ([row[:, 0], place] for place, row in ordered._numbered())
            places = self._place.kept(
                (batch[1:] for batch in self._place.ordered(both, self.rows)), [whole]
            )
        with _until_end(places):
            yield OnDisk(self._place, (*self._files, *places._files), self.rows)

    @contextmanager
    def permute(
        self, columns: Sequence[int], label: Callable[[Numbers], Numbers], source: Source
    ) -> Iterator[OnDisk]:
        """Three sorts: rows by group and random words, values by group, and both back by row."""
        with ExitStack() as passing:
            whole = np.dtype(np.int64)
            receivers = passing.enter_context(
                self._in_random_order(
                    lambda batch: [label(batch)], lambda _, numbers: [numbers], [whole], source
                )
            )
            givers = passing.enter_context(self._by_group(label, columns))
            pairs = zip(receivers.batches(), givers.batches(), strict=True)
            both = ([*row.T, *values.T] for row, values in pairs)
            moved = self._place.kept(
                (batch[1:] for batch in self._place.ordered(both, self.rows)),
                [self._files[j].kind for j in columns],
            )
        with _until_end(moved):
            new = dict(zip(columns, moved._files, strict=True))
            files = tuple(new.get(j, file) for j, file in enumerate(self._files))
            yield OnDisk(self._place, files, self.rows)

    @contextmanager
    def shuffle(self, source: Source) -> Iterator[OnDisk]:
        """One sort of all columns by random words."""

        kinds = [file.kind for file in self._files]
        with self._in_random_order(
            lambda _: [], lambda batch, _: [*batch.T], kinds, source
        ) as made:
            yield made

    @contextmanager
    def _in_random_order(
        self,
        key: Callable[[Numbers], Sequence[Numbers]],
        carry: Callable[[Numbers, Numbers], list[Numbers]],
        kinds: Sequence[np.dtype[Any]],
        source: Source,
    ) -> Iterator[OnDisk]:
        """What is made of a batch and the numbers of its rows, by key, at random where keys are
        equal."""
        first = len(key(np.zeros((0, len(self._files)), np.int64))) + WORDS

        def keys() -> Iterator[Sequence[Numbers]]:
            for numbers, batch in self._numbered():
                yield [*key(batch), *random_words(len(batch), source), *carry(batch, numbers)]

        def made() -> OnDisk:
            found = self._place.ordered(keys(), self.rows)
            return self._place.kept(all_different(found, first), kinds)

        with _until_end(until_different(made)) as found:
            yield found

    @contextmanager
    def _by_group(
        self, label: Callable[[Numbers], Numbers], columns: Sequence[int]
    ) -> Iterator[OnDisk]:
        keys = (
            [label(batch), numbers, *(batch[:, j] for j in columns)]
            for numbers, batch in self._numbered()
        )
        values = (batch[2:] for batch in self._place.ordered(keys, self.rows))
        with _until_end(self._place.kept(values, [self._files[j].kind for j in columns])) as found:
            yield found

    def _numbered(self) -> Iterator[tuple[Numbers, Numbers]]:
        begin = 0
        for batch in self.batches():
            yield np.arange(begin, begin + len(batch)), batch
            begin += len(batch)

    def write(self, table: Callable[[Numbers], pyarrow.Table], folder: Path) -> Sequence[Part]:
        """One file."""
        return one_part(map(table, self.batches()), folder)

    def take(self, numbers: Numbers) -> Numbers:
        """The rows of these numbers, found in one pass."""
        found, begin = [], 0
        for batch in self.batches():
            here = numbers[(numbers >= begin) & (numbers < begin + len(batch))]
            found.append(batch[here - begin])
            begin += len(batch)
        return np.concatenate(found)

    def batches(self) -> Iterator[Numbers]:
        """Some rows at a time, read from their files."""
        for begin in range(0, max(self.rows, 1), self._place.batch):
            many = min(self._place.batch, self.rows - begin)
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


def _narrowest(size: int) -> type:
    return next(kind for kind in _KINDS if size - 1 <= np.iinfo(kind).max)
