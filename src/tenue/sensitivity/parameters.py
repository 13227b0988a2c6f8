"""The parameters of a statistic of rows, and the ranks that it reads.

The rows are x_1 <= ... <= x_n, with x_i = low for i < 1 and x_i = high for i > n. The statistic is
the mean of `count` neighbouring ranks from `first` on: one rank, or the middle pair of an even
median. Replacing one record slides that pair by one rank at most, up or down; so only two *windows*
of ranks matter, and how wide they open.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ..arguments import Number, fraction_of_one, whole
from ..errors import Refused, nearest, refuse

PARAMETERS: dict[str, tuple[str, ...]] = {
    "median": (),
    "max": (),
    "min": (),
    "second-max": (),
    "kth-largest": ("k",),
    "kth-smallest": ("k",),
    "quantile": ("q",),
}
"""The order statistics, and the parameters of each."""


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


def order_statistic(
    statistic: str, n: int, *, k: Number | None, q: Number | None
) -> OrderStatistic:
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


def _rank(k: Number | None, n: int) -> int:
    rank = whole(k, "k", least=1)
    if rank > n:
        raise refuse("sensitivity.rank-above-rows", rank=rank)
    return rank


# -- The parameters of all statistics, besides rows and bounds -------------------------------------

STATISTICS: dict[str, tuple[str, ...]] = {
    **PARAMETERS,
    "mean": (),
    "sum": (),
    "variance": (),
    "range-count": ("low", "high"),
    "correlation": (),
    "slope": ("ridge",),
    "mode": ("categories",),
}
"""Every statistic `local` knows, and the parameters that belong to it."""

_OPTIONAL = {"ridge"}


def unknown(kind: Literal["local", "smooth"], statistic: object, known: Iterable[str]) -> Refused:
    """The refusal of a statistic that has no known sensitivity of this kind."""
    names, near = ", ".join(f'"{name}"' for name in known), nearest(str(statistic), known)
    return refuse(
        f"sensitivity.unknown-{kind}-sensitivity", statistic=statistic, names=names, nearest=near
    )


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of all statistics, explained in `local`; None if not given."""

    k: Number | None = None
    q: Number | None = None
    low: Number | None = None
    high: Number | None = None
    ridge: Number | None = None
    categories: object = None

    def stated(self) -> dict[str, object]:
        """The parameters that are given."""
        return {name: value for name, value in vars(self).items() if value is not None}

    def check(self, statistic: str, bounds: object) -> None:
        """Refuses unknown statistics, and parameters that are missing or do not belong to one."""
        if not isinstance(statistic, str) or statistic not in STATISTICS:
            raise unknown("local", statistic, STATISTICS)
        stated = self.stated() | ({} if bounds is None else {"bounds": bounds})
        takes = (*STATISTICS[statistic], *(() if statistic == "mode" else ("bounds",)))
        allowed = f'"{statistic}" takes ' + ", ".join(f"`{name}`" for name in takes)
        facts = {"statistic": statistic, "rule": allowed}
        for name in stated:
            if name not in takes:
                raise refuse("sensitivity.statistic-parameter-unused", name=name, **facts)
        for name in takes:
            if name not in stated and name not in _OPTIONAL:
                raise refuse("sensitivity.statistic-parameter-missing", name=name, **facts)
