"""What is public about the columns of a private table: every value is a place on a line.

Numbers, dates and datetimes lie in the order of their grid, categories depth first in their
taxonomy (flat ones as declared), false before true. Missing is a value of the domain like any
other, with the last place, unless the schema declares which value replaces a missing one. The place
of a value depends on the schema and on the value alone, never on another row, so a replaced record
changes one row of places and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...engine.sql.grid_values import first_step
from ...errors import refuse
from ...noise.samplers import LARGEST
from ...schema import Bounded, Category, Column, Schema
from ..table.cells import Cells, Coding

if TYPE_CHECKING:
    import pyarrow

Places = NDArray[np.int64]
"""One row for each record, one column for each axis; every entry in [0, size of the axis)."""


@dataclass(frozen=True)
class Axis:
    """The places that values of one column may take, numbered from 0.

    blank: whether the last place stands for a missing value, which then leaves as a blank. It does
        unless the schema declares a value to take instead.
    """

    column: Column
    size: int
    blank: bool = False

    @classmethod
    def of(cls, column: Column) -> Axis:
        if isinstance(column, Bounded):
            held = column.steps + 1
        else:
            held = len(column.categories) if isinstance(column, Category) else 2
        blank = column.missing is None
        return cls(column, held + blank, blank)

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def held(self) -> int:
        """How many places stand for values."""
        return self.size - self.blank

    @property
    def ordered(self) -> bool:
        """Whether near places are near values: numbers, dates and datetimes."""
        return isinstance(self.column, Bounded)

    def places(self, cells: Cells) -> NDArray[np.int64]:
        """The place of each value; a missing one takes the value that the schema declares, or else
        is a blank."""
        full = cells.filled()
        if isinstance(self.column, Category):
            rank = {label: i for i, label in enumerate(self.column.taxonomy.depth_first)}
            of_label = np.array([rank[label] for label in full.labels], np.int64)
            places = of_label[np.where(full.present, full.numbers, 0)]
        else:
            places = np.clip(full.numbers - self._first, 0, self.held - 1)
        return np.asarray(np.where(full.present, places, self.size - 1))

    def cells(self, places: NDArray[np.int64]) -> Cells:
        """The values at these places, in a type that follows from the schema: that of the source
        may reveal something of rows."""
        present = places < self.held
        if isinstance(self.column, Category):
            index = {label: i for i, label in enumerate(self.column.categories)}
            number = np.array([index[x] for x in self.column.taxonomy.depth_first], np.int64)
            numbers = number[np.where(present, places, 0)]
        else:
            numbers = np.where(present, places, 0) + self._first
        return Cells(self.column, numbers, present, None)

    @property
    def _first(self) -> int:
        return first_step(self.column) if isinstance(self.column, Bounded) else 0


@dataclass(frozen=True)
class Domain:
    """The axes of a table, in the schema's order: all that is known of it before the price is paid,
    besides the number of rows."""

    axes: tuple[Axis, ...]

    @classmethod
    def of(cls, schema: Schema) -> Domain:
        """The columns that leave: those that are stored and name no person; refused where one has
        more places than whole numbers that can be drawn."""
        columns = Coding.of(schema).columns
        axes = tuple(
            Axis.of(column)
            for column in columns
            if column.role != "identifier" and column.name.lower() != schema.unit.lower()
        )
        if not axes:
            raise refuse("publish.nothing-can-leave", name=schema.name)
        for axis in axes:
            if axis.size >= LARGEST:
                raise refuse("publish.domain-too-large", column=axis.name)
        return cls(axes)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(axis.size for axis in self.axes)

    @property
    def empty(self) -> Places:
        """The places of a record in which every value is missing."""
        nothing = np.zeros(1, np.int64)
        return self.places(
            {axis.name: Cells(axis.column, nothing, nothing > 0, None) for axis in self.axes}
        )

    def places(self, cells: Mapping[str, Cells]) -> Places:
        """The places of each record: a function of the record alone."""
        columns = [axis.places(cells[axis.name]) for axis in self.axes]
        return np.ascontiguousarray(np.array(columns, np.int64).T.reshape(-1, len(self.axes)))

    def cells(self, places: Places) -> dict[str, Cells]:
        """The columns at these places."""
        return {axis.name: axis.cells(places[:, j]) for j, axis in enumerate(self.axes)}

    def table(self, places: Places) -> pyarrow.Table:
        import pyarrow

        return pyarrow.table({name: one.to_arrow() for name, one in self.cells(places).items()})
