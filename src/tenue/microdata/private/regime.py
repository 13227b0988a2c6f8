"""Which way of drawing a private table is taken: by the number of rows, epsilon, and the types and
number of columns; never by a row.

The limits were found by measuring on a few tables (`benchmarks/private_release.py`). They decide
how good the result is, never how private.
"""

from __future__ import annotations

from fractions import Fraction

from ...screen.page import sentence
from .domain import Domain

FEW = 1_000
"""Below so many rows times epsilon no way tells much."""
_PAIRS = 10_000
_MANY_COLUMNS, _MANY_MIXED = 5, 6
"""From so many columns on other ways are taken; the latter where some are numbers, some not."""
_DISTINCT = 512
_COPULA_LEAST, _COPULA_MOST = 10, 75_000
_NETWORK_LEAST = 600
_NUMBERS_LEAST, _NUMBERS_MOST = 250, 2_000
"""Between so many rows times epsilon a column, some of many columns that are numbers are worth more
together than a network of all."""
_COLUMNS_LEAST = 40
"""Below so many rows times epsilon a column, each of few columns by itself has too little."""
_COPULA_OF_FEW = 2_500
"""Up to so many rows times epsilon a column, a correlation of each two of few columns tells more
than a closer look."""
_TREE_OF_TWO = 50_000
"""From so many rows times epsilon on, a tree of two columns is finer than tables of groups."""


def chosen_way(domain: Domain, rows: int, epsilon: Fraction) -> tuple[str, str]:
    """The name of the way, and the reason in a sentence."""
    columns, strength = len(domain.axes), rows * epsilon
    told = f"rows times epsilon is {_short(strength)}"
    little = f"{sentence(told)}, too little to see how {columns} columns depend on each other."
    numeric = all(axis.ordered for axis in domain.axes)
    if columns == 1:
        if domain.axes[0].ordered:
            return (
                "tree",
                "There is one column of numbers, and a tree looks closer where more rows are.",
            )
        return "columns", "There is one column of categories, and each gets a noisy count."
    several = sum(axis.ordered for axis in domain.axes) > 1
    if columns >= (_MANY_MIXED if several and not numeric else _MANY_COLUMNS):
        each = strength / columns
        if numeric:
            if strength < _COPULA_LEAST * columns**2:
                return "columns", little
            enough = f"There are {columns} columns of numbers, and {told}: enough for"
            if each <= _COPULA_MOST:
                return "copula", f"{enough} a correlation of each two."
            return "network", f"{enough} tables of two or three."
        if several and _NUMBERS_LEAST <= each < _NUMBERS_MOST:
            joined = "one table of the numbers" if strength < _PAIRS else "tables of two"
            mixed = f"There are {columns} columns, not all of numbers, and {told}"
            return "two-stage", f"{mixed}: enough for {joined}."
        if each < _NETWORK_LEAST:
            return "columns", little
        enough = "enough for tables of two or three."
        return "network", f"There are {columns} columns, not all of numbers, and {told}: {enough}"
    if not numeric:
        mixed = f"There are {columns} columns, not all of numbers, and {told}"
        if strength >= _PAIRS:
            return "two-stage", f"{mixed}: enough for tables of two."
        if strength >= FEW and several:
            return "two-stage", f"{mixed}: enough for one table of the numbers."
        return "columns", f"{mixed}: too little for tables of two."
    if strength < FEW:
        # made-up tables of three and four columns with 2,000 rows: at epsilon .05 a tree halves the
        # distances of skewed ones and is a third worse on normal ones; at .2 columns alone win
        least = columns == 2 or strength < _COLUMNS_LEAST * columns
        way = "tree" if least else "columns"
        return way, f"{sentence(told)}, which is little: expect a coarse picture."
    # one column of few values among finer ones does not keep these from following a normal law
    heaped = all(axis.size <= _DISTINCT for axis in domain.axes)
    if not heaped and strength <= _COPULA_OF_FEW * columns:
        enough = "enough for a correlation of each two."
        return "copula", f"There are {columns} columns of numbers, and {told}: {enough}"
    if columns > 2 or heaped or strength < _TREE_OF_TWO:
        seen = "enough to see each by itself, then all together."
        return "two-stage", f"There are {columns} columns of numbers, and {told}: {seen}"
    return "tree", "There are two columns of numbers, and a tree looks closer where more rows are."


def _short(number: Fraction) -> str:
    return f"{round(number):,}" if number >= 10 else f"{float(number):.2g}"
