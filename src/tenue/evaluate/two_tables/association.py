"""The association of every two columns, whatever their types, before and after masking.

Numbers and times are compared by Pearson's correlation, a number and a category by the correlation
ratio, two categories by Cramér's V. The last two are corrected for bias, as the field does: without
the correction a column of many categories seems associated with every other, and small tables seem
to have more associations than large ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

from ...arguments import checked_call
from ...errors import refuse
from ...text import many, shortly, text_table
from ..check import schema_of
from ..check_result import Printed
from ..factorize import Real, Whole
from .attributes import Attribute, Names, Nominal, Numeric, paired
from .information_loss import CorrelationDifference, correlation_of

Measure = Literal["correlation", "correlation ratio", "Cramér’s V"]
CORRELATION: Measure = "correlation"
RATIO: Measure = "correlation ratio"
CRAMER: Measure = "Cramér’s V"
EXPLAINED = (
    "Correlation for two numbers, correlation ratio for a number by categories, Cramér’s V for two "
    "categories, the last two corrected for bias: 0 is no association, 1 (or −1) a complete one. "
    "Rows in which one of the two values is missing do not count."
)
NAMED = 3
"""How many of the pairs that moved most are named."""
NOTED = 0.05
"""Smaller changes are not named."""
LISTED = 15
"""How many pairs a screen lists."""

_MOST_CELLS = 2**28
"""Longer tables, times pairs, are measured on every so many rows."""
_DENSE = 2**20
_LEAST_GROUP, _LEAST_SHARE = 10, 0.01


@dataclass(frozen=True, kw_only=True)
class PairAssociation:
    """How strongly two columns are associated, before and after.

    columns: of a correlation ratio, the number first.
    original, masked: from 0 (none) to 1 (complete); of a correlation from -1 to 1.
    means: of a correlation ratio, how far the means of the number are apart between the categories,
        at most, before and after, in its unit; among categories with 1 % of the rows, and at least
        10. None for times, and with fewer than two such categories.
    """

    columns: tuple[str, str]
    measure: Measure
    original: float
    masked: float
    means: tuple[float, float] | None = None

    @property
    def change(self) -> float:
        """How far it moved: 0 (best) to 1, of a correlation to 2."""
        return abs(self.masked - self.original)

    @property
    def name(self) -> str:
        """Both columns as a sentence has them."""
        one, other = (f"`{name}`" for name in self.columns)
        return f"{one} by {other}" if self.measure == RATIO else f"{one} and {other}"

    @property
    def in_short(self) -> str:
        """Its change in a few words."""
        return f"{self.name} {strength(self.original)} → {strength(self.masked)}"

    @property
    def kinds(self) -> tuple[str, str]:
        """ "number" or "category", of each column; a time is a number."""
        first = "category" if self.measure == CRAMER else "number"
        return first, "number" if self.measure == CORRELATION else "category"


@dataclass(frozen=True, kw_only=True, repr=False)
class Association(Printed):
    """The association of every two columns, before and after. For the holder only, except what was
    measured of the released table alone.

    pairs: in the order of the table's columns.
    rows_apart: every so many rows were measured, except for correlations; 1 for all.
    """

    columns: tuple[str, ...]
    pairs: tuple[PairAssociation, ...]
    rows_apart: int = 1

    @property
    def mean(self) -> float:
        """The mean change over all pairs: 0 is best."""
        return sum(pair.change for pair in self.pairs) / max(len(self.pairs), 1)

    @property
    def worst(self) -> tuple[PairAssociation, ...]:
        """All pairs, those that moved most first."""
        return tuple(sorted(self.pairs, key=lambda pair: -pair.change))

    @property
    def named(self) -> tuple[PairAssociation, ...]:
        """The few that moved most, and noticeably."""
        return tuple(pair for pair in self.worst[:NAMED] if pair.change >= NOTED)

    @property
    def brief(self) -> list[str]:
        """The change in a few words, with the pair that moved most; empty without pairs."""
        if not self.pairs:
            return []
        most = "".join(f", {pair.in_short} most" for pair in self.named[:1])
        return [f"associations by {strength(self.mean)}{most}"]

    @property
    def in_short(self) -> str:
        """The change in one sentence."""
        text = f"Associations of two columns moved by {strength(self.mean)} on average"
        if not self.named:
            return f"{text}, none by {NOTED} or more."
        return f"{text}, most of all {'; '.join(pair.in_short for pair in self.named)}."

    def to_dict(self) -> dict[str, Any]:
        """The facts as JSON has them."""
        return {
            "mean": self.mean,
            "rows_apart": self.rows_apart,
            "pairs": [
                {
                    "columns": list(pair.columns),
                    "measure": pair.measure,
                    "original": pair.original,
                    "masked": pair.masked,
                    "means": None if pair.means is None else list(pair.means),
                }
                for pair in self.pairs
            ],
        }

    def rows(self, most: int | None = None) -> list[list[str]]:
        """The table of pairs, those that moved most first, below its head."""
        head = ["columns", "measure", "original", "release", "means apart"]
        return [head] + [
            [
                pair.name,
                pair.measure,
                *map(strength, (pair.original, pair.masked)),
                "" if pair.means is None else " → ".join(shortly(each) for each in pair.means),
            ]
            for pair in self.worst[:most]
        ]

    def __str__(self) -> str:
        lines = [self.in_short, "", *text_table(_unquoted(self.rows(LISTED)), left=2)]
        if len(self.pairs) > LISTED:
            lines.append(f"and {many(len(self.pairs) - LISTED, 'pair')} that moved less.")
        return "\n".join([*lines, EXPLAINED])


def _unquoted(rows: list[list[str]]) -> list[list[str]]:
    """A terminal's table needs no quotes around names."""
    return [[row[0].replace("`", ""), *row[1:]] for row in rows]


