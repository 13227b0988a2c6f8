"""The distribution of each column, before and after.

Numbers and times are counted in equal bins, categories by their most frequent values. Rows of an
interval are spread evenly over it; a value covers half a grid step on either side, so that
generalised numbers and original ones are measured alike.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...arguments import checked_call, whole
from ...errors import Refused
from ...schema import Bounded, Category, Column, Table
from ...text import shortly
from ..check import schema_of
from ..check_result import plain
from ..column_types import Values, column_of, decoded, typed
from ..factorize import Real
from ..one_table.interval_values import ends
from ..rows import Rows, open_rows
from .attributes import Attribute, Names, Numeric, paired
from .bins import BINS as BINS
from .bins import bins_of, bins_of_values

MOST_WORDS = 12
OTHERS, MISSING = "(others)", "(missing)"
_ZERO = datetime.datetime(1970, 1, 1)
_DAY = 24 * 60 * 60
_QUANTILES = 1000


@dataclass(frozen=True, kw_only=True)
class Moved:
    """The change of one column's distribution. 0 is best everywhere; None where it is undefined.

    mean, variance: |after - before| / |before|, infinite if only the value before is 0; times have
        no such mean.
    quantiles: the mean distance between the sorted columns, over the width of the domain (of the
        original's values if none is declared): 0 to 1, more if values left that range.
    histogram: the total variation over equal bins or categories: 0 to 1.
    missing: the change of the share of missing values: -1 to 1.
    """

    name: str
    mean: float | None
    variance: float | None
    quantiles: float | None
    histogram: float
    missing: float


def moved_as_json(column: Moved) -> dict[str, Any]:
    """The facts as JSON has them; infinity as "inf"."""
    return {name: plain(value) for name, value in asdict(column).items()}


@checked_call
def distributions(
    original: object, masked: object, columns: Names = None, bins: int = 20, schema: object = None
) -> tuple[Moved, ...]:
    """How far masking moved the distribution of each column.

    Parameters
        columns: by default, all that both tables have.
        bins: the number of equal bins for numbers.
        schema: the domains of columns; by default, the range of the original's values.

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
    if isinstance(attribute, Numeric):
        return _numbers_moved(attribute, bins)
    one, other = (
        np.bincount(side + 1, minlength=attribute.count + 1) / side.size
        for side in (attribute.original, attribute.masked)
    )
    return _only_shares(attribute.name, total_variation(one, other), float(other[0] - one[0]))


def total_variation(one: Real, other: Real) -> float:
    """Half the sum of the differences of shares."""
    return float(np.abs(one - other).sum() / 2)


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
    mean, variance = float(before.mean()), float(before.var())
    change = _over(abs(float(after.mean()) - mean), abs(mean + attribute.origin))
    return Moved(
        name=attribute.name,
        mean=None if attribute.time else change,
        variance=_over(abs(float(after.var()) - variance), variance),
        quantiles=_over(_sorted_distance(before, after), attribute.declared or high - low),
        histogram=_histogram(before, after, low, high, bins, gone),
        missing=gone[1] - gone[0],
    )


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
    """Over equal bins of the original's range, one bin for values outside, one for missing ones."""
    shares = []
    for side, missing in zip((before, after), gone, strict=True):
        bin_of = np.zeros(side.size)
        if high > low:
            bin_of = np.floor((side - low) / (high - low) * bins)
        bin_of[side == high] = bins - 1
        bin_of[(side < low) | (side > high)] = bins
        inside = np.bincount(bin_of.astype(np.int64), minlength=bins + 1) / side.size
        shares.append(np.append(inside * (1 - missing), missing))
    return total_variation(*shares)


@dataclass(frozen=True, eq=False)
class Spread:
    """Intervals of a line, from `low` to `high`, with the share of all rows in each.

    The shares and `missing` sum to 1.
    """

    low: Real
    high: Real
    share: Real
    missing: float

    def shares(self, edges: Real) -> tuple[float, ...]:
        """The share of rows in each bin; an interval of length 0 in doubles is at its lower end."""
        length = self.high - self.low
        width = np.where(length > 0, length, 1)
        parts = (np.where(length > 0, (at - self.low) / width, at > self.low) for at in edges)
        below = [float(np.clip(part, 0, 1) @ self.share) for part in parts]
        return tuple(np.diff(below).tolist())


def spread_of_intervals(values: Values, column: Bounded) -> Spread | None:
    """A released column; None if some text is neither an interval nor a value."""
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
    """A column of numbers or times; None if it has none."""
    numbers = values.numbers()
    present = numbers[~np.isnan(numbers)]
    if not present.size:
        return None
    found, times = np.unique(present, return_counts=True)
    half = float(column.grid) * _unit(column) / 2
    missing = 1 - present.size / numbers.size
    return Spread(found - half, found + half, times / numbers.size, missing)


def word_shares(values: Values) -> dict[str | None, float]:
    """The share of each word, and of missing values under None; in the order of words, so that
    the last digits of sums do not reveal the order of rows."""
    size = len(values.array)
    counts = pc.value_counts(pc.cast(decoded(values.array), pa.large_string()))
    found = {one["values"]: one["counts"] / size for one in counts.to_pylist()}
    return dict(sorted(found.items(), key=lambda pair: (pair[0] is None, pair[0] or "")))


def _unit(column: Bounded) -> int:
    """The length of the column's unit in that of edges: of days, their seconds."""
    return _DAY if column.type == "date" else 1


@dataclass(frozen=True, kw_only=True)
class Marginal:
    """The distribution of one column, over all rows.

    edges: the ends of bins; none for categories.
    step: the width of the grid on which values lie; 0 if it is not known.
    categories: the categories that are drawn, in their declared order; none for bins.
    after: the share of released rows in each bin or category.
    before: the same of the original, for its holder alone; None without an original, or if its
        values are of another kind.
    time: whether edges are seconds since 1970.
    spread: whether the release has intervals, whose rows are spread evenly over them.
    missing: the shares of missing values, after and before, which are in no bin.
    """

    name: str
    edges: tuple[float, ...]
    after: tuple[float, ...]
    before: tuple[float, ...] | None
    categories: tuple[str, ...] = ()
    time: bool = False
    missing: tuple[float, float | None] = (0.0, None)
    spread: bool = False
    step: float = 0.0

    @property
    def words(self) -> tuple[str, ...]:
        """The categories, or the bins as text, which is formatted on demand."""
        bins = pairwise(self.edges)
        half = self.step / 2
        ends = ((low + half, high - half) for low, high in bins)
        return self.categories or tuple(_bin(low, high, self.time) for low, high in ends)


def marginals(
    original: object | None, released: object, schema: object = None
) -> tuple[Marginal, ...]:
    """The distributions of a release's columns, beside those of the original.

    Guarantee
        Without an original, everything follows from the released rows and the schema alone,
        including bins and the choice of categories.

    Parameters
        original: None for the release alone.
        schema: the types of the columns; identifiers and undeclared columns are left out.

    Example
        >>> (found,) = marginals([[1], [1], [2]], [[1], [2], [2]])
        >>> found.words, [round(share, 2) for share in found.after]
        (('1', '2'), [0.33, 0.67])
    """
    declared, after = schema_of(schema), open_rows(released)
    identifiers = () if declared is None else [column.name for column in declared.identifiers]
    columns = {name: column_of(declared, name) for name in after.names}
    names = [
        name
        for name, column in columns.items()
        if declared is None or (column is not None and column.name not in identifiers)
    ]
    originals: dict[str, Values] = {}
    if original is not None:
        before = open_rows(original)
        originals = _read(
            before, [found for name in names if (found := before.find(name))], declared
        )
    return tuple(
        _marginal(values, originals.get(name), columns[values.name])
        for name, values in _read(after, names, declared).items()
    )


def _read(rows: Rows, names: Sequence[str], schema: Table | None) -> dict[str, Values]:
    return {
        name.lower(): typed(name, column, column_of(schema, name), written=rows.written)
        for name, column in rows.read(names).items()
    }


def _marginal(after: Values, before: Values | None, column: Column | None) -> Marginal:
    if isinstance(column, Bounded) and after.kind == "category":
        intervals = spread_of_intervals(after, column)
        if intervals is not None:
            numbers = before is not None and before.kind != "category"
            kept = spread_of_values(before, column) if before is not None and numbers else None
            return _of_intervals(after.name, column, intervals, kept)
    if before is not None and (before.kind == "category") != (after.kind == "category"):
        before = None
    sides = [after] if before is None else [after, before]
    return _of_words(sides, column) if after.kind == "category" else _of_numbers(sides, column)


def _beside(
    shares: Sequence[tuple[float, ...]], missing: Sequence[float], **facts: Any
) -> Marginal:
    """The distribution in the release, and in the original if there is one."""
    return Marginal(
        after=shares[0],
        before=shares[1] if len(shares) > 1 else None,
        missing=(missing[0], missing[1] if len(missing) > 1 else None),
        **facts,
    )


def _of_numbers(columns: Sequence[Values], column: Column | None) -> Marginal:
    sides = [column.numbers() for column in columns]
    present = [side[~np.isnan(side)] for side in sides]
    time = columns[0].kind == "time"
    edges, step = _edges(present, column, time=time, days=columns[0].days)
    pairs = list(zip(present, sides, strict=True))
    shares = [tuple((np.histogram(some, edges)[0] / side.size).tolist()) for some, side in pairs]
    missing = [1 - some.size / side.size for some, side in pairs]
    facts = {"edges": tuple(edges.tolist()), "time": time, "step": step}
    return _beside(shares, missing, name=columns[0].name, **facts)


def _of_intervals(name: str, column: Bounded, after: Spread, before: Spread | None) -> Marginal:
    sides = [after] if before is None else [after, before]
    low = min(side.low.min() for side in sides)
    high = max(side.high.max() for side in sides)
    edges, step = bins_of(column, float(low), float(high))
    shares, missing = [side.shares(edges) for side in sides], [side.missing for side in sides]
    ends, time = tuple(edges.tolist()), column.type != "number"
    return _beside(shares, missing, name=name, edges=ends, time=time, spread=True, step=step)


def _edges(
    sides: Sequence[Real], column: Column | None, *, time: bool, days: bool
) -> tuple[Real, float]:
    """The ends of the bins of two sides, and the width of their grid."""
    values = np.concatenate(sides)
    if values.size == 0:
        return np.array([0.0, 1.0]), 0.0
    if isinstance(column, Bounded):
        return bins_of(column, float(values.min()), float(values.max()))
    return bins_of_values(values, _DAY if time and days else 1, time=time)


def _bin(low: float, high: float, time: bool) -> str:
    if time:
        return moment(low) if low == high else f"{moment(low)} to {moment(high)}"
    if low == high:
        return shortly(low, 9)
    return f"{shortly(low, 4)} to {shortly(high, 4)}"


def moment(seconds: float) -> str:
    """The day of a time."""
    return (_ZERO + datetime.timedelta(seconds=seconds)).date().isoformat()


def _of_words(columns: Sequence[Values], column: Column | None) -> Marginal:
    """The most frequent categories, in their declared order; by their frequency if undeclared."""
    sides = [word_shares(column) for column in columns]
    missing = [side.pop(None, 0.0) for side in sides]
    total: dict[str, float] = {}
    for side in sides:
        for word, share in side.items():
            total[str(word)] = total.get(str(word), 0.0) + share
    order = sorted(total, key=lambda word: (-total[word], word))
    most = order if len(order) <= MOST_WORDS else order[: MOST_WORDS - 1]
    rest = order[len(most) :]
    if isinstance(column, Category):
        place = {word: at for at, word in enumerate(column.categories)}
        most = sorted(most, key=lambda word: place.get(word, len(place)))
    words = [*most, *([OTHERS] if rest else []), *([MISSING] if any(missing) else [])]
    shares = []
    for side, gone in zip(sides, missing, strict=True):
        listed = [side.get(word, 0.0) for word in most]
        listed += [sum(side.get(word, 0.0) for word in rest)] if rest else []
        shares.append(tuple(listed + ([gone] if any(missing) else [])))
    return _beside(shares, missing, name=columns[0].name, edges=(), categories=tuple(words))
