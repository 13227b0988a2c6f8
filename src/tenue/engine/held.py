"""Rows of whole numbers that fit into memory, read in passes like those that do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from .contract import Numbers

BATCH = 1 << 18
"""Rows that are looked at together, so that what is made of them stays small."""


class Held:
    """An array as `Passes`: one row for each row, one column for each column."""

    def __init__(self, rows: Numbers) -> None:
        self._rows = rows
        self.rows = len(rows)

    def only(self, *columns: int) -> Held:
        """The same rows with these columns."""
        return Held(np.asfortranarray(self._rows[:, columns]))

    def sum(self, measure: Callable[[Numbers], Numbers]) -> Numbers:
        """What `measure` gives of all rows, a few at a time."""
        total = measure(self._rows[:BATCH])
        for begin in range(BATCH, self.rows, BATCH):
            total = total + measure(self._rows[begin : begin + BATCH])
        return total

    @contextmanager
    def map(self, make: Callable[[Numbers], Numbers], sizes: Sequence[int]) -> Iterator[Held]:
        """Other rows, made of all of these at once."""
        yield Held(make(self._rows))

    def sort(self, key: Callable[[Numbers], Sequence[Numbers]]) -> Iterator[Sequence[Numbers]]:
        """The keys in their order."""
        keys = key(self._rows)
        order = np.lexsort(keys[::-1])
        for begin in range(0, self.rows, BATCH):
            part = order[begin : begin + BATCH]
            yield [column[part] for column in keys]

    def take(self, numbers: Numbers) -> Numbers:
        """The rows of these numbers."""
        return self._rows[numbers]
