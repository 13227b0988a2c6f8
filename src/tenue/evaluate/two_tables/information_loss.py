"""How masking changed values and correlations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

import numpy as np

from ...arguments import Number, checked_call, exact
from ...errors import refuse
from ..check import schema_of
from ..factorize import Real
from .attributes import Attribute, Names, Numeric, paired


@checked_call
def sse(original: object, masked: object, columns: Names = None, schema: object = None) -> float:
    """The sum of squared errors: 0 if nothing changed, larger is worse. In squared raw units.

    Parameters
        original, masked: tables in which row i is the same record.
        columns: by default, all that both tables have.
        schema: taxonomies of categories, and domains for missing values.

    Example
        >>> sse([[1, 10], [2, 20]], [[1, 12], [3, 20]])
        5.0

    Source
        Thesis, section 6.4.2.
    """
    return sum(map(sse_of, paired(original, masked, columns, schema_of(schema))))


def sse_of(attribute: Attribute) -> float:
    """The sum of squared errors of one attribute."""
    rows = np.arange(attribute.original.size)
    return float(attribute.squared(rows, rows).sum())


@checked_call
def within(original: object, masked: object, percent: Number, columns: Names = None) -> float:
    """The share of numbers that lie within `percent` percent of the truth: 0 (safe) to 1.

    Numbers that are missing in the original do not count; those missing in the masked table are
    not within.

    Parameters
        percent: 1 for one percent of the true value, either way.
        columns: by default, all numeric ones that both tables have.

    Example
        >>> within([[100], [200], [0]], [[101], [190], [0]], 1)
        0.6666666666666666
    """
    attributes = numbers_among(paired(original, masked, columns))
    if not attributes:
        raise refuse("evaluate.no-common-numbers")
    return within_of(attributes, percent)


def numbers_among(attributes: list[Attribute]) -> list[Numeric]:
    """The attributes of numbers, not of times."""
    return [a for a in attributes if isinstance(a, Numeric) and not a.time]


def within_of(attributes: list[Numeric], percent: Number) -> float:
    """The share over all values of these attributes; 0 if there are none."""
    part = exact(percent, "percent")
    if part < 0:
        raise refuse("evaluate.negative-percent", percent=percent)
    near = total = 0
    for attribute in attributes:
        known = ~np.isnan(attribute.original)
        truth, shown = attribute.original[known], attribute.masked[known]
        # in this order both sides are exact for whole numbers below 2^53 / 100
        with np.errstate(over="ignore"):
            size = np.abs(truth + attribute.origin)
            near += int((100 * np.abs(shown - truth) <= float(part) * size).sum())
        total += truth.size
    return near / total if total else 0.0


@dataclass(frozen=True, kw_only=True)
class CorrelationDifference:
    """How far correlations moved, over all pairs of numeric columns.

    mean, sd: of the absolute differences, from 0 (best) to 2. sd divides by the number of pairs.
    pairs: for each pair of columns, the correlation before and after.
    """

    mean: float
    sd: float
    pairs: Mapping[tuple[str, str], tuple[float, float]]


@checked_call
def correlation_difference(
    original: object, masked: object, columns: Names = None
) -> CorrelationDifference:
    """How far masking moved Pearson's correlations, over all pairs of numeric columns.

    A constant column has correlation 0 with every other. Rows in which one of the two values is
    missing are left out of that pair.

    Parameters
        columns: by default, all numeric ones that both tables have.

    Example
        >>> found = correlation_difference([[1, 1], [2, 2], [3, 3]], [[1, 3], [2, 2], [3, 1]])
        >>> round(found.mean, 6), found.sd
        (2.0, 0.0)

    Source
        Thesis, section 3.4.
    """
    found = correlation_of(paired(original, masked, columns))
    if found is None:
        raise refuse("evaluate.too-few-numeric-columns")
    return found


def correlation_of(attributes: list[Attribute]) -> CorrelationDifference | None:
    """The same, of attributes; None if fewer than two of them hold numbers."""
    numeric = [attribute for attribute in attributes if isinstance(attribute, Numeric)]
    if len(numeric) < 2:
        return None
    before = _correlations([attribute.original for attribute in numeric])
    after = _correlations([attribute.masked for attribute in numeric])
    apart = np.abs(before - after)
    names = combinations([attribute.name for attribute in numeric], 2)
    both = zip(before.tolist(), after.tolist(), strict=True)
    pairs = MappingProxyType(dict(zip(names, both, strict=True)))
    return CorrelationDifference(mean=float(apart.mean()), sd=float(apart.std()), pairs=pairs)


def standard(values: Real) -> Real:
    """The values with mean 0 and standard deviation 1; those that do not vary become 0."""
    return np.asarray((values - values.mean()) / (float(values.std()) or 1.0))


def _correlations(columns: list[Real]) -> Real:
    """Of every two columns, in the order of `combinations`."""
    matrix = np.stack([column / (np.nanmax(np.abs(column), initial=0) or 1) for column in columns])
    if np.isnan(matrix).any():
        return np.array([_correlation(one, other) for one, other in combinations(matrix, 2)])
    centred = matrix - matrix.mean(axis=1, keepdims=True)
    # centred constants are rounding errors
    centred[np.ptp(matrix, axis=1) == 0] = 0
    lengths = np.sqrt((centred * centred).sum(axis=1))
    lengths[lengths == 0] = 1
    unit = centred / lengths[:, None]
    found: Real = np.clip(unit @ unit.T, -1, 1)
    return found[np.triu_indices(len(columns), 1)]


def _correlation(one: Real, other: Real) -> float:
    present = ~(np.isnan(one) | np.isnan(other))
    if not present.any():
        return 0.0
    return float(_correlations([one[present], other[present]])[0])
