"""The columns of a published table as whole numbers, and back to values of the same type.

Numbers, dates and datetimes are grid steps, categories the positions of their names in a list,
booleans 0 and 1. All computations for a release use these numbers; a value becomes a double only at
the very end, the one nearest to its multiple of the grid.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...arguments import exact
from ...engine.sql.grid_values import first_step, last_step
from ...schema import Bounded, Category, Column, Date, Identifier, Number, Schema

if TYPE_CHECKING:
    import pyarrow


Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]

_EXACT = 2**53
_MICRO = 10**6
_DIGITS = 38


@dataclass(frozen=True, eq=False)
class Cells:
    """The values of one column.

    numbers: a whole number for each row; anything where the value is missing.
    present: whether the value is not missing.
    type: the Arrow type in which the source stores it; None for text without a type.
    labels: the names of the numbers of a category.
    """

    column: Column
    numbers: Numbers
    present: Flags
    type: Any
    labels: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, column: Column, values: Any, kind: Any) -> Cells:
        """The cells of an Arrow array of whole numbers, as an engine reads them."""
        present = ~values.is_null().to_numpy(zero_copy_only=False)
        numbers = values.fill_null(0).to_numpy(zero_copy_only=False)
        return cls(column, numbers.astype(np.int64), present.astype(bool), kind)

    def __post_init__(self) -> None:
        if isinstance(self.column, Category) and not self.labels:
            object.__setattr__(self, "labels", self.column.categories)

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def size(self) -> int:
        return self.numbers.size

    @property
    def complete(self) -> bool:
        return bool(self.present.all())

    def take(self, rows: NDArray[Any]) -> Cells:
        return replace(self, numbers=self.numbers[rows], present=self.present[rows])

    def filled(self) -> Cells:
        """With the declared replacement for missing values, if the schema declares one."""
        if self.column.missing is None or self.complete:
            return self
        numbers = np.where(self.present, self.numbers, self._number_of(self.column.missing))
        return replace(self, numbers=numbers, present=np.ones(self.size, dtype=bool))

    @property
    def first(self) -> int:
        """The least number that the schema allows."""
        return first_step(self.column) if isinstance(self.column, Bounded) else 0

    @property
    def last(self) -> int:
        """The greatest number that the schema allows."""
        if isinstance(self.column, Bounded):
            return last_step(self.column)
        return len(self.labels) - 1 if isinstance(self.column, Category) else 1

    def _number_of(self, value: object) -> int:
        if isinstance(self.column, Bounded):
            return self.first + self.column.to_steps(value)
        if isinstance(self.column, Category):
            return self.labels.index(str(value))
        return int(bool(value))

    def to_arrow(self) -> pyarrow.Array:
        """The values in the type in which they were stored, as far as that can hold them."""
        import pyarrow as pa

        column, absent = self.column, ~self.present
        numbers = np.where(self.present, self.numbers, self.first)
        if isinstance(column, Number):
            return _numbers(column.grid, numbers, absent, _holding(column, self.type))
        if isinstance(column, Bounded):
            return _times(column, numbers, absent, self.type)
        if isinstance(column, Category):
            indices = pa.array(numbers, pa.int32(), mask=absent)
            words = pa.DictionaryArray.from_arrays(indices, pa.array(self.labels, pa.string()))
            return _words(words, self.type)
        flags = pa.array(numbers.astype(bool), pa.bool_(), mask=absent)
        kind = self.type
        if kind is not None and (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            return flags.cast(pa.int8()).cast(kind)
        return flags


def _holding(column: Number, kind: Any) -> Any:
    """The stored type, or a wider one if a value that may have to be written does not fit into it.

    Decided by the schema alone, never by rows: by the replacement for missing values, and by the
    ends of the type itself once they are on the grid and between the bounds.
    """
    import pyarrow as pa

    whole = column.grid.denominator == 1
    if kind is None and whole and max(abs(column.low), abs(column.high)) >= 2**63:
        return pa.decimal128(_DIGITS, 0)
    if kind is not None and pa.types.is_integer(kind):
        bits = kind.bit_width - pa.types.is_signed_integer(kind)
        ends = Fraction(-(2**bits) if bits < kind.bit_width else 0), Fraction(2**bits - 1)
        wider = [pa.int64(), pa.decimal128(_DIGITS, 0)]
    elif kind is not None and pa.types.is_decimal(kind):
        most = Fraction(10**kind.precision - 1, 10**kind.scale)
        ends, wider = (-most, most), [pa.decimal128(_DIGITS, kind.scale)]
    else:
        return kind
    half = Fraction(1, 2)
    steps = [(end - column.low) / column.grid for end in ends]
    outer = math.ceil(steps[0] - half), math.floor(steps[1] + half)
    needed = [min(max(column.low + n * column.grid, column.low), column.high) for n in outer]
    if column.missing is not None:
        needed.append(exact(column.missing, column.name))
    if all(ends[0] <= value <= ends[1] for value in needed):
        return kind
    small = all(abs(value) < 2**63 for value in needed)
    return wider[0] if small else wider[-1]


def _numbers(grid: Fraction, steps: Numbers, absent: Flags, kind: Any) -> pyarrow.Array:
    import pyarrow as pa

    if kind is None or pa.types.is_null(kind) or pa.types.is_boolean(kind):
        kind = pa.int64() if grid.denominator == 1 else pa.float64()
    p, q = grid.numerator, grid.denominator
    most = max(abs(int(steps.min(initial=0))), abs(int(steps.max(initial=0))))
    small = most * p < _EXACT and q < _EXACT
    if pa.types.is_floating(kind):
        if small:  # both are exact doubles, so the quotient is the nearest one
            values = (steps * p).astype(np.float64) / q
        else:
            values = np.array([float(grid * int(step)) for step in steps.tolist()])
        return pa.array(values, pa.float64(), mask=absent).cast(kind, safe=False)
    if pa.types.is_decimal(kind):
        unit = Fraction(1, 10**kind.scale)
        digits = [_rounded(grid * step / unit) for step in steps.tolist()]
        decimals = [Decimal(number).scaleb(-kind.scale) for number in digits]
        return pa.array(decimals, kind, mask=absent)
    if 2 * most * p + q < 2**62:
        whole = (2 * steps * p + q) // (2 * q)
        return pa.array(whole, pa.int64(), mask=absent).cast(kind)
    return pa.array([_rounded(grid * step) for step in steps.tolist()], kind, mask=absent)


def _rounded(number: Fraction) -> int:
    """The nearest whole number, halves up."""
    return (2 * number.numerator + number.denominator) // (2 * number.denominator)


def _times(column: Bounded, steps: Numbers, absent: Flags, kind: Any) -> pyarrow.Array:
    import pyarrow as pa

    if isinstance(column, Date):
        days = int(column.low) + steps * int(column.grid)
        made = pa.array(days.astype(np.int32), pa.int32(), mask=absent).cast(pa.date32())
    else:
        step = column.grid * _MICRO
        micros = int(column.low * _MICRO) + steps * int(step)
        made = pa.array(micros, pa.int64(), mask=absent).cast(pa.timestamp("us"))
    if kind is None or not pa.types.is_temporal(kind):
        return made
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        made = made.cast(pa.timestamp("us")).cast(pa.timestamp("us", "UTC"))
    return made.cast(kind, safe=False)


def _words(words: pyarrow.DictionaryArray, kind: Any) -> pyarrow.Array:
    """Decided by all the labels, never by those that occur: the type reveals nothing of rows."""
    import pyarrow as pa

    if kind is not None and pa.types.is_dictionary(kind):
        return words
    labels = words.dictionary
    if kind is not None and not pa.types.is_null(kind):
        with suppress(pa.ArrowException):  # the name of a concept is no whole number
            labels = labels.cast(kind)
    return labels.take(words.indices)


@dataclass(frozen=True, eq=False)
class Coding:
    """A number for each value: 0 where it is missing, else its position in the declared domain,
    from 1 on.

    columns: in the order of their numbers.
    types: how the source stores each; empty before it is known.
    """

    columns: tuple[Column, ...]
    types: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, schema: Schema) -> Coding:
        """The coding of all columns that are stored and no identifiers."""
        return cls(
            tuple(
                column
                for column in schema.columns.values()
                if is_stored(column) and not isinstance(column, Identifier)
            )
        )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def sizes(self) -> list[int]:
        """Above the numbers of each column."""
        return [one.last - one.first + 2 for one in self._empty]

    def numbers(self, cells: Mapping[str, Cells]) -> Numbers:
        """A row for each row, a column for each column."""
        columns = [cells[name] for name in self.names]
        codes = [np.where(one.present, one.numbers - one.first + 1, 0) for one in columns]
        return np.stack(codes, axis=1)

    def cells(self, numbers: Numbers) -> dict[str, Cells]:
        return {
            one.name: replace(
                one,
                numbers=numbers[:, j] - 1 + one.first,
                present=numbers[:, j] > 0,
                type=self.types.get(one.name),
            )
            for j, one in enumerate(self._empty)
        }

    def filled(self, numbers: Numbers) -> Numbers:
        """The numbers with the declared replacements for missing values."""
        return self.numbers({name: one.filled() for name, one in self.cells(numbers).items()})

    def column(self, name: str) -> Column:
        return self.columns[self.names.index(name)]

    def places(self, names: tuple[str, ...]) -> list[int]:
        """The positions of these columns in a row of numbers."""
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


def is_stored(column: Column) -> bool:
    """Whether the column is stored, rather than computed from others."""
    return not (isinstance(column, Number) and column.expression is not None)
