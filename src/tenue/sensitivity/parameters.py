"""What a statistic of rows is given besides the rows, and which ranks it looks at.

The rows are x_1 <= ... <= x_n, with x_i = low for i < 1 and x_i = high for i > n. The statistic is
the mean of `count` neighbouring ranks from `first` on: one rank, or the middle pair of an even
median. Replacing one record slides that pair by one rank at most, up or down; so all that matters
are two *windows* of ranks, and how wide they open.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Literal

from ..arguments import fraction_of_one, whole
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


# -- What a statistic of rows is told besides the rows and their bounds ----------------------------

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
    """Those of all statistics; None where one is not given. See `local` for what they mean."""

    k: object = None
    q: object = None
    low: object = None
    high: object = None
    ridge: object = None
    categories: object = None

    def stated(self) -> dict[str, object]:
        """Those that are given."""
        every = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in every.items() if value is not None}

    def check(self, statistic: str, bounds: object) -> None:
        """Refuses a statistic that is not known, and parameters that it lacks or does not have."""
        if not isinstance(statistic, str) or statistic not in STATISTICS:
            raise unknown("local", statistic, STATISTICS)
        stated = self.stated() | ({} if bounds is None else {"bounds": bounds})
        takes = (*STATISTICS[statistic], *(() if statistic == "mode" else ("bounds",)))
        allowed = f'"{statistic}" takes ' + ", ".join(f"`{name}`" for name in takes)
        for name in stated:
            if name not in takes:
                raise refuse(
                    "sensitivity.statistic-parameter-unused",
                    statistic=statistic,
                    name=name,
                    rule=allowed,
                )
        for name in takes:
            if name not in stated and name not in _OPTIONAL:
                raise refuse(
                    "sensitivity.statistic-parameter-missing",
                    statistic=statistic,
                    name=name,
                    rule=allowed,
                )
