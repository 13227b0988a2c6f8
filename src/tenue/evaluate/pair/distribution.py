"""What masking did to each column by itself: mean, variance, quantiles, histogram."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...number import checked_call, whole
from ..check import schema_of
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
    return _of_numbers(attribute, bins) if isinstance(attribute, Numeric) else _of_words(attribute)


def _of_words(attribute: Nominal) -> Moved:
    count = len(attribute.words)
    shares = [
        np.bincount(side + 1, minlength=count + 1) / side.size
        for side in (attribute.original, attribute.masked)
    ]
    moved_shares = float(np.abs(shares[0] - shares[1]).sum() / 2)
    return _only_shares(attribute.name, moved_shares, float(shares[1][0] - shares[0][0]))


def _only_shares(name: str, share: float, gone: float) -> Moved:
    return Moved(name=name, mean=None, variance=None, quantiles=None, histogram=share, missing=gone)


def _of_numbers(attribute: Numeric, bins: int) -> Moved:
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
