"""The columns a table may have, one class for each type; `file/columns.py` checks their parts."""

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
"""The exact value of one cell."""

Mark = str | Fraction
"""A missing-value marker: a text or a number."""

_DAY_ZERO = date(1970, 1, 1)
_SECOND_ZERO = datetime(1970, 1, 1)
_MICRO = 10**6


class Shared(TypedDict):
    """The fields of a column of any type; see `Column`."""

    name: str
    role: str
    sensitive: bool
    marks: tuple[Mark, ...]


@dataclass(frozen=True, kw_only=True)
class Column:
    """What every column has.

    role: one of `ROLES`.
    sensitive: whether a group in which all have one value of this confidential column is refused.
    missing: the value that replaces a missing one; None if such rows are skipped.
    marks: the missing-value markers of the source, besides NULL and NaN; texts are compared without
        the spaces around them.
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
    since the start of 1970.
    """

    low: Fraction
    high: Fraction
    grid: Fraction

    @property
    def steps(self) -> int:
        """The number of grid steps between the bounds."""
        return int((self.high - self.low) / self.grid)

    @property
    def bounds(self) -> tuple[Value, Value]:
        """The least and the greatest value."""
        return self.from_steps(0), self.from_steps(self.steps)

    def to_steps(self, value: object) -> int:
        """The number of grid steps above the low bound; refused unless a value of the column."""
        steps = (self._number(value) - self.low) / self.grid
        if 0 <= steps <= self.steps and steps.denominator == 1:
            return int(steps)
        near = min(max(math.floor(steps + Fraction(1, 2)), 0), self.steps)
        low, high = map(show, self.bounds)
        raise refuse(
            "schema.value-outside-domain",
            value=show(value),
            name=self.name,
            low=low,
            high=high,
            grid=show(self.grid),
            from_steps=show(self.from_steps(near)),
        )

    def from_steps(self, steps: int) -> Value:
        """The value that lies `steps` grid steps above the low bound."""
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
    bounds_per_unit: to which the sum of one person's values is clipped, if stated.
    assumed_grid: whether the grid is 1 because the holder stated none.

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
        """Days since the start of 1970, of a date or its ISO text."""
        day = _day(value)
        if day is None or isinstance(day, datetime):
            raise refuse("schema.not-a-date", value=show(value))
        return Fraction((day - _DAY_ZERO).days)


def _day(value: object) -> date | None:
    try:
        day = date.fromisoformat(value.strip()) if isinstance(value, str) else value
    except ValueError:
        return None
    return day if isinstance(day, date) else None


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
        """Seconds since the start of 1970, of a datetime or its ISO text."""
        try:
            moment = datetime.fromisoformat(value.strip()) if isinstance(value, str) else value
        except ValueError:
            moment = None
        if isinstance(value, str) and len(value.strip()) <= len("2024-12-31"):
            moment = None  # a day alone
        if not isinstance(moment, datetime):
            day = _day(value)
            example = "2024-12-31T23:59:59" if day is None else f"{day}T00:00:00"
            what = f"{show(value)} is not a datetime"
            raise refuse("schema.invalid-datetime", said=what, example=example)
        if moment.tzinfo is not None:
            local, what = moment.replace(tzinfo=None), f"{show(value)} has an offset"
            raise refuse("schema.invalid-datetime", said=what, example=local.isoformat())
        return Fraction((moment - _SECOND_ZERO) // timedelta(microseconds=1), _MICRO)


@dataclass(frozen=True, kw_only=True)
class Category(Column):
    """One of a declared set of categories, flat or in a taxonomy.

    stated: a tuple of categories, the name of a taxonomy file, or a nested mapping.
    """

    type: ClassVar[str] = "category"

    taxonomy: Taxonomy
    stated: tuple[str, ...] | str | Mapping[str, object] = field(hash=False, repr=False)

    @property
    def categories(self) -> tuple[str, ...]:
        """The values that rows may have, in order."""
        return self.taxonomy.categories


@dataclass(frozen=True, kw_only=True)
class Boolean(Column):
    """True or false."""

    type: ClassVar[str] = "boolean"


@dataclass(frozen=True, kw_only=True)
class Identifier(Column):
    """A name or number of one person; it has no domain, and no question counts it."""

    type: ClassVar[str] = "identifier"
