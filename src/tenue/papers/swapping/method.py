"""The three methods that chapter 3 compares, as it ran them: records in file order.

What Tenue publishes is not this: it shuffles records first, and never cuts between equal values.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from ...evaluate import correlation_difference
from ...microdata import Partition, individual_ranking, mdav, permuted
from ...noise import Seeded
from ..data import Columns, Table


def seeded(name: str) -> Seeded:
    return Seeded(zlib.crc32(name.encode()))


def centred(values: Table, groups: Partition) -> Table:
    """Every record replaced by the mean of its group."""
    means = np.array([values[group].mean(axis=0) for group in groups.groups()])
    return np.asarray(means[groups.labels])


def mdav_id(values: Table, k: int) -> Table:
    return centred(values, mdav(values, k))


def mdav_swap(values: Table, confidential: Sequence[int], k: int, source: Seeded) -> Table:
    """Against informed intruders: column after column, grouped by the others as they are then."""
    now = values.copy()
    for j in confidential:
        groups = mdav(np.delete(now, j, axis=1), k)
        now[:, j] = now[permuted(groups.labels, source), j]
    return now


def ir_swap(values: Table, confidential: Sequence[int], k: int, source: Seeded) -> Table:
    """Each column by itself, among records of similar values."""
    now = values.copy()
    for j in confidential:
        groups = individual_ranking(values[:, j], k)
        now[:, j] = values[permuted(groups.labels, source), j]
    return now


SWAPS = {"MDAV-SWAP": mdav_swap, "IR-SWAP": ir_swap}


def correlations(columns: Columns, values: Table) -> Table:
    """Of all pairs of columns once these values are in them."""
    found = correlation_difference(columns.arrow(), columns.replaced(values).arrow())
    places = {name: i for i, name in enumerate(columns.names)}
    made = np.eye(len(places))
    for (a, b), (_, after) in found.pairs.items():
        made[places[a], places[b]] = made[places[b], places[a]] = after
    return made


def change(original: Columns, masked: Table, unchanged: int = 0) -> tuple[float, float]:
    """Mean and deviation of how far correlations moved; pairs of the first columns count as 0."""
    moved = correlation_difference(original.arrow(), original.replaced(masked).arrow())
    if not unchanged:
        return moved.mean, moved.sd
    first = set(original.names[:unchanged])
    apart = np.array(
        [
            0.0 if {a, b} <= first else abs(before - after)
            for (a, b), (before, after) in moved.pairs.items()
        ]
    )
    return float(apart.mean()), float(apart.std())
