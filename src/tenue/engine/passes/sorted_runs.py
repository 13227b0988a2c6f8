"""Sorted rows that come in batches, and a uniformly random order to sort by.

Rows that have different words are in each order with the same probability. Should two rows of a
group have the same words, the sort would decide by something else: then all words are drawn anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from ...noise.source import Source
from ..contract import Numbers


def begins_of(columns: Sequence[Numbers]) -> Numbers:
    """The first row of each run of rows that agree in all these columns."""
    fresh = np.zeros(columns[0].size, np.bool_)
    fresh[:1] = True
    for column in columns:
        fresh[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(fresh)


def whole_runs(batches: Iterator[Sequence[Numbers]], keys: int) -> Iterator[list[Numbers]]:
    """The same rows in batches of whole runs: rows that agree in the first columns.

    A run is held in memory, however long it is.
    """
    rest: list[list[Numbers]] = []
    for batch in batches:
        if batch[0].size == 0:
            continue
        last = int(begins_of(batch[:keys])[-1])
        joins = rest and all(
            held[-1] == column[0]
            for held, column in zip(rest[-1][:keys], batch[:keys], strict=True)
        )
        if rest and (last > 0 or not joins):
            ended = [column[:last] for column in batch]
            yield [np.concatenate(parts) for parts in zip(*rest, ended, strict=True)]
            rest = []
        elif last > 0:
            yield [column[:last] for column in batch]
        rest.append([column[last:] for column in batch])
    if rest:
        yield [np.concatenate(parts) for parts in zip(*rest, strict=True)]


WORDS = 2
"""Random words of 64 bits for each row: a trillion rows all have different ones, except with
probability 2^-48."""

Made = TypeVar("Made")


class _SameWords(Exception):
    """Two rows of a group have the same words."""


def random_words(rows: int, source: Source) -> list[Numbers]:
    """Columns that sort this many rows into a random order."""
    return list(source.words(WORDS * rows, 64).view(np.int64).reshape(WORDS, rows))


def all_different(batches: Iterator[Sequence[Numbers]], columns: int) -> Iterator[list[Numbers]]:
    """The other columns of sorted batches, once it is known that no two rows agree in all of the
    first ones: their group, if any, and their words."""
    last: Numbers | None = None
    for batch in batches:
        keys = np.stack(batch[:columns])
        if last is not None:
            keys = np.concatenate([last, keys], axis=1)
        if (keys[:, 1:] == keys[:, :-1]).all(axis=0).any():
            raise _SameWords
        last = keys[:, -1:]
        yield list(batch[columns:])


def until_different(make: Callable[[], Made]) -> Made:
    """The result of `make`, which is repeated until all words differ."""
    while True:
        try:
            return make()
        except _SameWords:
            continue
