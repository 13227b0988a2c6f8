"""One number about the rows: its true value on a grid, and its bounds in any such table.

Rows are whole steps between two ends; everything here is counted in those steps (the variance in
their squares, the slope in steps of y for a step of x). The number of rows is public.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..arguments import Number, above_zero
from ..errors import refuse
from ..sensitivity.column import Column, domain, exact_column, exact_pair
from ..sensitivity.local import local_given
from ..sensitivity.parameters import PARAMETERS, OrderStatistic, Parameters, order_statistic

Columns = tuple[Column, ...]
"""The rows: one column, or x and y."""

PAIRS = ("correlation", "slope")
"""The statistics of two columns."""


@dataclass(frozen=True)
class Statistic:
    """A statistic and its parameters, in steps: rank `k`, quantile `q`, range `between`, `ridge`.

    Guarantee
        Between two tables that differ in one record, `nearest` moves by at most
        ceil(local / grid), and `local` is at most `widest`: rounding is floor(x / grid + 1/2),
        which commutes with whole steps.
    """

    name: str
    k: Number | None = None
    q: Number | None = None
    between: tuple[Number, Number] | None = None
    ridge: Number | None = None

    def __post_init__(self) -> None:
        if self.name == "slope":
            if self.ridge is None:
                raise refuse("mechanism.slope-without-ridge")
            above_zero(self.ridge, "ridge")

    def local(self, columns: Columns) -> Fraction:
        """The most that one record of this table moves the exact value: a fact about the rows."""
        low, high = self.between or (None, None)
        given = Parameters(k=self.k, q=self.q, low=low, high=high, ridge=self.ridge)
        ends = tuple((column.low, column.high) for column in columns)
        if len(columns) == 1:
            return local_given(self.name, columns[0].steps, ends[0], given)
        pairs = np.column_stack([column.steps for column in columns])
        return local_given(self.name, pairs, ends, given)

    def nearest(self, columns: Columns, grid: Fraction) -> int:
        """The true value in steps of `grid`: floor(value / grid + 1/2), exactly."""
        if self.name == "correlation":
            return _nearest_root(_squared_correlation(columns), grid)
        return math.floor(self._value(columns) / grid + Fraction(1, 2))

    def ends(self, columns: Columns) -> tuple[Fraction, Fraction]:
        """The least and the greatest value in any table with as many rows and these bounds."""
        x, n = columns[0], columns[0].rows
        if self.name == "sum":
            return Fraction(n * x.low), Fraction(n * x.high)
        if self.name == "variance":
            return Fraction(0), Fraction((x.high - x.low) ** 2, 4)
        if self.name == "range-count":
            return Fraction(0), Fraction(n)
        if self.name == "correlation":
            return Fraction(-1), Fraction(1)
        if self.name == "slope":
            # |xy| <= sqrt(xx · yy), and sqrt(xx) / (xx + ridge) <= 1 / (2 · sqrt(ridge))
            y = columns[1]
            square = n * Fraction(y.high - y.low) ** 2 / (16 * above_zero(self.ridge, "ridge"))
            steepest = Fraction(math.isqrt(math.ceil(square * 2**40)) + 1, 2**20)
            return -steepest, steepest
        return Fraction(x.low), Fraction(x.high)

    def widest(self, columns: Columns) -> Fraction:
        """The most that one record can move the value in any such table."""
        x = columns[0]
        if self.name in ("sum", "mean"):
            return Fraction(x.high - x.low, 1 if self.name == "sum" else x.rows)
        if self.name == "median":
            return Fraction(x.high - x.low, 2 - x.rows % 2)
        if self.name == "variance":
            return Fraction((x.rows - 1) * (x.high - x.low) ** 2, x.rows**2)
        if self.name == "range-count":
            return Fraction(1)
        low, high = self.ends(columns)
        return high - low

    def _value(self, columns: Columns) -> Fraction:
        x, n = columns[0], columns[0].rows
        if self.name in PARAMETERS:
            return _ranked(x, self.name, self.k, self.q)
        if self.name == "range-count":
            return Fraction(_inside(x, self.between))
        if self.name == "sum":
            return Fraction(x.total())
        if self.name == "mean":
            return Fraction(x.total(), n)
        if self.name == "variance":
            return Fraction(_about_means(x, x), n * n)
        y, ridge = columns[1], above_zero(self.ridge, "ridge")
        return Fraction(_about_means(x, y)) / (_about_means(x, x) + n * ridge)


def columns_of(statistic: str, values: object, bounds: object) -> Columns:
    """The rows that `statistic` is about, clamped to the bounds, as whole steps."""
    if statistic in PAIRS:
        return exact_pair(values, bounds)
    return (exact_column(values, bounds),)


def _ranked(x: Column, name: str, k: Number | None, q: Number | None) -> Fraction:
    ranks = order_statistic(name, x.rows, k=k, q=q)
    return Fraction(total_at(x, ranks), ranks.count)


def total_at(x: Column, ranks: OrderStatistic) -> int:
    """The sum of the values at these ranks."""
    places = list(range(ranks.first - 1, ranks.first - 1 + ranks.count))
    ordered = np.partition(x.steps, places)
    return sum(int(ordered[place]) for place in places)


def _inside(x: Column, between: object) -> int:
    first, last = domain(between, "(low, high)")
    least, most = max(math.ceil(first), x.low), min(math.floor(last), x.high)
    return int(np.count_nonzero((x.steps >= least) & (x.steps <= most)))


def _about_means(x: Column, y: Column) -> int:
    """n times the sum of products about the means."""
    largest = math.prod(max(abs(column.low), abs(column.high)) for column in (x, y))
    fits = object not in (x.steps.dtype, y.steps.dtype) and largest * x.rows < 2**63
    exact: Any = np.int64 if fits else object
    products = int((x.steps.astype(exact) * y.steps.astype(exact)).sum())
    return x.rows * products - x.total() * y.total()


def _squared_correlation(columns: Columns) -> Fraction:
    """The squared correlation with the correlation's sign; 0 if a column is constant."""
    x, y = columns
    both = _about_means(x, x) * _about_means(y, y)
    product = _about_means(x, y)
    return Fraction(product * abs(product), both) if both else Fraction(0)


def _nearest_root(square: Fraction, grid: Fraction) -> int:
    """floor(root / grid + 1/2) of the root that has the sign of `square`.

    With y = 2·|root| / grid this is floor((y + 1) / 2), or -ceil((y - 1) / 2) below zero; there y
    may be replaced by the whole number below it, or above it.
    """
    four = 4 * abs(square) / grid**2
    if square >= 0:
        return (math.isqrt(math.floor(four)) + 1) // 2
    above = math.isqrt(math.ceil(four) - 1) + 1
    return -(above // 2)
