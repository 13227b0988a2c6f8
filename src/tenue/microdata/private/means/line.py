"""What microaggregation reads of one column: its values on a line, in whole steps from one end.

Both kinds say how long their line is, where on it each record lies, and which order decides between
records of one cell. Everything is a function of the schema and of the record alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ....errors import refuse
from ....order.category import CategoryLine, plain_line, taxonomy_line
from ....schema import Category
from ....sensitivity import chain
from ..domain import Axis, Domain, Places

Numbers = NDArray[np.int64]

MOST_CATEGORIES = 2048
"""Every category is compared with every other."""


@dataclass(frozen=True, eq=False)
class NumberLine:
    """A number, a date or a datetime.

    place: which column of the places it is.
    shift: how many of the last bits of a place are dropped, so that sums fit into 64 bits.
    """

    axis: Axis
    place: int
    shift: int = 0

    @property
    def length(self) -> int:
        """The range in steps."""
        return (self.axis.held - 1) >> self.shift

    def coarsened(self, most: int) -> NumberLine:
        """The same line in at most `most` steps."""
        shift = self.shift
        while (self.axis.held - 1) >> shift > most:
            shift += 1
        return replace(self, shift=shift)

    def chain(self, groups: int) -> Fraction:
        """The longest chain with a link for each group, the line being 1 long."""
        return chain.hilbert(1, groups)

    def values(self, places: Places) -> Numbers:
        """The steps of each record; a blank counts as the middle of the line."""
        column = places[:, self.place]
        if self.axis.blank:
            column = np.where(column < self.axis.held, column, (self.axis.held - 1) // 2)
        return np.asarray(column >> self.shift) if self.shift else column

    def positions(self, values: Numbers) -> Numbers:
        return values

    def places(self, shares: NDArray[np.float64]) -> Numbers:
        """The nearest places to these shares of the range."""
        last = self.axis.held - 1
        near = np.rint(np.clip(shares, 0, 1) * last)
        return np.minimum(near.astype(np.int64), last)


@dataclass(frozen=True, eq=False)
class MeaningLine:
    """A category or a truth value; a blank is one more category, far from all others."""

    axis: Axis
    place: int

    @cached_property
    def line(self) -> CategoryLine:
        column = self.axis.column
        if isinstance(column, Category):
            return taxonomy_line(column.taxonomy, self.axis.blank)
        return plain_line(self.axis.held, self.axis.blank)

    @property
    def length(self) -> int:
        """The length of the line, in steps of the table of distances."""
        return self.line.length

    def coarsened(self, most: int) -> MeaningLine:
        """A table of distances fits as it is."""
        return self

    def chain(self, groups: int) -> Fraction:
        """The longest chain with a link for each group, the line being 1 long."""
        if self.axis.size > chain.MOST_EXACT:
            return Fraction(1)
        return Fraction(chain.category(self.line.metric, groups), self.length)

    def values(self, places: Places) -> Numbers:
        """The category of each record, numbered along the line."""
        return places[:, self.place]

    def positions(self, values: Numbers) -> Numbers:
        return np.asarray(self.line.positions[values])

    def scores(self, counts: Numbers) -> Numbers:
        """How far each candidate is from the records of each group, summed over them.

        counts: one row for each group, one column for each category.
        """
        return np.asarray(counts @ self.line.distances.T)


Line = NumberLine | MeaningLine


def lines_of(domain: Domain) -> tuple[Line, ...]:
    """The line of each column; refused where one has too many categories."""
    for axis in domain.axes:
        if not axis.ordered and axis.size > MOST_CATEGORIES:
            raise refuse(
                "microdata.too-many-ordered-categories",
                column=axis.name,
                many=axis.size,
                most=MOST_CATEGORIES,
            )
    return tuple(
        NumberLine(axis, i) if axis.ordered else MeaningLine(axis, i)
        for i, axis in enumerate(domain.axes)
    )


def varying(lines: Sequence[Line]) -> list[Line]:
    """The lines on which records can differ."""
    return [line for line in lines if line.length]
