"""Algorithm 6.2 as printed: a reproduction, WITHOUT a guarantee.

Nothing here is differentially private at the ε it names. One changed record can move every
centroid; the printed scale pays for one of them, and once for all attributes together. It is built
here from public parts so that the printed tables can be met, and nowhere else.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...evaluate import record_linkage, sse
from ...microdata import mdav
from ...noise import Laplace, Seeded
from ..data import Columns, Data, Table

Labels = NDArray[np.int64]
FOUR = ("FEDTAX", "POTHVAL", "INTVAL", "FICA")
RUNS = 10
"""The thesis averages over ten runs."""
COLUMNS = {"SSE_f": "SSE_0; SSE_f", "RL_f": "RL_0 (%); RL_f", "Score": "Score"}
"""Of the tables: the first of every few rows is what the others are measured against."""


class Run(NamedTuple):
    """What one masked table is measured by: squared error, linkage in percent, the table."""

    sse: float
    linkage: float
    values: Table


def four(data: Data) -> Columns:
    """The four attributes of Census that chapter 6 masks."""
    return data.census.only(FOUR)


def tops(columns: Columns) -> Table:
    """The upper ends of the domains, 1.5 times what the data hold: itself a leak."""
    return np.asarray(1.5 * columns.values.max(axis=0))


def centred(values: Table, labels: Labels) -> Table:
    sums = np.array([np.bincount(labels, column) for column in values.T]).T
    return np.asarray((sums / np.bincount(labels)[:, None])[labels])


def by_mdav(columns: Columns, k: int) -> Table:
    scale = tops(columns).tolist()
    return centred(columns.values, mdav(columns.values, k, scale=scale).labels)


def by_corners(columns: Columns, k: int) -> Table:
    """Algorithm 6.1 around the corners of the data's box: 0000, 1111, 0001, 1110, …, 0111, 1000.

    `tn.microdata.reference_points` takes corners in the order that the text describes; the printed
    numbers come out with this one.
    """
    values, top = columns.values, columns.values.max(axis=0)
    bits = [np.array([int(bit) for bit in f"{i:04b}"]) for i in range(16)]
    order = [corner for i in range(8) for corner in (bits[i], bits[15 - i])]
    placed, live = values / top, np.arange(len(values))
    labels = np.empty(live.size, np.int64)
    group = 0
    while live.size >= 2 * k:
        away = ((placed[live] - order[group % 16]) ** 2).sum(axis=1)
        nearest = np.argsort(away, kind="stable")[:k]
        labels[live[nearest]] = group
        live = np.delete(live, nearest)
        group += 1
    labels[live] = group
    return centred(values, labels)


def measured(columns: Columns, values: Table) -> Run:
    masked, scale = columns.replaced(values).arrow(), tops(columns).tolist()
    linked = record_linkage(columns.arrow(), masked, scale=scale)
    return Run(sse(columns.arrow(), masked), 100 * linked, values)


def printed_runs(columns: Columns, k: int, epsilon: str, runs: int = RUNS) -> list[Run]:
    """Masked as printed: noise of scale 1.5·max/(kε) on every value of every record."""
    centre = columns.values if k == 1 else by_corners(columns, k)
    top = tops(columns)
    source = Seeded(zlib.crc32(f"chapter 6, k = {k}, ε = {epsilon}".encode()))
    law = Laplace(sensitivity=1, epsilon=epsilon)
    found = []
    for _ in range(runs):
        noise = np.asarray(law.sample(centre.size, source=source)).reshape(centre.shape)
        found.append(measured(columns, np.clip(centre + noise * top / k, 0, top)))
    return found
