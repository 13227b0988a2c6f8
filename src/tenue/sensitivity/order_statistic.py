"""Which ranks of the sorted rows a statistic looks at.

The rows are x_1 <= ... <= x_n, with x_i = low for i < 1 and x_i = high for i > n. The statistic is
the mean of `count` neighbouring ranks from `first` on: one rank, or the middle pair of an even
median. Replacing one record slides that pair by one rank at most, up or down; so all that matters
are two *windows* of ranks, and how wide they open.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import refuse
from ..number import fraction_of_one, whole

PARAMETERS: dict[str, tuple[str, ...]] = {
    "median": (),
    "max": (),
    "min": (),
    "second-max": (),
    "kth-largest": ("k",),
    "kth-smallest": ("k",),
    "quantile": ("q",),
}
"""The order statistics, and what each needs to be told."""


@dataclass(frozen=True)
class OrderStatistic:
    """The mean of the `count` values at ranks `first`, `first` + 1, ..."""

    first: int
    count: int = 1

    @property
    def windows(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Ranks (p, s): one record moves the answer by at most (x_s - x_p) / count, down or up."""
        below = (self.first - 1, self.first - 1 + self.count)
        return below, (self.first, self.first + self.count)


def order_statistic(statistic: str, n: int, *, k: object, q: object) -> OrderStatistic:
    """The ranks that `statistic` reads among `n` rows.

    Example
        >>> order_statistic("median", 4, k=None, q=None)
        OrderStatistic(first=2, count=2)
        >>> order_statistic("quantile", 10, k=None, q=0.25)
        OrderStatistic(first=3, count=1)
    """
    if statistic == "median":
        return OrderStatistic((n + 1) // 2, 2 - n % 2)
    if statistic == "quantile":
        return OrderStatistic(max(1, math.ceil(fraction_of_one(q, "q") * n)))
    if statistic == "kth-largest":
        return OrderStatistic(n + 1 - _rank(k, n))
    if statistic == "kth-smallest":
        return OrderStatistic(_rank(k, n))
    if statistic == "second-max":
        return OrderStatistic(n + 1 - _rank(2, n))
    return OrderStatistic(1 if statistic == "min" else n)


def _rank(k: object, n: int) -> int:
    rank = whole(k, "k", least=1)
    if rank > n:
        raise refuse("sensitivity.rank-above-rows", rank=rank)
    return rank
