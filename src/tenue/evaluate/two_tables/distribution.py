"""How each column is distributed, before and after.

That is how a generalised number, or a bucket of numbers, is drawn beside the numbers it came from.
A value stands for half a grid step on either side, so that both are measured alike.

Numbers and times are counted in equal bins, categories by their most frequent values. Rows of an
interval are spread evenly over it.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ...arguments import checked_call, whole
from ...errors import Refused
from ...schema import Bounded, Table
from ...text import shortly
from ..check import schema_of
from ..column_types import Values, typed
from ..one_table.interval_values import ends
from ..rows import Rows, open_rows
from .attributes import Attribute, Names, Nominal, Numeric, paired

Real = NDArray[np.float64]

_QUANTILES = 1000


@dataclass(frozen=True, kw_only=True)
class Moved:
    """How far one column's distribution moved. 0 is best everywhere; None where it has no meaning.

    mean, variance: |after - before| / |before|, infinite if it was 0 before and is not now; times
        have no such mean.
    quantiles: the mean distance between the sorted columns, over the width of the domain (of the
        original's values if none is declared): 0 to 1, more if values left that width.
    histogram: half the sum of differences of shares, over equal bins or over categories: 0 to 1.
    missing: the share of values that became missing, less those that were before: -1 to 1.
    """

    name: str
    mean: float | None
    variance: float | None
    quantiles: float | None
    histogram: float
    missing: float


@checked_call
def distributions(
    original: object, masked: object, columns: Names = None, bins: int = 20, schema: object = None
) -> tuple[Moved, ...]:
    """How far masking moved the distribution of each column.

    Parameters
        columns: which columns; all that both have if not given.
        bins: into how many equal parts numbers are counted.
        schema: the domains of columns; what the original holds if there is none.

    Example
        >>> (found,) = distributions([[0.0], [10.0]], [[5.0], [5.0]])
        >>> found.mean, found.variance, found.quantiles, found.histogram
        (0.0, 1.0, 0.5, 1.0)

    Source
        Thesis, section 6.4.4, for means and variances.
    """
    parts = whole(bins, "bins", least=1)
    return tuple(
        moved(attribute, parts)
        for attribute in paired(original, masked, columns, schema_of(schema))
    )


def moved(attribute: Attribute, bins: int = 20) -> Moved:
    """The same, of one attribute."""
    return (
        _numbers_moved(attribute, bins)
        if isinstance(attribute, Numeric)
        else _words_moved(attribute)
    )


def _words_moved(attribute: Nominal) -> Moved:
    count = len(attribute.words)
    shares = [
        np.bincount(side + 1, minlength=count + 1) / side.size
        for side in (attribute.original, attribute.masked)
    ]
    moved_shares = float(np.abs(shares[0] - shares[1]).sum() / 2)
    return _only_shares(attribute.name, moved_shares, float(shares[1][0] - shares[0][0]))


def _only_shares(name: str, share: float, gone: float) -> Moved:
    return Moved(name=name, mean=None, variance=None, quantiles=None, histogram=share, missing=gone)


def _numbers_moved(attribute: Numeric, bins: int) -> Moved:
    sides = [side[~np.isnan(side)] for side in (attribute.original, attribute.masked)]
    before, after = sides
    gone = [1 - before.size / attribute.original.size, 1 - after.size / attribute.masked.size]
    if before.size == 0 or after.size == 0:
        share = 0.0 if before.size == after.size else 1.0
        return _only_shares(attribute.name, share, gone[1] - gone[0])
    low, high = float(before.min()), float(before.max())
    width = attribute.declared or high - low
    return Moved(
        name=attribute.name,
        mean=None if attribute.time else _mean(before, after, attribute.origin),
        variance=_over(abs(float(after.var()) - float(before.var())), float(before.var())),
        quantiles=_over(_sorted_distance(before, after), width),
        histogram=_histogram(before, after, low, high, bins, gone),
        missing=gone[1] - gone[0],
    )


def _mean(before: Real, after: Real, origin: int) -> float:
    one, other = float(before.mean()), float(after.mean())
    return _over(abs(other - one), abs(one + origin))


def _over(amount: float, whole_amount: float) -> float:
    if whole_amount == 0:
        return 0.0 if amount == 0 else math.inf
    return amount / whole_amount


def _sorted_distance(before: Real, after: Real) -> float:
    if before.size == after.size:
        return float(np.abs(np.sort(before) - np.sort(after)).mean())
    levels = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    return float(np.abs(np.quantile(before, levels) - np.quantile(after, levels)).mean())


def _histogram(
    before: Real, after: Real, low: float, high: float, bins: int, gone: list[float]
) -> float:
    """Over equal bins of the original's range, one bin for what lies beyond, one for missing."""
    shares = []
    for side, missing in zip((before, after), gone, strict=True):
        place = np.zeros(side.size) if high == low else np.floor((side - low) / (high - low) * bins)
        place[side == high] = bins - 1
        place[(side < low) | (side > high)] = bins
        inside = np.bincount(place.astype(np.int64), minlength=bins + 1) / side.size
        shares.append(np.append(inside * (1 - missing), missing))
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


# -- Intervals as a distribution: the rows of each are spread evenly over it -----------------------

_DAY = 24 * 60 * 60


@dataclass(frozen=True, eq=False)
class Spread:
    """Stretches of a line, and which share of all rows lies in each.

    low, high: where each stretch begins and ends.
    share: the share of all rows in it; with `missing`, they sum to 1.
    """

    low: Real
    high: Real
    share: Real
    missing: float

    def shares(self, edges: Real) -> tuple[float, ...]:
        """The share of rows in each bin; what doubles hold for no length is at its lower end."""
        length = self.high - self.low
        width = np.where(length > 0, length, 1)
        below = []
        for edge in edges:
            part = np.where(length > 0, (edge - self.low) / width, edge > self.low)
            below.append(float(np.clip(part, 0, 1) @ self.share))
        return tuple(np.diff(below).tolist())


def spread_of_intervals(values: Values, column: Bounded) -> Spread | None:
    """What a release shows of a column; None if a text is neither an interval nor a value."""
    counted = word_shares(values)
    missing = counted.pop(None, 0.0)
    if not counted:
        return None
    try:
        found = np.array([ends(column, str(word)) for word in counted], dtype=np.float64)
    except Refused:
        return None
    unit = _unit(column)
    start, step = float(column.low) * unit, float(column.grid) * unit
    return Spread(
        start + step * (found[:, 0] - 0.5),
        start + step * (found[:, 1] + 0.5),
        np.array(list(counted.values())),
        missing,
    )


def spread_of_values(values: Values, column: Bounded) -> Spread | None:
    """The same of a column of numbers or times; None if there are none."""
    numbers = values.numbers()
    held = numbers[~np.isnan(numbers)]
    if not held.size:
        return None
    found, times = np.unique(held, return_counts=True)
    half = float(column.grid) * _unit(column) / 2
    return Spread(found - half, found + half, times / numbers.size, 1 - held.size / numbers.size)


def word_shares(values: Values) -> dict[str | None, float]:
    """The share of each word, and of blanks under None; in the order of words, so that no last
    digit of a sum tells in which order rows came."""
    array = values.array
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    counts = pc.value_counts(pc.cast(array, pa.large_string()))
    size = len(array)
    found = {one["values"]: one["counts"] / size for one in counts.to_pylist()}
    return dict(sorted(found.items(), key=lambda pair: (pair[0] is None, pair[0] or "")))


def _unit(column: Bounded) -> int:
    """How many of what edges count is one of what the column counts: of days, their seconds."""
    return _DAY if column.type == "date" else 1


# -- How each column is distributed, before and after: what a report draws -------------------------

BINS = 24
MOST_WORDS = 12
OTHERS, MISSING = "(others)", "(missing)"

_ZERO = datetime.datetime(1970, 1, 1)


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
