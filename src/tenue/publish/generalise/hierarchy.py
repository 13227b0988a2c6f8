"""A column that is generalised: values in one fixed order, of which a run becomes one text.

Every value has a code, its position in the order of the declared domain. A generalised value stands
for a run of codes, from low to high. Nothing here but `codes` depends on rows.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ...evaluate.one_table.cell_equality import word_codes
from ...evaluate.one_table.interval_values import anything, interval, names_of, one_of
from ...schema import Boolean, Bounded, Category
from ...taxonomy.tree import Tree
from ..table.cells import Cells, Numbers
from .split import Offer, Tally, by_children, halved

if TYPE_CHECKING:
    import pyarrow


Run = tuple[Numbers, Numbers]
"""The low and the high end of each of several runs of codes."""

MOST_LEVELS = 8
"""The levels of a domain of numbers, if the holder states no widths."""

_UNIT = 30
_BITS = 32


@dataclass(frozen=True, eq=False)
class Scale(abc.ABC):
    """One quasi-identifier.

    cells: its values, none of which is missing.
    """

    cells: Cells

    @property
    def name(self) -> str:
        return self.cells.name

    @property
    @abc.abstractmethod
    def codes(self) -> Numbers:
        """The code of each row's value."""

    @property
    @abc.abstractmethod
    def whole(self) -> int:
        """The penalty of the whole domain."""

    @abc.abstractmethod
    def penalty(self, low: Numbers, high: Numbers) -> Numbers:
        """The part of the domain in each run, of `whole`; 0 if it is one value."""

    @abc.abstractmethod
    def texts(self, low: Numbers, high: Numbers) -> list[str]:
        """The text of each run; different for different runs."""

    @abc.abstractmethod
    def centres(self, low: Numbers, high: Numbers) -> Cells:
        """A value for each run where one is needed, as in the measure of a risk."""

    @abc.abstractmethod
    def levels(self, codes: Numbers, widths: Sequence[int] = ()) -> list[Run]:
        """The run of each of these codes on every level, from the value itself to everything.

        Guarantee
            A function of the schema and the stated widths. Runs of a level do not overlap, and each
            lies in one run of the next level.
        """

    in_two: ClassVar[bool] = True
    """Whether groups are split into low and high values."""

    def offer(self, tally: Tally, k: int) -> Offer:
        """How groups would be split by this column."""
        return halved(tally, k, self.share)

    def share(self, low: Numbers, high: Numbers) -> Numbers:
        """The penalty of each run over that of the whole, in whole parts of 2^30, rounded down."""
        shift = max(self.whole.bit_length() - _BITS, 0)
        parts: Numbers = ((self.penalty(low, high) >> shift) << _UNIT) // (self.whole >> shift)
        return parts


