"""A confidential column in buckets of nearly equal mass, and their texts.

If one value lay in two buckets, the bucket of a row with that value would depend on whose it is. So
an edge moves to the nearest gap between two different values. Buckets are then of unequal mass, and
there may be fewer.

The intervals of numbers and dates fill the declared domain without a gap. Their outer ends are the
declared bounds and their inner ends lie half-way between values, so that no end is the value of a
person where the grid leaves room between two values. Categories are divided depth first in their
taxonomy; those that no row has belong to the bucket of another spelling, or to the one before them.
Each is written so that it cannot be taken for several.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction

import numpy as np

from ...errors import Fault
from ...evaluate.one_table.cell_equality import word_codes
from ...schema import Bounded, Category
from ...taxonomy import Taxonomy
from ...text import exactly
from ..table.cells import Cells, Numbers
from ..table.input_table import Original
from ..table.records import classes_of


def buckets_for(t: Fraction) -> int:
    """The number of buckets that uses up t: one is t times as frequent in a group, and the others
    1/t times. t/b + (1 - 1/b)/t = 1 gives b = t + 1, of which the whole part is taken.

    Source
        Thesis, section 7.2.1.
    """
    return t.numerator // t.denominator + 1


def value_buckets(counts: Numbers, buckets: int) -> Numbers:
    """The bucket of each value, numbered from 0 in their order.

    Guarantee
        No value lies in two buckets, none of which is empty. The edges depend on how many units
        have each value, on nothing else. There are at least two buckets if there are two values and
        `buckets` is at least 2.

    Parameters
        counts: how many units have each of the different values, in order; at least one each.
        buckets: how many there are at most.

    Example
        >>> value_buckets(np.array([1, 1, 5, 1, 1, 1]), buckets=3).tolist()
        [0, 0, 1, 2, 2, 2]

    Source
        Thesis, section 7.2.2. Ends are rounded down after adding a half: the printed ceiling makes
        the first bucket too large, and the last one too small.
    """
    ends = np.cumsum(counts)
    units, inside = int(ends[-1]), ends[:-1]
    starts = np.zeros(counts.size, np.int64)
    for number in range(1, min(buckets, counts.size)):
        # the end that would make buckets equal, as though no value were frequent
        end = (2 * number * units + buckets) // (2 * buckets)
        after = min(int(np.searchsorted(inside, end)), inside.size - 1)
        before = max(after - 1, 0)
        near = before if end - inside[before] <= inside[after] - end else after
        starts[near + 1] = 1
    return np.cumsum(starts)


SEVERAL = " | "
"""Between the categories of one bucket."""
_SPECIAL = re.compile(r'[|"]|^\s|\s$')


@dataclass(frozen=True, eq=False)
class Bucketed:
    """One confidential column.

    column: the values.
    buckets: the bucket of each row, numbered from 0 in the order of values.
    labels: the text of each bucket.
    times: how many rows each row stands for; None for one.
    """

    column: Cells
    buckets: Numbers
    labels: tuple[str, ...]
    times: Numbers | None = None

    @property
    def torn(self) -> bool:
        """Whether some value lies in two buckets."""
        codes = classes_of(self.column).codes
        pairs = np.unique(codes * len(self.labels) + self.buckets)
        return pairs.size > int(codes.max()) + 1

    def cells(self) -> Cells:
        """The column with the bucket of each row instead of its value."""
        given = self.column.column
        declared = Category(
            name=given.name,
            role=given.role,
            sensitive=given.sensitive,
            taxonomy=Taxonomy.flat(self.labels),
            stated=self.labels,
        )
        present = np.ones(self.buckets.size, dtype=bool)
        return Cells(declared, self.buckets, present, None, self.labels)

    def middles(self, buckets: Numbers) -> Cells:
        """A column of such buckets with the median of its values in place of each."""
        codes = classes_of(self.column).codes
        order = np.lexsort((codes, self.buckets))
        many = np.ones(order.size, np.int64) if self.times is None else self.times
        sizes, ends = self.units, np.cumsum(many[order])
        where = np.searchsorted(ends, np.cumsum(sizes) - (sizes + 1) // 2, side="right")
        middle = self.column.numbers[order[where]]
        present = np.ones(buckets.size, dtype=bool)
        return replace(self.column, numbers=middle[buckets], present=present)

    @property
    def units(self) -> Numbers:
        units = np.zeros(len(self.labels), np.int64)
        np.add.at(units, self.buckets, 1 if self.times is None else self.times)
        return units

    def bucket_of(self) -> Callable[[Numbers], Numbers]:
        """The bucket of values that occur here, as `Coding` numbers them."""
        codes = self.column.numbers - self.column.first + 1
        if isinstance(self.column.column, Bounded):
            edges = np.full(len(self.labels), codes.max())
            np.minimum.at(edges, self.buckets, codes)
            return lambda numbers: np.searchsorted(edges, numbers, side="right") - 1
        table = np.zeros(int(codes.max()) + 1, np.int64)
        table[codes] = self.buckets
        return lambda numbers: table[numbers]


def bucketed(original: Original, name: str, t: Fraction) -> Bucketed:
    """The column, of which every person has one value, in the buckets that suit t, of equal mass as
    far as equal values allow."""
    column = original.cells[name]
    codes = classes_of(column).codes
    return _bucketed(column, codes, np.bincount(original.of_persons(codes)), t)


def bucketed_counts(column: Cells, times: Numbers, t: Fraction) -> Bucketed:
    """The same for different values, and how many units have each."""
    codes = classes_of(column).codes
    counts = np.zeros(int(codes.max()) + 1, np.int64)
    np.add.at(counts, codes, times)
    return replace(_bucketed(column, codes, counts, t), times=times)


def _bucketed(column: Cells, codes: Numbers, counts: Numbers, t: Fraction) -> Bucketed:
    buckets = value_buckets(counts, buckets_for(t))[codes]
    if isinstance(column.column, Bounded):
        labels = _intervals(column, column.column, buckets)
    elif isinstance(column.column, Category):
        labels = _categories(column, column.column, buckets)
    else:
        labels = ("false", "true") if buckets.any() else (f"false{SEVERAL}true",)
    if len(set(labels)) < len(labels):
        raise Fault("two buckets have one text")
    return Bucketed(column, buckets, labels)


def _intervals(column: Cells, declared: Bounded, buckets: Numbers) -> tuple[str, ...]:
    many = int(buckets.max()) + 1
    least, most = np.full(many, column.last), np.full(many, column.first)
    np.minimum.at(least, buckets, column.numbers)
    np.maximum.at(most, buckets, column.numbers)
    ends = [(int(a) + int(b)) // 2 for a, b in zip(most[:-1], least[1:], strict=True)]
    runs = zip([column.first, *(end + 1 for end in ends)], [*ends, column.last], strict=True)

    def written(number: int) -> str:
        value = declared.from_steps(number - column.first)
        return value.isoformat() if isinstance(value, date) else exactly(Fraction(str(value)))

    return tuple(f"[{written(low)}, {written(high)}]" for low, high in runs)


def _categories(column: Cells, declared: Category, buckets: Numbers) -> tuple[str, ...]:
    import pyarrow

    codes = word_codes(pyarrow.array(column.labels), declared)
    words = np.unique(codes, return_inverse=True)[1].reshape(-1)
    of_word = np.full(len(column.labels), -1)
    of_word[words[column.numbers]] = buckets
    # one bucket for all labels that differ in spelling only
    bucket_of = dict(zip(column.labels, of_word[words].tolist(), strict=True))
    parts: list[list[str]] = [[] for _ in range(int(buckets.max()) + 1)]
    last = 0
    for label in declared.taxonomy.depth_first:
        bucket = bucket_of[label]
        last = max(last, bucket)
        # in quotes if it could be read as several
        text = json.dumps(label, ensure_ascii=False) if _SPECIAL.search(label) else label
        parts[bucket if bucket >= 0 else last].append(text)
    return tuple(SEVERAL.join(part) for part in parts)
