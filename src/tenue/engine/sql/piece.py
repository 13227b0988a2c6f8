"""The piece of a column's domain that a row is in."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ...schema import Boolean, Bounded, Category, Column
from ..request import Pieces
from .logical import Logical, unfit
from .steps import first_step, last_step
from .whole import Whole, integer


def is_quick(key: Pieces, column: Column) -> bool:
    """Whether the piece of each row is quick to compute: a quotient, or one comparison."""
    if not isinstance(column, Bounded):
        return False
    inside = [s for s in key.starts if first_step(column) < s <= last_step(column)]
    return len(inside) < 2 or _width(inside) is not None


def piece(key: Pieces, logical: Logical) -> str:
    """The SQL of a piece's number; never NULL, for rows without a value have a piece of their own.

    Where pieces are equally wide it is a quotient; else a tree of comparisons, whose depth is the
    logarithm of their number.
    """
    return piece_of(key, logical, logical.value(logical.column(key.column).name))


def piece_of(key: Pieces, logical: Logical, name: str) -> str:
    """The same, given the name of the column's logical value."""
    column = logical.column(key.column)
    missing = key.cells - 1
    if isinstance(column, Bounded):
        steps = Whole(name, first_step(column), last_step(column), logical.dialect)
        found = _of_steps(key.starts, steps)
    elif isinstance(column, Category):
        found = _of_classes(key.classes, name)
    elif isinstance(column, Boolean):
        off, on = key.classes
        found = f"CASE WHEN {name} THEN {on} ELSE {off} END"
    else:
        raise unfit(column, "has no pieces")
    return f"CASE WHEN {name} IS NULL THEN {missing} ELSE {found} END"


def _width(starts: Sequence[int]) -> int | None:
    """How wide pieces are, if all are alike."""
    width = starts[1] - starts[0]
    return width if all(b - a == width for a, b in pairwise(starts)) else None


def _of_steps(starts: Sequence[int], steps: Whole) -> str:
    inside = [start for start in starts if steps.low < start <= steps.high]
    below = sum(start <= steps.low for start in starts)
    if len(inside) < 2:
        return _halved(inside, below, steps.sql)
    width = _width(inside)
    if width is None:
        return _halved(inside, below, steps.sql)
    within = steps.clamp(inside[0] - 1, inside[-1])
    # the lowest piece may be wider than the others: it is where the quotient would be negative
    whole = within.plus(width - inside[0]).clamp(0, width * len(inside))
    return whole.floor_divide(width).plus(below).sql


def _halved(starts: Sequence[int], first: int, steps: str) -> str:
    if not starts:
        return str(first)
    middle = len(starts) // 2
    low = _halved(starts[:middle], first, steps)
    high = _halved(starts[middle + 1 :], first + middle + 1, steps)
    return f"CASE WHEN {steps} < {integer(starts[middle])} THEN {low} ELSE {high} END"


def _of_classes(classes: Sequence[int], number: str) -> str:
    if list(classes) == list(range(len(classes))):
        return number
    # neighbours of one class are one run, and runs are pieces of the category's number
    starts = [i for i in range(1, len(classes)) if classes[i] != classes[i - 1]]
    return _chosen([classes[0], *(classes[i] for i in starts)], starts, number)


def _chosen(classes: Sequence[int], starts: Sequence[int], number: str) -> str:
    if not starts:
        return str(classes[0])
    middle = len(starts) // 2
    low = _chosen(classes[: middle + 1], starts[:middle], number)
    high = _chosen(classes[middle + 1 :], starts[middle + 1 :], number)
    return f"CASE WHEN {number} < {starts[middle]} THEN {low} ELSE {high} END"
