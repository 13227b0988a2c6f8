"""The columns a table may have, one class for each type.

A column knows everything that is public about it, and nothing that was read from rows. The rules
that its parts must keep are checked where it is read (`declaration.py`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import ClassVar, TypedDict

from ..arguments import exact, whole
from ..errors import refuse
from ..taxonomy import Taxonomy
from .expression import Expression
from .toml_values import show

ROLES = ("identifier", "quasi-identifier", "confidential", "other")

Value = bool | int | Fraction | str | date | datetime
"""What one cell may hold, once it is exact."""

Mark = str | Fraction
"""A text or a number that stands where there is no value."""

_DAY_ZERO = date(1970, 1, 1)
_SECOND_ZERO = datetime(1970, 1, 1)
_MICRO = 10**6


class Shared(TypedDict):
    """What a column of any type states; see `Column`."""

    name: str
    role: str
    sensitive: bool
    marks: tuple[Mark, ...]


@dataclass(frozen=True, kw_only=True)
class Column:
    """What every column has.

    role: what the column is to an intruder, one of `ROLES`.
    sensitive: a confidential column of which no group may be told by its one value.
    missing: the value that is taken where there is none; None if such rows are skipped.
    marks: what a source may write where there is none, besides NULL and NaN: a text, compared
        without the spaces around it, or a number.
    """

    type: ClassVar[str]

    name: str
    role: str
    sensitive: bool = False
    missing: Value | None = None
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Bounded(Column, ABC):
    """A column whose values lie on a grid between two bounds, all three exact.

    `low`, `high` and `grid` are numbers for every type: dates count days, and datetimes seconds,
    since 1970 began. `steps` is how many grid steps lie between the bounds.
    """

    low: Fraction
    high: Fraction
    grid: Fraction

    @property
    def steps(self) -> int:
        """The number of grid steps from the low to the high bound."""
        return int((self.high - self.low) / self.grid)

    @property
    def bounds(self) -> tuple[Value, Value]:
        """The least and the greatest value, as this column holds them."""
        return self.from_steps(0), self.from_steps(self.steps)

    def to_steps(self, value: object) -> int:
        """How many grid steps above the low bound; refused off the grid or outside the bounds."""
        steps = (self._number(value) - self.low) / self.grid
        if 0 <= steps <= self.steps and steps.denominator == 1:
            return int(steps)
        near = min(max(math.floor(steps + Fraction(1, 2)), 0), self.steps)
        low, high, grid, fits = map(show, (*self.bounds, self.grid, self.from_steps(near)))
        given, name = show(value), self.name
        raise refuse(
            "schema.value-outside-domain",
            value=given,
            name=name,
            low=low,
            high=high,
            grid=grid,
            from_steps=fits,
        )

    def from_steps(self, steps: int) -> Value:
        """The value that many grid steps above the low bound."""
        count = whole(steps, "steps")
        if count > self.steps:
            raise refuse(
                "schema.steps-outside-domain", count=count, name=self.name, steps=self.steps
            )
        return self._value(self.low + count * self.grid)

    @abstractmethod
    def _number(self, value: object) -> Fraction: ...

    @abstractmethod
    def _value(self, number: Fraction) -> Value: ...


@dataclass(frozen=True, kw_only=True)
class Number(Bounded):
    """A number.

    expression: how it is derived from other columns, if it is.
    bounds_per_unit: between which ends the sum of one person's values counts, if that is stated.
    assumed_grid: whether nobody stated the grid, which is then 1.

    Example
        >>> rate = Number(name="rate", role="other", low=Fraction(0), high=Fraction(1),
        ...               grid=Fraction(1, 10))
        >>> rate.steps, rate.to_steps(0.7), rate.from_steps(3)
        (10, 7, Fraction(3, 10))
    """

    type: ClassVar[str] = "number"

    expression: Expression | None = None
    bounds_per_unit: tuple[Fraction, Fraction] | None = None
    assumed_grid: bool = field(default=False, compare=False)

    def _number(self, value: object) -> Fraction:
        return exact(value, self.name)

    def _value(self, number: Fraction) -> Value:
        return int(number) if self.grid.denominator == 1 else number


@dataclass(frozen=True, kw_only=True)
class Date(Bounded):
    """A day; its grid counts days.

    Example
        >>> born = Date(name="born", role="other", low=Fraction(0), high=Fraction(14),
        ...             grid=Fraction(7))
        >>> born.bounds, born.to_steps("1970-01-08")
        ((datetime.date(1970, 1, 1), datetime.date(1970, 1, 15)), 1)
    """

    type: ClassVar[str] = "date"

    def _number(self, value: object) -> Fraction:
        return self.number(value)

    def _value(self, number: Fraction) -> Value:
        return _DAY_ZERO + timedelta(days=int(number))

    @staticmethod
    def number(value: object) -> Fraction:
        """Days since 1970 began, of a date or its ISO text; refused for anything else."""
        try:
            day = date.fromisoformat(value.strip()) if isinstance(value, str) else value
        except ValueError:
            day = None
        if not isinstance(day, date) or isinstance(day, datetime):
            raise refuse("schema.not-a-date", value=show(value))
        return Fraction((day - _DAY_ZERO).days)


def _moment_of(value: object) -> str:
    """What a day could be meant as, where a moment must stand."""
    try:
        day = date.fromisoformat(value.strip()) if isinstance(value, str) else value
    except ValueError:
        day = None
    return f"{day}T00:00:00" if isinstance(day, date) else "2024-12-31T23:59:59"


@dataclass(frozen=True, kw_only=True)
class Datetime(Bounded):
    """A moment of local time; its grid counts seconds.

    Example
        >>> seen = Datetime(name="seen", role="other", low=Fraction(0), high=Fraction(3600),
        ...                 grid=Fraction(60))
        >>> seen.from_steps(2), seen.to_steps("1970-01-01T00:05:00")
        (datetime.datetime(1970, 1, 1, 0, 2), 5)
    """

    type: ClassVar[str] = "datetime"

    def _number(self, value: object) -> Fraction:
        return self.number(value)

    def _value(self, number: Fraction) -> Value:
        return _SECOND_ZERO + timedelta(microseconds=int(number * _MICRO))

    @staticmethod
    def number(value: object) -> Fraction:
        """Seconds since 1970 began, of a datetime or its ISO text; refused for anything else."""
        try:
            moment = datetime.fromisoformat(value.strip()) if isinstance(value, str) else value
        except ValueError:
            moment = None
        if isinstance(value, str) and len(value.strip()) <= len("2024-12-31"):
            moment = None  # a day alone
        if not isinstance(moment, datetime):
            said, example = f"{show(value)} is not a datetime", _moment_of(value)
            raise refuse("schema.invalid-datetime", said=said, example=example)
        if moment.tzinfo is not None:
            said, example = f"{show(value)} has an offset", moment.replace(tzinfo=None).isoformat()
            raise refuse("schema.invalid-datetime", said=said, example=example)
        return Fraction((moment - _SECOND_ZERO) // timedelta(microseconds=1), _MICRO)


@dataclass(frozen=True, kw_only=True)
class Category(Column):
    """One of a declared set of categories, flat or in a taxonomy.

    stated: how the holder gave them: a tuple of categories, the name of a taxonomy file, or a
    nested mapping.
    """

    type: ClassVar[str] = "category"

    taxonomy: Taxonomy
    stated: tuple[str, ...] | str | Mapping[str, object] = field(hash=False, repr=False)

    @property
    def categories(self) -> tuple[str, ...]:
        """What rows may hold, in order."""
        return self.taxonomy.categories


@dataclass(frozen=True, kw_only=True)
class Boolean(Column):
    """True or false."""

    type: ClassVar[str] = "boolean"


@dataclass(frozen=True, kw_only=True)
class Identifier(Column):
    """A name or number that stands for one person; it has no domain, and no question counts it."""

    type: ClassVar[str] = "identifier"