def strength(value: float) -> str:
    """An association with two decimals; tiny ones are not shown as 0.

    Example
        >>> strength(0.79), strength(0.0004), strength(-1), strength(0)
        ('0.79', '< 0.01', '-1.00', '0.00')
    """
    if 0 < abs(value) < 0.005:
        return "< 0.01" if value > 0 else "> -0.01"
    return f"{value:.2f}"


@checked_call
def associations(
    original: object, masked: object, columns: Names = None, schema: object = None
) -> Association:
    """How masking moved the association of every two columns.

    Parameters
        original, masked: tables, whose rows need not correspond.
        columns: by default, all that both tables have.
        schema: the types of the columns; identifiers and undeclared columns are left out.

    Example
        >>> import pyarrow
        >>> town = pyarrow.table({"sex": ["f", "m"] * 50, "work": ["a", "b"] * 50})
        >>> mixed = pyarrow.table({"sex": ["f", "m"] * 50, "work": ["a", "a", "b", "b"] * 25})
        >>> (pair,) = associations(town, mixed).pairs
        >>> pair.measure, round(pair.original, 9), pair.masked
        ('Cramér’s V', 1.0, 0.0)

    Source
        Bergsma 2013 for V; Kelley 1935 for the correlation ratio (its square is epsilon squared).
    """
    attributes = paired(original, masked, columns, schema_of(schema), related=False)
    if len(attributes) < 2:
        raise refuse("evaluate.association-of-one-column")
    return association_of(attributes, correlation_of(attributes))


