"""One column of rows, exactly: whole steps of one common unit, clamped to the stated bounds.

Every sensitivity is computed on these integers, so none of them depends on a rounded float.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import exact
from ..errors import Refused, refuse

# Differences of two steps below this stay inside a 64-bit integer.
_SAFE = 2**61
# Up to 15 significant digits, a decimal and its nearest double determine each other.
_DIGITS = 15


@dataclass(frozen=True)
class Column:
    """Rows as whole multiples of `step`, all of them between `low` and `high`.

    `steps` is an int64 array where that cannot overflow, otherwise an array of Python integers.
    """

    steps: NDArray[Any]
    low: int
    high: int
    step: Fraction

    @property
    def rows(self) -> int:
        return len(self.steps)

    def total(self) -> int:
        """The exact sum of the steps."""
        widest = max(abs(self.low), abs(self.high))
        if self.steps.dtype != object and widest * self.rows < 2**63:
            return int(self.steps.sum())
        return sum(self.steps.tolist())


def domain(bounds: object, name: str = "bounds") -> tuple[Fraction, Fraction]:
    """The two ends of a domain, as the holder states them."""
    pair: Any = bounds
    try:
        low, high = pair
    except (TypeError, ValueError):
        raise refuse("sensitivity.not-a-pair", name=name) from None
    ends = exact(low, f"{name}[0]"), exact(high, f"{name}[1]")
    if ends[0] > ends[1]:
        raise refuse("sensitivity.low-above-high", name=name, low=low, high=high)
    return ends


def exact_column(values: object, bounds: object) -> Column:
    """The rows as exact steps, clamped; refused if a row is missing or is not a number."""
    low, high = domain(bounds)
    return _clamped(_array(values), low, high)


def exact_pair(values: object, bounds: object) -> tuple[Column, Column]:
    """Rows of two numbers each as two columns, clamped to the two pairs of bounds."""
    pair: Any = bounds
    try:
        first, second = pair
    except (TypeError, ValueError):
        first = second = None
    if not isinstance(first, Iterable) or not isinstance(second, Iterable):
        raise refuse("sensitivity.two-domains-needed")
    ends = domain(first, "bounds[0]"), domain(second, "bounds[1]")
    if hasattr(values, "__array__"):
        given = np.asarray(values)
        if given.ndim != 2 or given.shape[1] != 2:
            raise refuse("sensitivity.values-not-pairs")
        columns: list[NDArray[Any]] = [given[:, 0], given[:, 1]]
    else:
        items = as_list(values)
        try:
            split = [[x for x, _ in items], [y for _, y in items]]
        except (TypeError, ValueError):
            raise refuse("sensitivity.values-not-pairs") from None
        columns = [_array(part) for part in split]
    return _clamped(columns[0], *ends[0]), _clamped(columns[1], *ends[1])


def as_list(values: object) -> list[Any]:
    """The rows one by one."""
    if not isinstance(values, str | bytes):
        if hasattr(values, "tolist"):
            values = values.tolist()
        try:
            return list(values)  # type: ignore[call-overload, no-any-return]
        except TypeError:
            pass
    raise refuse("sensitivity.values-not-a-column")


def _array(values: object) -> NDArray[Any]:
    if np.ma.is_masked(values):
        raise refuse("sensitivity.values-missing")
    if hasattr(values, "__array__"):
        return np.asarray(values)
    items = as_list(values)
    # numpy would turn [2**60 + 1, 0.5] into doubles; only columns of one plain type are safe
    kinds = set(map(type, items))
    if kinds == {int}:
        try:
            return np.array(items, dtype=np.int64)
        except OverflowError:
            return np.array(items, dtype=object)
    if kinds == {float}:
        return np.array(items, dtype=np.float64)
    return np.fromiter(items, dtype=object, count=len(items))


def _clamped(given: NDArray[Any], low: Fraction, high: Fraction) -> Column:
    if given.ndim != 1:
        raise refuse("sensitivity.values-too-many-dimensions")
    if not given.size:
        raise refuse("sensitivity.values-empty")
    if given.dtype.kind in "iu":
        return _from_integers(given, low, high)
    if given.dtype == np.float64:
        return _from_doubles(given, low, high)
    # numpy's smaller floats keep their own type, for each prints its own shortest decimal
    return _from_numbers(given.tolist() if given.dtype == object else list(given), low, high)


def _from_integers(given: NDArray[Any], low: Fraction, high: Fraction) -> Column:
    unit, bottom, top = _unit(1, low, high)
    if max(abs(bottom), abs(top)) + unit >= _SAFE:
        steps = np.clip(given.astype(object) * unit, bottom, top)
        return Column(steps, bottom, top, Fraction(1, unit))
    if given.dtype.kind == "u":
        given = np.minimum(given, np.uint64(max(0, math.ceil(high))))
    near = np.clip(given.astype(np.int64), math.floor(low), math.ceil(high))
    return Column(np.clip(near * unit, bottom, top), bottom, top, Fraction(1, unit))


def _from_doubles(given: NDArray[Any], low: Fraction, high: Fraction) -> Column:
    if np.isnan(given).any():
        raise refuse("sensitivity.values-missing")
    # Rounding is monotone: a double below the double of the bound means a decimal below the bound.
    below, above = given < _nearest(low), given > _nearest(high)
    whole, power = _decimals(np.where(below | above, 0.0, given))
    unit, bottom, top = _unit(power, low, high)
    if max(abs(bottom), abs(top)) + unit >= _SAFE:
        whole = whole.astype(object)
    steps = np.clip(whole * (unit // power), bottom, top)
    steps[below], steps[above] = bottom, top
    return Column(steps, bottom, top, Fraction(1, unit))


def _decimals(given: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Whole numbers and a power of ten: the shortest decimal of each double is their quotient."""
    largest = np.abs(given).max()
    for places in range(_DIGITS + 1):
        power = 10**places
        if largest * power >= 10**_DIGITS:
            break
        # both are exact in a double, so their quotient is rounded as the decimal would be
        scaled = np.rint(given * power)
        if (scaled / power == given).all():
            return scaled.astype(np.int64), power
    # a double has at most 17 digits, counted from the first digit of the smallest one
    smallest = np.abs(given[given != 0]).min()
    places = max(0, 18 - math.floor(math.log10(smallest)))
    context = Context(prec=30)
    digits = [int(context.scaleb(Decimal(repr(x)), places)) for x in given.tolist()]
    return np.array(digits, dtype=object), 10**places


