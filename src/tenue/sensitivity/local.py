"""Local sensitivity: how far one record of *this* table can move an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ..arguments import Number, checked_call, exact
from ..errors import refuse
from .column import Column, as_list, domain, exact_column, exact_pair
from .parameters import PARAMETERS, OrderStatistic, Parameters, order_statistic
from .two_columns import correlation, slope


@checked_call
def local(
    statistic: str,
    values: object,
    *,
    bounds: object = None,
    k: Number | None = None,
    q: Number | None = None,
    low: Number | None = None,
    high: Number | None = None,
    ridge: Number | None = None,
    categories: object = None,
) -> Fraction:
    """The largest move of `statistic` when one record takes any other value of its domain.

    Guarantee
        The exact maximum over all tables that differ from `values` in one record (neighbours are
        "replace", so the number of rows is public). The slope and the correlation have maxima that
        are roots of rationals: there the result is never too small, and too large by a 2**-60 part
        of itself at most. An answer with Laplace noise of scale local / epsilon has individual
        differential privacy.

    What it is not
        It is a fact about the rows, like the answer itself: never show it to an analyst, nor the
        scale or the interval that follows from it. A refusal can be such a fact too (see "slope").
        And noise calibrated to it does **not** give differential privacy: two neighbouring tables
        have different local sensitivities, and the noise distinguishes them.

    Parameters
        statistic:
            "median" (of an even number of rows: the mean of the middle pair), "max", "min",
            "second-max", "kth-largest" and "kth-smallest" with `k`, "quantile" with `q` (the k-th
            smallest for k = max(1, ceil(q * n))), "mean", "sum", "variance" (divisor n),
            "range-count" (rows between `low` and `high`, both included);
            "correlation" of two columns (0 if a column is constant);
            "slope" of the least-squares line of y on x, with `ridge` >= 0 added to the sum of
            squares of x: without a ridge no bound exists when all x but one are equal, and the call
            is refused; with one it never is;
            "mode" of `categories`: 1 if one record can change the most frequent category, else 0
            (ties go to the category named first).
        values: one number per row; for correlation and slope pairs (x, y); for the mode categories.
            A float means its shortest decimal. Values outside the bounds are clamped.
        bounds: (low, high) of the domain as the holder states it; ((low, high), (low, high)) for
            two columns; none for the mode.

    Example
        >>> local("median", [1, 2, 2, 5, 9], bounds=(0, 10))
        Fraction(3, 1)
        >>> local("max", [1, 2, 2, 5, 9], bounds=(0, 10))
        Fraction(4, 1)

    Source
        Soria-Comas et al. 2017, section 6 (ranks of the median corrected);
        correlation, slope and mode are Tenue's own.
    """
    given = Parameters(k=k, q=q, low=low, high=high, ridge=ridge, categories=categories)
    given.check(statistic, bounds)
    return local_given(statistic, values, bounds, given)


def local_given(statistic: str, values: object, bounds: object, given: Parameters) -> Fraction:
    """As `local`, for parameters that were checked."""
    if statistic == "mode":
        return _mode(values, given.categories)
    if statistic in ("correlation", "slope"):
        x, y = exact_pair(values, bounds)
        if statistic == "correlation":
            return correlation(x, y)
        return slope(x, y, Fraction(0) if given.ridge is None else exact(given.ridge, "ridge"))
    column = exact_column(values, bounds)
    if statistic in PARAMETERS:
        return _order(column, order_statistic(statistic, column.rows, k=given.k, q=given.q))
    if statistic == "range-count":
        return _range_count(bounds, (given.low, given.high))
    return _MOMENTS[statistic](column) * column.step ** (2 if statistic == "variance" else 1)


def _order(column: Column, ranks: OrderStatistic) -> Fraction:
    ordered = np.sort(column.steps)

    def at(rank: int) -> int:
        if rank < 1:
            return column.low
        return column.high if rank > column.rows else int(ordered[rank - 1])

    widest = max(at(s) - at(p) for p, s in ranks.windows)
    return Fraction(widest, ranks.count) * column.step


def _sum(column: Column) -> Fraction:
    up, down = column.high - int(column.steps.min()), int(column.steps.max()) - column.low
    return Fraction(max(up, down))


def _variance(column: Column) -> Fraction:
    """Moves a record x to v: (n-1)/n² · ((v - μ)² - (x - μ)²), with μ the mean of the others.

    Upwards the best v is an end of the domain, and the move is a concave parabola in x: its best
    rows are the two beside the vertex. Downwards the best v is μ, and the best x is extreme.
    """
    n = column.rows
    if n == 1:
        return Fraction(0)
    ordered, total = np.sort(column.steps), column.total()
    best = max((n * int(x) - total) ** 2 for x in (ordered[0], ordered[-1]))
    for v in (column.low, column.high):
        # n - 1 times the move is (v - x)·((n-1)·v - 2·total + (n+1)·x)
        vertex = (total + v) // (n + 1)
        after = int(np.searchsorted(ordered, vertex, side="right"))
        for row in ordered[max(0, after - 1) : after + 1]:
            x = int(row)
            best = max(best, (n - 1) * (v - x) * ((n - 1) * v - 2 * total + (n + 1) * x))
    return Fraction(best, n * n * (n - 1))


_MOMENTS: dict[str, Callable[[Column], Fraction]] = {
    "mean": lambda column: _sum(column) / column.rows,
    "sum": _sum,
    "variance": _variance,
}


def _range_count(bounds: object, counted: object) -> Fraction:
    low, high = domain(bounds)
    first, last = domain(counted, "(low, high)")
    holds_all = first <= low and high <= last
    holds_none = last < low or high < first
    return Fraction(0 if holds_all or holds_none else 1)


def _mode(values: object, categories: object) -> Fraction:
    names = as_list(categories)
    declared = _counted(names)
    if not declared or max(declared.values()) > 1:
        raise refuse("sensitivity.categories-not-distinct")
    counts = _counted(as_list(values))
    if not counts or not counts.keys() <= declared.keys():
        raise refuse("sensitivity.values-outside-categories")
    # the most votes win, then the earlier name; the strongest change takes a vote from the winner
    votes = [(counts[name], -place) for place, name in enumerate(names)]
    winner = max(votes)
    loses_to = ((count + 1, place) for count, place in votes if place != winner[1])
    return Fraction(any(rival > (winner[0] - 1, winner[1]) for rival in loses_to))


def _counted(items: list[Any]) -> Counter[Any]:
    try:
        return Counter(items)
    except TypeError:  # a list or a dict cannot name a category
        return Counter()
