"""The points that a partition reads, one for each row, and means that depend on no order.

Distances and means are computed in double precision in one defined way, so that two programs that
follow the definition agree to the last bit, and with them every choice between near-equal records:

* whole numbers beyond 2^53, which doubles cannot all hold, are counted from the least of their
  column on; so they are exact while no two of them are farther than 2^53 apart;
* the values, divided by `scale` where one is given, are multiplied by one power of two that brings
  the largest magnitude between 1/2 and 1 (exact; it keeps squares from overflowing);
* a squared distance adds the squared differences column after column, each operation rounded once
  and none fused;
* a mean divides an exact sum. Each value becomes three whole numbers of 32 bits, the rest below
  2^-96 of the largest magnitude is dropped, and whole numbers are added: no order of adding and
  subtracting changes them. Integer tables therefore have the correctly rounded mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import above_zero, whole
from ...errors import Refused, refuse

GRAIN = 2.0**32
WHOLE = 2**53
"""Up to here doubles hold every whole number."""
GRAINS = 3
"""The whole numbers of a value, each worth one GRAIN-th of the one before."""

Points = NDArray[np.float64]
Sums = NDArray[np.int64]


def points_of(X: ArrayLike, scale: Sequence[object] | None = None) -> Points:
    """The table as points, checked, divided by `scale` and brought to magnitudes below 1.

    Example
        >>> points_of([[3, 8], [1, 4]]).tolist()
        [[0.1875, 0.5], [0.0625, 0.25]]
        >>> points_of([[3, 8], [1, 4]], scale=[1, 4]).tolist()
        [[0.75, 0.5], [0.25, 0.25]]
    """
    points = numbers_of(X)
    if scale is not None:
        with np.errstate(all="ignore"):
            points = points / _divisors(scale, points.shape[1])
        if not np.isfinite(points).all():
            raise refuse("publish.scale-overflow")
    exponent = int(np.frexp(max(points.max(), -points.min()))[1])
    return np.ldexp(points, -exponent)


def enough_rows(points: Points, k: object) -> int:
    """The group size `k`, refused unless it is a whole number and the table can fill one group."""
    size = whole(k, "k", least=1)
    if points.shape[0] < size:
        raise refuse("publish.fewer-rows-than-k", size=size)
    return size


def cut(points: Points) -> Sums:
    """Each value as three whole numbers: an array with one more axis, in front."""
    parts = np.empty((GRAINS, *points.shape), np.int64)
    rest = points * GRAIN
    for part in parts:
        part[...] = rest  # towards zero
        rest = (rest - part) * GRAIN
    return parts


def centroid(sums: Sums, count: int | NDArray[np.int64]) -> Points:
    """The mean of `count` values whose parts (`cut`) add up to `sums`; or several such means.

    Example
        >>> points = np.array([[0.5, 0.25], [0.75, 0.25]])
        >>> centroid(cut(points).sum(axis=1), 2).tolist()
        [0.625, 0.25]
    """
    first, second, third = sums
    mean: Points = ((first * 2.0**-32 + second * 2.0**-64) + third * 2.0**-96) / count
    return mean


def numbers_of(X: ArrayLike) -> Points:
    """The table as doubles, refused unless it is a matrix of finite numbers."""
    try:
        given = np.asarray(X)
    except ValueError:
        raise _not_a_table("its rows have different lengths") from None
    if given.ndim != 2:
        raise _not_a_table(f"it has {given.ndim} dimensions")
    if given.shape[0] == 0:
        raise _not_a_table("it has no rows")
    if given.shape[1] == 0:
        raise _not_a_table("it has no columns")
    if given.dtype.kind not in "biuf":
        raise _not_a_table("it holds something that is not a number")
    if given.dtype.kind in "iu" and given.dtype.itemsize == 8:
        given = _from_the_least(given)
    with np.errstate(all="ignore"):
        points = given.astype(np.float64)
    masked = isinstance(X, np.ma.MaskedArray) and bool(np.ma.is_masked(X))
    if masked or not np.isfinite(points).all():
        raise refuse("publish.matrix-value-not-finite")
    return points


def _from_the_least(given: NDArray[Any]) -> NDArray[Any]:
    """Subtracts the least number of each column that has one beyond 2^53."""
    lows, highs = given.min(axis=0), given.max(axis=0)
    far = [max(-int(low), int(high)) > WHOLE for low, high in zip(lows, highs, strict=True)]
    if not any(far):
        return given
    points = given.astype(np.float64)
    for j in np.flatnonzero(far):
        # wraps round as it should: the difference is never negative
        points[:, j] = given[:, j].astype(np.uint64) - lows[j].astype(np.uint64)
    return points


def _not_a_table(why: str) -> Refused:
    return refuse("publish.not-a-numeric-matrix", why=why)


def _divisors(scale: Sequence[object], columns: int) -> Points:
    try:
        given = list(scale)
    except TypeError:
        given = []
    if isinstance(scale, str) or len(given) != columns:
        raise refuse("publish.partition-scale-length", columns=columns)
    return np.array([_divisor(value, f"scale[{j}]") for j, value in enumerate(given)])


def _divisor(value: object, name: str) -> float:
    try:
        divisor = float(above_zero(value, name))
    except OverflowError:
        divisor = math.inf
    if not 0 < divisor < math.inf:
        raise refuse("publish.not-a-double", name=name, value=value)
    return divisor