def _from_numbers(items: Sequence[object], low: Fraction, high: Fraction) -> Column:
    numbers = [_meaning(item, low, high) for item in items]
    unit, bottom, top = _unit(math.lcm(*{x.denominator for x in numbers}), low, high)
    dtype: Any = np.int64 if max(abs(bottom), abs(top)) < _SAFE else object
    steps = np.array([x.numerator * (unit // x.denominator) for x in numbers], dtype=dtype)
    return Column(steps, bottom, top, Fraction(1, unit))


def _unit(parts: int, low: Fraction, high: Fraction) -> tuple[int, int, int]:
    unit = math.lcm(parts, low.denominator, high.denominator)
    return unit, int(low * unit), int(high * unit)


def _nearest(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _meaning(value: object, low: Fraction, high: Fraction) -> Fraction:
    if isinstance(value, float | np.floating | Decimal):
        if value.is_nan() if isinstance(value, Decimal) else value != value:
            raise refuse("sensitivity.values-missing")
        if math.isinf(value):
            return high if value > 0 else low
    if value is None:
        raise refuse("sensitivity.values-missing")
    try:
        return min(max(exact(value, "values"), low), high)
    except Refused:
        # the refusal of one number quotes it, and a row must not be quoted
        raise refuse("sensitivity.values-not-numbers") from None
