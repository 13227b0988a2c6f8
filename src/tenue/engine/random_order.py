"""A uniformly random order of rows that are sorted elsewhere: random words to sort by.

Rows that have different words are in each order with the same probability. Should two rows of a
group have the same words, the sort would decide by something else: then all words are drawn anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from ..noise.source import Source
from .contract import Numbers

WORDS = 2
"""So many words of 64 bits for each row: those of a trillion rows all differ but for a chance of
2^-48."""

Made = TypeVar("Made")


class _SameWords(Exception):
    """Two rows of a group have the same words."""


def random_words(rows: int, source: Source) -> list[Numbers]:
    """Columns by which so many rows are put into a random order."""
    drawn = source.words(WORDS * rows, 64).view(np.int64)
    return list(drawn.reshape(WORDS, rows))


def all_different(batches: Iterator[Sequence[Numbers]], columns: int) -> Iterator[list[Numbers]]:
    """The other columns of sorted batches, once it is known that no two rows agree in the first
    ones: in their group, if any, and their words."""
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
    """What `make` gives of words that all differ."""
    while True:
        try:
            return make()
        except _SameWords:
            continue
