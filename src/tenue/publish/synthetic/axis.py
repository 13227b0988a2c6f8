"""What microaggregation reads of a column: its values or categories on a line, in steps.

The exponential mechanism that chooses a category for a group of rows scores every candidate c by
its distances δ̃(c, v) to the rows' categories v, from one fixed table of whole numbers. A row that
changes from v to w moves a score by at most D(v, w) = max over c of |δ̃(c, v) − δ̃(c, w)|. D obeys
the triangle inequality whatever the table is, so on a line where neighbours are D apart no two
categories lie closer than their D, and a walk along it in one direction is never longer than the
line.

Everything here is a function of the schema and of the record alone.

Source
    Thesis, chapter 6, for the orders; the bound is argued above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from ...errors import refuse
from ...schema import Category
from ...sensitivity import chain
from ...taxonomy import DISTANCE_STEPS, Taxonomy
from ..table.cells import Numbers
from .domain import Axis, Domain, Places


@dataclass(frozen=True, eq=False)
class CategoryLine:
    """The categories of one column in their fixed order.

    distances: δ̃(c, v) for every candidate c (rows) and category v (columns), in whole steps.
    """

    distances: Numbers

    @cached_property
    def metric(self) -> Numbers:
        """D(v, w): how far a row that changes from v to w can move a score."""
        return np.array(
            [np.abs(self.distances - column[:, None]).max(axis=0) for column in self.distances.T]
        )

    @cached_property
    def positions(self) -> Numbers:
        """Where each category lies, in steps from the first: D cumulated along the order."""
        steps = np.diff(self.distances, axis=1, prepend=self.distances[:, :1])
        return np.cumsum(np.abs(steps).max(axis=0))

    @property
    def length(self) -> int:
        """From the first to the last: S."""
        return int(self.positions[-1])


@lru_cache(maxsize=32)
def taxonomy_line(taxonomy: Taxonomy, blank: bool = False) -> CategoryLine:
    """The line of a taxonomy's categories, depth first; `blank` adds a last one for missing values.

    Distances are those of the rational table, in multiples of 2**-32. A blank is as far from every
    category as the two that are furthest apart, or one step if none are.

    Example
        >>> line = taxonomy_line(Taxonomy.flat(["x", "y", "z"]))
        >>> (line.positions / line.positions[1]).tolist()
        [0.0, 1.0, 2.0]
    """
    names = [taxonomy.concept_of(label) for label in taxonomy.depth_first]
    table = np.zeros((len(names), len(names)), np.int64)
    if all(taxonomy.parents(name) == (taxonomy.root,) for name in names):
        concepts = np.unique(names, return_inverse=True)[1].reshape(-1)  # all equally far apart
        diameter = int(taxonomy.marginality_sensitivity * DISTANCE_STEPS)
        table[concepts[:, None] != concepts[None, :]] = diameter
    else:
        for i, name in enumerate(names):
            exact = (taxonomy.rational_distance(name, other) for other in names[:i])
            table[i, :i] = table[:i, i] = [int(distance * DISTANCE_STEPS) for distance in exact]
    return CategoryLine(_with_blank(table) if blank else table)


def plain_line(size: int, blank: bool = False) -> CategoryLine:
    """Categories that are all equally far from each other, by one whole."""
    apart = (1 - np.eye(size, dtype=np.int64)) * DISTANCE_STEPS
    return CategoryLine(_with_blank(apart) if blank else apart)


def _with_blank(table: Numbers) -> Numbers:
    wider = np.pad(table, (0, 1), constant_values=int(table.max(initial=0)) or 1)
    wider[-1, -1] = 0
    return wider


MOST_CATEGORIES = 2048
"""Every category is compared with every other."""


@dataclass(frozen=True, eq=False)
class NumberLine:
    """A number, a date or a datetime.

    A missing value lies beyond the last value, at a distance of half the range. Then a record that
    moves on the line by some steps moves the sum of values, a missing one counted as the last, and
    the number of missing values times that distance, by as many steps together.

    place: its column among the places.
    shift: how many of the last bits of a place are dropped, so that sums fit into 64 bits.
    """

    axis: Axis
    place: int
    shift: int = 0

    @property
    def last(self) -> int:
        """The range of values in steps."""
        return (self.axis.held - 1) >> self.shift

    @property
    def beyond(self) -> int:
        """How far beyond the last value a missing one lies; 0 if none can be missing."""
        return (self.last + 1) // 2 or 1 if self.axis.blank else 0

    @property
    def length(self) -> int:
        """From the first value to the end, in steps."""
        return self.last + self.beyond

    def coarsened(self, most: int) -> NumberLine:
        """The same line in at most `most` steps."""
        line = self
        while line.length > most and line.last > 1:
            line = replace(line, shift=line.shift + 1)
        return line

    def chain(self, groups: int) -> Fraction:
        """The longest chain with a link for each group, the line being 1 long."""
        return chain.hilbert(1, groups)

    def values(self, places: Places) -> Numbers:
        """Where each record lies, in steps."""
        column = places[:, self.place]
        steps = column >> self.shift
        return np.asarray(np.where(column < self.axis.held, steps, self.length))

    def at(self, values: Numbers) -> Numbers:
        return values

    def places(self, shares: NDArray[np.float64]) -> Numbers:
        """The nearest places to these shares of the range."""
        last = self.axis.held - 1
        near = np.rint(np.clip(shares, 0, 1) * last)
        return np.minimum(near.astype(np.int64), last)


@dataclass(frozen=True, eq=False)
class MeaningLine(CategoryLine):
    """A category or a truth value; a blank is one more category, far from all others."""

    axis: Axis
    place: int

    @classmethod
    def of(cls, axis: Axis, place: int) -> MeaningLine:
        if isinstance(axis.column, Category):
            line = taxonomy_line(axis.column.taxonomy, axis.blank)
        else:
            line = plain_line(axis.held, axis.blank)
        return cls(line.distances, axis, place)

    def coarsened(self, most: int) -> MeaningLine:
        """A table of distances fits as it is."""
        return self

    def chain(self, groups: int) -> Fraction:
        if self.axis.size > chain.MOST_EXACT:
            return Fraction(1)
        return Fraction(chain.category(self.metric, groups), self.length)

    def values(self, places: Places) -> Numbers:
        """The category of each record, numbered along the line."""
        return places[:, self.place]

    def at(self, values: Numbers) -> Numbers:
        return np.asarray(self.positions[values])


Line = NumberLine | MeaningLine


def lines_of(domain: Domain) -> tuple[Line, ...]:
    """The line of each column; refused where one has too many categories."""
    for axis in domain.axes:
        if not axis.ordered and axis.held > MOST_CATEGORIES:
            raise refuse(
                "publish.too-many-ordered-categories",
                column=axis.name,
                many=axis.held,
                most=MOST_CATEGORIES,
            )
    return tuple(
        NumberLine(axis, i) if axis.ordered else MeaningLine.of(axis, i)
        for i, axis in enumerate(domain.axes)
    )


def varying(lines: Sequence[Line]) -> list[Line]:
    """The lines on which records can differ."""
    return [line for line in lines if line.length]
