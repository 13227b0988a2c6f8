"""Rows of whole numbers that fit into memory, read in passes like those that do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...noise.source import Source
from ..contract import Key, Numbers, Part
from .parquet_parts import one_part
from .sorted_runs import WORDS, all_different, random_words, until_different

if TYPE_CHECKING:
    import pyarrow

BATCH = 1 << 18
"""Rows that are looked at together, so that intermediate results stay small."""


class InMemory:
    """An array as `Passes`: one row for each row, one column for each column."""

    def __init__(self, rows: Numbers) -> None:
        self._rows = rows
        self.rows = len(rows)

    def only(self, *columns: int) -> InMemory:
        return InMemory(np.asfortranarray(self._rows[:, columns]))

    def sum(self, measure: Callable[[Numbers], Numbers]) -> Numbers:
        return reduce(add, map(measure, self.batches()))

    @contextmanager
    def map(self, make: Callable[[Numbers], Numbers], sizes: Sequence[int]) -> Iterator[InMemory]:
        yield InMemory(make(self._rows))

    def sort(self, key: Key) -> Iterator[Sequence[Numbers]]:
        keys = key(self._rows)
        order = np.lexsort(keys[::-1])
        for begin in range(0, self.rows, BATCH):
            part = order[begin : begin + BATCH]
            yield [column[part] for column in keys]

    def tally(self, key: Key) -> Iterator[Sequence[Numbers]]:
        found, counts = np.unique(np.stack(key(self._rows)), axis=1, return_counts=True)
        for begin in range(0, counts.size, BATCH):
            part = slice(begin, begin + BATCH)
            yield [*found[:, part], counts[part]]

    @contextmanager
    def number(self, key: Key, source: Source) -> Iterator[InMemory]:
        place = np.empty(self.rows, np.int64)
        place[_random_order(key(self._rows), source)] = np.arange(self.rows)
        yield InMemory(np.column_stack([self._rows, place]))

    @contextmanager
    def permute(
        self, columns: Sequence[int], label: Callable[[Numbers], Numbers], source: Source
    ) -> Iterator[InMemory]:
        labels = label(self._rows)
        receivers = _random_order([labels], source)
        givers = np.lexsort((labels,))
        made = self._rows.copy()
        for column in columns:
            made[receivers, column] = self._rows[givers, column]
        yield InMemory(made)

    @contextmanager
    def shuffle(self, source: Source) -> Iterator[InMemory]:
        yield InMemory(self._rows[_random_order([np.zeros(self.rows, np.int64)], source)])

    def batches(self) -> Iterator[Numbers]:
        for begin in range(0, max(self.rows, 1), BATCH):
            yield self._rows[begin : begin + BATCH]

    def write(self, table: Callable[[Numbers], pyarrow.Table], folder: Path) -> Sequence[Part]:
        return one_part(map(table, self.batches()), folder)

    def take(self, numbers: Numbers) -> Numbers:
        return self._rows[numbers]


def _random_order(labels: Sequence[Numbers], source: Source) -> Numbers:
    """The row numbers in the order of their labels, those of one label in a random order."""

    def drawn() -> Numbers:
        keys = [*labels, *random_words(labels[0].size, source)]
        order = np.lexsort(keys[::-1])
        ordered = [[column[order] for column in keys] + [order]]
        ((found,),) = all_different(iter(ordered), len(labels) + WORDS)
        return found

    return until_different(drawn)
