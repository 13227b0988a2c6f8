"""The rows that are made of noisy means: post-processing, which reads no record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....noise.source import Source
from ..domain import Places
from .line import MeaningLine, NumberLine
from .smoothing import Reals, spread


@dataclass(frozen=True)
class Means:
    """The noisy means of groups, each as often as its group has records.

    k, groups: ranks i·k and more, up to the next, are group i; the last has the rest.
    columns: how many the table has.
    numbers, categories: of each column its mean, or its category, in every group.
    spread: whether numbers are spread between neighbouring groups.
    """

    k: int
    groups: int
    columns: int
    numbers: tuple[tuple[NumberLine, Reals], ...]
    categories: tuple[tuple[MeaningLine, NDArray[np.int64]], ...]
    spread: bool

    def block(self, rows: range, source: Source) -> Places:
        """These rows of the groups one after the other."""
        group = group_of(np.arange(rows.start, rows.stop, rows.step), self.k, self.groups)
        found = np.empty((group.size, self.columns), np.int64)
        for line, means in self.numbers:
            if self.spread:
                found[:, line.place] = line.places(spread(means, group, source))
            else:
                found[:, line.place] = line.places(means)[group]
        for category, chosen in self.categories:
            found[:, category.place] = chosen[group]
        return found


def group_of(ranks: NDArray[np.int64], k: int, groups: int) -> NDArray[np.int64]:
    """The group of each rank."""
    return np.minimum(ranks // k, groups - 1)
