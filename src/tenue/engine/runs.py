"""Sorted rows that come in batches, cut so that those which belong together stay together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .contract import Numbers


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
