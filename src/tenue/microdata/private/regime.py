"""Which way of drawing a private table is taken: by the number of rows, epsilon, and the types and
number of columns; never by a row.

The limits were found by measuring on a few tables (`benchmarks/private_release.py`). They decide
how good the result is, never how private.
"""

from __future__ import annotations

from fractions import Fraction

from .domain import Domain

FEW = 1_000
"""Below so many rows times epsilon no way tells much."""
_PAIRS = 10_000
_MANY_COLUMNS = 5
_DISTINCT = 512
_COPULA_LEAST, _COPULA_MOST = 10, 5_000
_NETWORK_LEAST = 600


def chosen_way(domain: Domain, rows: int, epsilon: Fraction) -> tuple[str, str]:
    """The name of the way, and the reason in a sentence."""
    columns, strength = len(domain.axes), rows * epsilon
    told = f"rows times epsilon is {_short(strength)}"
    numeric = all(axis.ordered for axis in domain.axes)
    if columns == 1:
        if domain.axes[0].ordered:
            return "tree", "one column of numbers: a tree refines where rows are"
        return "columns", "one column of categories: a noisy count for each of them"
    if columns >= _MANY_COLUMNS:
        each = strength / columns
        if numeric:
            if strength < _COPULA_LEAST * columns**2:
                return "columns", f"{told}, too little for relations between {columns} columns"
            if each <= _COPULA_MOST:
                return "copula", f"{columns} columns of numbers and {told}"
            return "network", f"{columns} columns of numbers and {told}: enough for tables"
        if each < _NETWORK_LEAST:
            return "columns", f"{told}, too little for relations between {columns} columns"
        return "network", f"{columns} columns, some of them categories, and {told}"
    if not numeric:
        if strength >= _PAIRS:
            return "two-stage", f"numbers and categories, and {told}: columns first, then pairs"
        return "columns", f"numbers and categories, and {told}: too little for pairs of columns"
    if strength < FEW:
        return "tree", f"{told}, which is little: expect a coarse picture"
    if columns > 2 or any(axis.size <= _DISTINCT for axis in domain.axes):
        return "two-stage", f"{columns} columns of numbers and {told}: columns first, then together"
    return "tree", "two columns of numbers: a tree refines where rows are"


def _short(number: Fraction) -> str:
    return f"{round(number):,}" if number >= 10 else f"{float(number):.2g}"
