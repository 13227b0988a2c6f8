"""What masking did to values: squared errors, and values that hardly changed."""

from __future__ import annotations

import numpy as np

from ...errors import refuse
from ...number import checked_call, exact
from ..check import schema_of
from .attributes import Attribute, Names, Numeric, paired


@checked_call
def sse(original: object, masked: object, columns: Names = None, schema: object = None) -> float:
    """The sum of squared errors: 0 if nothing changed, larger is worse. In squared raw units.

    Parameters
        original, masked: tables in which row i is the same record.
        columns: which columns; all that both have if not given.
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
def within(original: object, masked: object, percent: object, columns: Names = None) -> float:
    """The share of numbers that lie within so many percent of the truth: 0 (safe) to 1.

    Numbers that are missing in the original do not count; those missing in the masked table are
    not within.

    Parameters
        percent: 1 for one percent of the true value, either way.
        columns: which columns; all numbers that both have if not given.

    Example
        >>> within([[100], [200], [0]], [[101], [190], [0]], 1)
        0.6666666666666666
    """
    attributes = numbers_among(paired(original, masked, columns))
    if not attributes:
        raise refuse("evaluate.no-common-numbers")
    return within_of(attributes, percent)


def numbers_among(attributes: list[Attribute]) -> list[Numeric]:
    """Those that have percentages: numbers, not times."""
    return [a for a in attributes if isinstance(a, Numeric) and not a.time]


def within_of(attributes: list[Numeric], percent: object) -> float:
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
