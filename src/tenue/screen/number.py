"""One way to write each kind of number."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any


def exactly(number: Fraction) -> str:
    """A rational as people write it: an integer, a finite decimal, or a fraction.

    Example
        >>> exactly(Fraction(3)), exactly(Fraction(-1, 8)), exactly(Fraction(1, 3))
        ('3', '-0.125', '1/3')
    """
    if number.denominator == 1:
        return str(number.numerator)
    bottom = number.denominator
    for prime in (2, 5):
        while bottom % prime == 0:
            bottom //= prime
    if bottom != 1:
        return f"{number.numerator}/{number.denominator}"
    digits = 0
    while (number * 10**digits).denominator != 1:
        digits += 1
    text = f"{int(abs(number) * 10**digits):0{digits + 1}d}"
    return f"{'-' if number < 0 else ''}{text[:-digits]}.{text[-digits:]}"


def shortly(number: float, digits: int = 3) -> str:
    """An error or a distance: few digits, whole from a thousand on.

    Example
        >>> shortly(0.123456), shortly(12345.6), shortly(math.inf), shortly(0.123456, digits=4)
        ('0.123', '12,346', 'infinite', '0.1235')
    """
    if math.isinf(number):
        return "infinite"
    return f"{number:,.0f}" if abs(number) >= 1000 and digits == 3 else f"{number:.{digits}g}"


def plain(value: Any) -> Any:
    """A rational as an int, or the double nearest to it; anything else as it is."""
    if not isinstance(value, Fraction):
        return value
    return int(value) if value.denominator == 1 else nearest_float(value)


def nearest_float(value: Fraction) -> float:
    """The double nearest to a rational, which is infinite for what no double holds.

    Example
        >>> nearest_float(Fraction(1, 10)), nearest_float(Fraction(-(10**400)))
        (0.1, -inf)
    """
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def readable(value: Any) -> str:
    """The value of an answer, with its thousands apart.

    Example
        >>> readable(Fraction(1234567)), readable(0.5), readable("flu"), readable(None)
        ('1,234,567', '0.5', 'flu', 'undefined')
    """
    if value is None:
        return "undefined"
    number = plain(value)
    if isinstance(number, bool) or not isinstance(number, int | float):
        return str(number)
    if isinstance(number, int):
        return f"{number:,}"
    return f"{number:,.0f}" if abs(number) >= 1e5 else f"{number:,.6g}"


def percent(share: float) -> str:
    """A share as people read it.

    Example
        >>> percent(0.5), percent(0.00004), percent(0), percent(0.99999)
        ('50 %', 'less than 0.1 %', '0 %', 'more than 99.9 %')
    """
    if 0 < share < 0.001:
        return "less than 0.1 %"
    if 0.999 < share < 1:
        return "more than 99.9 %"
    return f"{100 * share:.3g} %"


def many(count: int, word: str) -> str:
    """A count and its noun.

    Example
        >>> many(1, "row"), many(1080, "row")
        ('1 row', '1,080 rows')
    """
    return f"{count:,} {word}" + ("" if count == 1 else "s")


def named(names: Iterable[str]) -> str:
    """Names as a list that a sentence can hold.

    Example
        >>> named(["age", "income"])
        '`age`, `income`'
    """
    return ", ".join(f"`{name}`" for name in names)