@dataclass(frozen=True, eq=False)
class Line(Scale):
    """Numbers, dates and datetimes: codes are grid steps above the low bound."""

    @cached_property
    def codes(self) -> Numbers:
        return self.cells.numbers - self.cells.first

    @property
    def whole(self) -> int:
        return max(self._column.steps, 1)

    @property
    def _column(self) -> Bounded:
        assert isinstance(self.cells.column, Bounded)  # noqa: S101 - as `scale_of` made it
        return self.cells.column

    def penalty(self, low: Numbers, high: Numbers) -> Numbers:
        return high - low

    def texts(self, low: Numbers, high: Numbers) -> list[str]:
        value = self._column.from_steps
        ends = zip(low.tolist(), high.tolist(), strict=True)
        return [interval(value(one), value(other)) for one, other in ends]

    def centres(self, low: Numbers, high: Numbers) -> Cells:
        middle = low + (high - low) // 2 + self.cells.first
        return replace(self.cells, numbers=middle, present=np.ones(low.size, np.bool_))

    def levels(self, codes: Numbers, widths: Sequence[int] = ()) -> list[Run]:
        top = self._column.steps
        lows = [(codes // width * width, width) for width in widths or _doubled(top + 1)]
        runs = [(low, np.minimum(low + (width - 1), top)) for low, width in lows]
        return [(codes, codes), *runs, (np.zeros_like(codes), np.full_like(codes, top))]


@dataclass(frozen=True, eq=False)
class Flat(Scale):
    """Categories without a taxonomy, and booleans: codes are positions in the declared order."""

    @cached_property
    def codes(self) -> Numbers:
        return self._code_of[self.cells.numbers]

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """One name of each category: those that differ in spelling only are one."""
        first = np.unique(self._code_of, return_index=True)[1]
        return tuple(names_of(self.cells.column)[i] for i in first.tolist())

    @cached_property
    def _code_of(self) -> Numbers:
        if isinstance(self.cells.column, Boolean):
            return np.arange(2)
        import pyarrow

        words = word_codes(pyarrow.array(self.cells.labels), self.cells.column)
        _, first, which = np.unique(words, return_index=True, return_inverse=True)
        order = np.argsort(np.argsort(first))
        codes: Numbers = order[which.reshape(-1)].astype(np.int64)
        return codes

    @property
    def whole(self) -> int:
        return len(self._names)

    def penalty(self, low: Numbers, high: Numbers) -> Numbers:
        return np.where(high > low, high - low + 1, 0)

    def texts(self, low: Numbers, high: Numbers) -> list[str]:
        names, known = self._names, names_of(self.cells.column)
        every = anything(known)
        ends = zip(low.tolist(), high.tolist(), strict=True)
        return [
            every if other - one + 1 == len(names) > 1 else one_of(names[one : other + 1], known)
            for one, other in ends
        ]

    def centres(self, low: Numbers, high: Numbers) -> Cells:
        column, one = self.cells.column, low == high
        if not isinstance(column, Category):
            return replace(self.cells, numbers=low, present=one)
        labels = (*self._names, column.taxonomy.root)
        numbers = np.where(one, low, len(self._names))
        return replace(self.cells, numbers=numbers, present=np.ones_like(one), labels=labels)

    def levels(self, codes: Numbers, widths: Sequence[int] = ()) -> list[Run]:
        return [(codes, codes), (np.zeros_like(codes), np.full_like(codes, self.whole - 1))]


@dataclass(frozen=True, eq=False)
class Covered(Scale):
    """Categories with a taxonomy: codes are its leaves, and a run is the concept that covers it."""

    in_two = False

    @cached_property
    def tree(self) -> Tree:
        return Tree.of(self._column.taxonomy)

    @property
    def _column(self) -> Category:
        assert isinstance(self.cells.column, Category)  # noqa: S101 - as `scale_of` made it
        return self.cells.column

    @cached_property
    def codes(self) -> Numbers:
        leaves = np.array([self.tree.leaf_of[label] for label in self.cells.labels], np.int64)
        return leaves[self.cells.numbers]

    @property
    def whole(self) -> int:
        return self.tree.leaves

    def penalty(self, low: Numbers, high: Numbers) -> Numbers:
        concept = self.tree.covering(low, high)
        covered = self.tree.last[concept] - self.tree.first[concept] + 1
        return np.where(high > low, covered, 0)

    def texts(self, low: Numbers, high: Numbers) -> list[str]:
        return [self.tree.names[concept] for concept in self.tree.covering(low, high).tolist()]

    def centres(self, low: Numbers, high: Numbers) -> Cells:
        # its name without the asterisk that distinguishes it from the category of the same name
        known = {*self._column.taxonomy.concepts, *self._column.categories}
        names = tuple(name if name in known else name.rstrip("*") for name in self.tree.names)
        numbers, present = self.tree.covering(low, high), np.ones(low.size, np.bool_)
        return replace(self.cells, numbers=numbers, present=present, labels=names)

    def levels(self, codes: Numbers, widths: Sequence[int] = ()) -> list[Run]:
        concepts = [self.tree.lines[codes, depth] for depth in range(self.tree.depth, -1, -1)]
        return [(self.tree.first[concept], self.tree.last[concept]) for concept in concepts]

    def offer(self, tally: Tally, k: int) -> Offer:
        return by_children(tally, k, self.share, self.tree)


def scale_of(cells: Cells) -> Scale:
    column = cells.column
    if isinstance(column, Bounded):
        return Line(cells)
    if isinstance(column, Category) and not isinstance(column.stated, tuple):
        return Covered(cells)
    return Flat(cells)


def _doubled(values: int) -> list[int]:
    """Widths that grow by one power of two, in at most `MOST_LEVELS` levels."""
    factor = 2
    while factor ** (MOST_LEVELS - 1) < values:
        factor *= 2
    widths = (factor**level for level in range(1, MOST_LEVELS))
    return [width for width in widths if width < values]


@dataclass(frozen=True, eq=False)
class Recoded(Cells):
    """The texts of one column: its numbers are groups, its labels their texts."""

    def to_arrow(self) -> pyarrow.Array:
        """Text, whatever type the source had: the type reveals nothing of rows."""
        import pyarrow as pa

        return pa.array(self.labels, pa.string()).take(pa.array(self.numbers))


def recoded(scale: Scale, run: Run, labels: Numbers) -> Recoded:
    """The column with the text of each row's group instead of the row's own value."""
    ends, which = np.unique(np.stack(run), axis=1, return_inverse=True)
    texts = tuple(scale.texts(ends[0], ends[1]))
    cells = scale.cells
    present = np.ones(labels.size, np.bool_)
    return Recoded(cells.column, which.reshape(-1)[labels], present, None, texts)
