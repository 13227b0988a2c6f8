"""How each column is distributed, before and after: what a report draws.

Numbers and times are counted in equal bins, categories by their most frequent values. Rows of an
interval are spread evenly over it.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...schema import Bounded, Table
from ...screen.number import shortly
from ..check import schema_of
from ..rows import Rows, open_rows
from ..value import Values, typed
from .spread import Spread, spread_of_intervals, spread_of_values, word_shares

Real = NDArray[np.float64]

BINS = 24
MOST_WORDS = 12
OTHERS, MISSING = "(others)", "(missing)"

_ZERO = datetime.datetime(1970, 1, 1)
_DAY = 24 * 60 * 60


@dataclass(frozen=True, kw_only=True)
class Marginal:
    """The shares of one column's values, over all rows.

    edges: where bins begin and end; none for categories.
    categories: the categories that are drawn; none for bins.
    after: the share of the released rows in each bin or category.
    before: the same of the original, for its holder alone; None where only the release is looked
        at, or where its values are of another kind.
    time: whether edges are seconds since 1970 began.
    spread: whether the release has intervals, and their rows are spread evenly over them.
    missing: the share of blanks, after and before, which no bin holds.
    """

    name: str
    edges: tuple[float, ...]
    after: tuple[float, ...]
    before: tuple[float, ...] | None
    categories: tuple[str, ...] = ()
    time: bool = False
    missing: tuple[float, float | None] = (0.0, None)
    spread: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """The categories, or the bins as text, which is written when somebody reads it."""
        bins = pairwise(self.edges)
        return self.categories or tuple(_bin(low, high, self.time) for low, high in bins)


def marginals(
    original: object | None, released: object, schema: object = None
) -> tuple[Marginal, ...]:
    """How the columns of a release are distributed, beside those of the original.

    Guarantee
        Without an original, everything follows from the released rows and the schema alone: bins
        and the choice of categories too.

    Parameters
        original: None to look at the release alone.
        schema: what types the columns have; identifiers and undeclared columns are left out.

    Example
        >>> (found,) = marginals([[1], [1], [2]], [[1], [2], [2]])
        >>> found.words, [round(share, 2) for share in found.after]
        (('1', '2'), [0.33, 0.67])
    """
    declared = schema_of(schema)
    after = open_rows(released)
    before = None if original is None else open_rows(original)
    names = [name for name in after.names if _is_shown(name, declared)]
    shown = _read(after, names, declared)
    held = {} if before is None else _read(before, _spelled(before, names), declared)
    return tuple(
        _marginal(shown[name], held.get(name.lower()), _bounded(shown[name].name, declared))
        for name in shown
    )


def _bounded(name: str, schema: Table | None) -> Bounded | None:
    column = None if schema is None else schema.columns.get(name)
    return column if isinstance(column, Bounded) else None


def _is_shown(name: str, schema: Table | None) -> bool:
    if schema is None:
        return True
    column = schema.columns.get(name)
    return column is not None and column.name not in {one.name for one in schema.identifiers}


def _spelled(rows: Rows, names: Sequence[str]) -> list[str]:
    found = (rows.find(name) for name in names)
    return [name for name in found if name is not None]


def _read(rows: Rows, names: Sequence[str], schema: Table | None) -> dict[str, Values]:
    made = {}
    for name, column in rows.read(names).items():
        declared = None if schema is None else schema.columns.get(name)
        made[name.lower()] = typed(name, column, declared, written=rows.written)
    return made


def _marginal(after: Values, before: Values | None, column: Bounded | None) -> Marginal:
    if column is not None and after.kind == "category":
        intervals = spread_of_intervals(after, column)
        if intervals is not None:
            numbers = before is not None and before.kind != "category"
            kept = spread_of_values(before, column) if before is not None and numbers else None
            return _of_intervals(after.name, column, intervals, kept)
    if before is not None and (before.kind == "category") != (after.kind == "category"):
        before = None
    if after.kind == "category":
        return _of_words(after, before)
    return _of_numbers(after, before)


def _of_numbers(after: Values, before: Values | None) -> Marginal:
    sides = [one.numbers() for one in (after, before) if one is not None]
    held = [side[~np.isnan(side)] for side in sides]
    time = after.kind == "time"
    edges = _edges(held, _DAY if time and after.days else 1)
    shares = [
        tuple((np.histogram(some, edges)[0] / side.size).tolist())
        for some, side in zip(held, sides, strict=True)
    ]
    gone = [1 - some.size / side.size for some, side in zip(held, sides, strict=True)]
    return Marginal(
        name=after.name,
        edges=tuple(edges.tolist()),
        after=shares[0],
        before=shares[1] if before is not None else None,
        time=time,
        missing=(gone[0], gone[1] if before is not None else None),
    )


def _of_intervals(name: str, column: Bounded, after: Spread, before: Spread | None) -> Marginal:
    sides = [after] if before is None else [after, before]
    low = min(side.low.min() for side in sides)
    high = max(side.high.max() for side in sides)
    edges = np.linspace(low, high, BINS + 1)
    time = column.type != "number"
    return Marginal(
        name=name,
        edges=tuple(edges.tolist()),
        after=after.shares(edges),
        before=None if before is None else before.shares(edges),
        time=time,
        missing=(after.missing, None if before is None else before.missing),
        spread=True,
    )


def _edges(sides: Sequence[Real], step: float) -> Real:
    """The ends of equal bins; one for each value where they are few multiples of a step."""
    values = np.concatenate(sides)
    if values.size == 0:
        return np.array([0.0, 1.0])
    low, high = float(values.min()), float(values.max())
    steps = (high - low) / step
    if steps < BINS and (values % step == low % step).all():
        return np.arange(low - step / 2, high + step, step)
    return np.linspace(low, high, BINS + 1) if high > low else np.array([low - 0.5, low + 0.5])


def _bin(low: float, high: float, time: bool) -> str:
    if time:
        return f"{moment(low)} to {moment(high)}"
    middle = (low + high) / 2
    if high - low == 1 and middle == int(middle):
        return str(int(middle))
    return f"{shortly(low, 4)} to {shortly(high, 4)}"


def moment(seconds: float) -> str:
    """A time as people write it; the day alone where that is far enough apart."""
    return (_ZERO + datetime.timedelta(seconds=seconds)).date().isoformat()


def _of_words(after: Values, before: Values | None) -> Marginal:
    sides = [word_shares(one) for one in (after, before) if one is not None]
    missing = [side.pop(None, 0.0) for side in sides]
    total: dict[str, float] = {}
    for side in sides:
        for word, share in side.items():
            total[str(word)] = total.get(str(word), 0.0) + share
    order = sorted(total, key=lambda word: (-total[word], word))
    most = order if len(order) <= MOST_WORDS else order[: MOST_WORDS - 1]
    rest = order[len(most) :]
    words = [*most, *([OTHERS] if rest else []), *([MISSING] if any(missing) else [])]
    shares = []
    for side, gone in zip(sides, missing, strict=True):
        listed = [side.get(word, 0.0) for word in most]
        listed += [sum(side.get(word, 0.0) for word in rest)] if rest else []
        shares.append(tuple(listed + ([gone] if any(missing) else [])))
    return Marginal(
        name=after.name,
        edges=(),
        categories=tuple(words),
        after=shares[0],
        before=shares[1] if before is not None else None,
        missing=(missing[0], missing[1] if before is not None else None),
    )