def association_of(
    attributes: Sequence[Attribute], correlation: CorrelationDifference | None
) -> Association:
    """The same, of attributes whose correlations were measured."""
    count = len(attributes) * (len(attributes) - 1) // 2
    rows = max(max(one.original.size, one.masked.size) for one in attributes)
    step = max(1, -(-rows * count // _MOST_CELLS))
    known = {} if correlation is None else correlation.pairs
    return Association(
        columns=tuple(one.name for one in attributes),
        pairs=tuple(_pair(*both, known, step) for both in combinations(attributes, 2)),
        rows_apart=step,
    )


def _pair(
    one: Attribute,
    other: Attribute,
    known: Mapping[tuple[str, str], tuple[float, float]],
    step: int,
) -> PairAssociation:
    """The association of two columns, in every so many rows.

    Parameters
        known: the correlations of numbers.
    """
    if isinstance(one, Numeric) and isinstance(other, Numeric):
        return _made(one, other, CORRELATION, known[one.name, other.name])
    if isinstance(one, Nominal) and isinstance(other, Nominal):
        before = cramers_v(one.original[::step], other.original[::step])
        after = cramers_v(one.masked[::step], other.masked[::step])
        return _made(one, other, CRAMER, (before, after))
    if isinstance(one, Nominal) or isinstance(other, Numeric):
        return _pair(other, one, known, step)  # the number first
    number, words = one, other
    first, far = correlation_ratio(number.original[::step], words.original[::step])
    second, near = correlation_ratio(number.masked[::step], words.masked[::step])
    means = None if far is None or near is None or number.time else (far, near)
    return _made(number, words, RATIO, (first, second), means)


def _made(
    one: Attribute,
    other: Attribute,
    measure: Measure,
    strengths: tuple[float, float],
    means: tuple[float, float] | None = None,
) -> PairAssociation:
    original, masked = strengths
    names = one.name, other.name
    return PairAssociation(
        columns=names, measure=measure, original=original, masked=masked, means=means
    )


def cramers_v(one: Whole, other: Whole) -> float:
    """The association of two columns of codes, -1 being missing, without bias: 0 to 1.

    Example
        >>> round(cramers_v(np.array([0, 0, 1, 1] * 9), np.array([1, 1, 0, 0] * 9)), 9)
        1.0
        >>> cramers_v(np.arange(20), np.arange(20) % 2)  # as many categories as rows
        0.0

    Source
        Bergsma 2013, "A bias-correction for Cramér's V and Tschuprow's T".
    """
    present = (one >= 0) & (other >= 0)
    size = int(np.count_nonzero(present))
    if size < 2:
        return 0.0
    rows, left = _counted(one[present])
    columns, right = _counted(other[present])
    together = rows * right.size + columns
    if left.size * right.size <= max(_DENSE, 4 * size):
        counts = np.bincount(together, minlength=left.size * right.size)
        cells = np.flatnonzero(counts)
        counts = counts[cells]
    else:
        cells, counts = np.unique(together, return_counts=True)
    expected = left[cells // right.size] * (right[cells % right.size] / size)
    square = float((counts / expected) @ counts) / size - 1  # chi squared over n
    r, c = left.size - 1, right.size - 1
    corrected = square - r * c / (size - 1)
    least = min(r - r * r / (size - 1), c - c * c / (size - 1))
    if least <= 0 or corrected <= 0:
        return 0.0
    return min(1.0, math.sqrt(corrected / least))


def correlation_ratio(numbers: Real, codes: Whole) -> tuple[float, float | None]:
    """How far categories, -1 being missing, explain a number: 0 to 1, without bias; and how far
    their means are apart at most, None with fewer than two categories of some size.

    Example
        >>> correlation_ratio(np.array([1.0, 1, 5, 5] * 5), np.array([0, 0, 1, 1] * 5))
        (1.0, 4.0)

    Source
        Kelley 1935: the root of epsilon squared, 1 - (SSW / (n - g)) / (SST / (n - 1)).
    """
    present = (codes >= 0) & ~np.isnan(numbers)
    values = numbers[present]
    if values.size < 2:
        return 0.0, None
    group, sizes = _counted(codes[present])
    middle = float(values.mean())
    apart = values - middle
    scale = float(np.abs(apart).max())
    if scale <= 1e-12 * abs(middle):  # the rounding errors of a constant
        return 0.0, 0.0 if _large(sizes).sum() > 1 else None
    apart = apart / scale
    means = np.bincount(group, apart, minlength=sizes.size) / sizes
    total, between = float(apart @ apart), float(sizes @ means**2)
    free = values.size - sizes.size
    share = 0.0
    if free > 0:
        share = 1 - max(0.0, total - between) / free / (total / (values.size - 1))
    large = means[_large(sizes)]
    widest = float(np.ptp(large)) * scale if large.size > 1 else None
    return math.sqrt(min(1.0, max(0.0, share))), widest


def _large(sizes: Whole) -> Any:
    return sizes >= max(_LEAST_GROUP, _LEAST_SHARE * int(sizes.sum()))


def _counted(codes: Whole) -> tuple[Whole, Whole]:
    """The codes that occur, numbered anew from 0, and how often each occurs."""
    counts = np.bincount(codes)
    occurring = np.flatnonzero(counts)
    number = np.zeros(counts.size, np.int64)
    number[occurring] = np.arange(occurring.size)
    return number[codes], counts[occurring]
