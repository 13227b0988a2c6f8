"""The columns of a table as whole numbers that passes keep, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...schema import Column, Identifier, Number, Schema
from .cells import Cells, Numbers

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True, eq=False)
class Coding:
    """A number for each value: 0 where it is missing, else its place in the declared domain, from
    1 on.

    columns: in the order of their numbers.
    types: how the source stores each; nothing before it is known.
    """

    columns: tuple[Column, ...]
    types: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, schema: Schema) -> Coding:
        """Of all columns that are stored and no identifiers."""
        return cls(tuple(column for column in schema.columns.values() if _is_read(column)))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def sizes(self) -> list[int]:
        """Above the numbers of each column."""
        return [one.last - one.first + 2 for one in self._empty]

    def numbers(self, cells: Mapping[str, Cells]) -> Numbers:
        """A row for each row, a column for each column."""
        found = [
            np.where(held.present, held.numbers - held.first + 1, 0)
            for held in (cells[name] for name in self.names)
        ]
        return np.stack(found, axis=1)

    def cells(self, numbers: Numbers) -> dict[str, Cells]:
        """What these numbers stand for."""
        return {
            one.name: Cells(
                one.column,
                numbers[:, j] - 1 + one.first,
                numbers[:, j] > 0,
                self.types.get(one.name),
            )
            for j, one in enumerate(self._empty)
        }

    def filled(self, numbers: Numbers) -> Numbers:
        """The same, with what the schema declares where a value is missing."""
        return self.numbers({name: held.filled() for name, held in self.cells(numbers).items()})

    def column(self, name: str) -> Column:
        """The column of this name."""
        return self.columns[self.names.index(name)]

    def places(self, names: tuple[str, ...]) -> list[int]:
        """Which numbers of a row are those of these columns."""
        return [self.names.index(name) for name in names]

    @property
    def _empty(self) -> list[Cells]:
        nothing = np.zeros(0, np.int64)
        return [Cells(column, nothing, nothing.astype(bool), None) for column in self.columns]


def table_of(cells: Mapping[str, Cells], schema: Schema) -> pyarrow.Table:
    """The columns that may leave, as an Arrow table without any metadata."""
    import pyarrow

    shown = {
        name: column.to_arrow()
        for name, column in cells.items()
        if column.column.role != "identifier" and name.lower() != schema.unit.lower()
    }
    return pyarrow.table(shown)


def _is_read(column: Column) -> bool:
    derived = isinstance(column, Number) and column.expression is not None
    return not isinstance(column, Identifier) and not derived
