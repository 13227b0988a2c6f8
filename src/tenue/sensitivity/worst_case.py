"""Worst-case sensitivity: the most that one unit can move an answer in any table of the schema.

These depend on the question and the schema alone, so they may be printed.

*When is the number of rows public?* Only if a unit is one record, neighbours are "replace", and no
filter, group or missing value decides which rows contribute. In all other cases a replaced record
can enter or leave, and `rows_public` is False, the safe default.

A person holds at most `rows_per_unit` contributing rows. Under "add-or-remove" those rows come or
go; under "replace" one person's rows leave and another's enter.

Source
    The worst case of one row, times the row limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..arguments import Number, checked_call, whole
from ..errors import nearest, refuse
from .column import domain

__all__ = [
    "NEIGHBOURS",
    "count",
    "counts",
    "mean",
    "median",
    "order_statistic",
    "total",
    "totals",
    "variance",
]

NEIGHBOURS = ("replace", "add-or-remove")


@checked_call
def count(*, neighbours: str, rows_per_unit: Number = 1) -> int:
    """One count moves by at most the rows of one unit, under either kind of neighbours.

    Example
        >>> count(neighbours="replace"), count(neighbours="add-or-remove", rows_per_unit=5)
        (1, 5)
    """
    return _check(neighbours, rows_per_unit=rows_per_unit)


@checked_call
def counts(
    *, neighbours: str, answers: object, answers_per_row: object, rows_per_unit: Number = 1
) -> int:
    """Several counts move by at most this much in sum (the L1 sensitivity).

    Parameters
        answers: the number of counts.
        answers_per_row: the most of them that one row can be in; 1 for the cells of a histogram,
            the number of answers if they overlap freely.

    Example
        >>> counts(neighbours="replace", answers=10, answers_per_row=1)
        2
        >>> counts(neighbours="add-or-remove", answers=10, answers_per_row=1)
        1
    """
    _check(neighbours)
    number = whole(answers, "answers", least=1)
    touched = min(number, whole(answers_per_row, "answers_per_row", least=1))
    if neighbours == "replace":
        touched = min(number, 2 * touched)
    return touched * whole(rows_per_unit, "rows_per_unit", least=1)


@checked_call
def total(
    *, bounds: object, neighbours: str, rows_public: bool = False, rows_per_unit: Number = 1
) -> Fraction:
    """One sum of values within `bounds` moves by at most this much.

    Example
        >>> total(bounds=(-3, 10), neighbours="add-or-remove")
        Fraction(10, 1)
        >>> total(bounds=(-3, 10), neighbours="replace")
        Fraction(13, 1)
        >>> total(bounds=(2, 10), neighbours="replace", rows_public=True)
        Fraction(8, 1)
    """
    low, high = domain(bounds)
    limit = _check(neighbours, rows_public, rows_per_unit)
    if rows_public:
        return high - low
    if neighbours == "add-or-remove":
        return limit * max(abs(low), abs(high))
    return limit * (max(high, Fraction(0)) - min(low, Fraction(0)))


@checked_call
def totals(
    *, bounds: Sequence[object], neighbours: str, together: bool, rows_per_unit: Number = 1
) -> Fraction:
    """Several sums, or one sum for each of several groups, move by at most this much in sum (L1).

    Parameters
        bounds: one pair (low, high) for each answer.
        together: True if one row may enter all the sums at once (columns of one row), False if a
            row enters one of them only (groups).

    Example
        >>> totals(bounds=[(0, 10), (-2, 3)], neighbours="replace", together=True)
        Fraction(15, 1)
        >>> totals(bounds=[(0, 10), (0, 10)], neighbours="replace", together=False)
        Fraction(20, 1)
    """
    limit = _check(neighbours, rows_per_unit=rows_per_unit)
    if isinstance(bounds, str) or not isinstance(bounds, Sequence) or not bounds:
        raise refuse("sensitivity.bounds-per-answer")
    domains = [domain(pair, f"bounds[{place}]") for place, pair in enumerate(bounds)]
    alone = [total(bounds=x, neighbours=neighbours) for x in domains]
    if together:
        return limit * sum(alone, Fraction(0))
    largest = sorted((max(abs(low), abs(high)) for low, high in domains), reverse=True)
    if neighbours == "add-or-remove":
        return limit * largest[0]
    # the old row leaves one group and the new row enters another, or both are in one group
    return limit * max(sum(largest[:2], Fraction(0)), max(alone))


@checked_call
def mean(*, bounds: object, rows: object, neighbours: str) -> Fraction:
    """The mean of a public number of rows moves by at most the range over that number.

    Refused under "add-or-remove", where the number of rows is secret: release sum and count.

    Example
        >>> mean(bounds=(0, 100), rows=50, neighbours="replace")
        Fraction(2, 1)
    """
    low, high, n = _public(bounds, rows, neighbours)
    return (high - low) / n


@checked_call
def variance(*, bounds: object, rows: object, neighbours: str) -> Fraction:
    """The variance (divisor n) of a public number of rows moves by at most (n-1)/n² · range².

    Example
        >>> variance(bounds=(0, 10), rows=5, neighbours="replace")
        Fraction(16, 1)
    """
    low, high, n = _public(bounds, rows, neighbours)
    return Fraction(n - 1, n * n) * (high - low) ** 2


@checked_call
def median(*, bounds: object, rows: object, neighbours: str) -> Fraction:
    """The median moves by the range at most, or by half of it if the number of rows is even.

    Example
        >>> median(bounds=(0, 10), rows=5, neighbours="replace")
        Fraction(10, 1)
        >>> median(bounds=(0, 10), rows=4, neighbours="replace")
        Fraction(5, 1)
    """
    low, high, n = _public(bounds, rows, neighbours)
    return (high - low) / (2 - n % 2)


@checked_call
def order_statistic(*, bounds: object) -> Fraction:
    """A minimum, maximum, quantile or k-th value moves by the range at most.

    Example
        >>> order_statistic(bounds=(0, 10))
        Fraction(10, 1)
    """
    low, high = domain(bounds)
    return high - low


def _check(neighbours: str, rows_public: bool = False, rows_per_unit: Number = 1) -> int:
    if neighbours not in NEIGHBOURS:
        near = nearest(str(neighbours), NEIGHBOURS)
        raise refuse(
            "sensitivity.sensitivity-unknown-neighbours", neighbours=neighbours, nearest=near
        )
    limit = whole(rows_per_unit, "rows_per_unit", least=1)
    if rows_public and (neighbours != "replace" or limit != 1):
        raise refuse("sensitivity.row-count-not-public")
    return limit


def _public(bounds: object, rows: object, neighbours: str) -> tuple[Fraction, Fraction, int]:
    _check(neighbours, rows_public=True)
    low, high = domain(bounds)
    return low, high, whole(rows, "rows", least=1)
