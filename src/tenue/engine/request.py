"""What an engine is asked: which rows, which cells, which whole numbers of each cell.

A request is already typed against the schema: bounded columns are compared in whole grid steps,
categories by their declared names. An engine writes it anew in its own language; nothing an analyst
typed reaches it.

The logical table. Every bounded column holds whole steps: the value is clamped to the bounds
(±infinity too) and rounded by floor(x/grid + 1/2) to the grid; `steps` counts from zero, so the
column's number is `steps`·grid, with low/grid ≤ steps ≤ high/grid. NULL, NaN, and categories that
are not declared are missing; a column with a declared `missing` value has that value there instead
and is never missing. A comparison with a missing value is neither true nor false, as in SQL.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = [
    "All",
    "Among",
    "Any_",
    "Bin",
    "Calendar",
    "Group",
    "Key",
    "Measure",
    "Missing",
    "Not",
    "Predicate",
    "Request",
    "Within",
]


@dataclass(frozen=True)
class Within:
    """first ≤ the column's steps ≤ last; either end may be open. first > last holds for no row."""

    column: str
    first: int | None
    last: int | None


@dataclass(frozen=True)
class Among:
    """The category or boolean is one of these; booleans are True and False."""

    column: str
    values: tuple[str | bool, ...]


@dataclass(frozen=True)
class Missing:
    """The value is missing."""

    column: str


@dataclass(frozen=True)
class Not:
    """SQL's NOT: unknown stays unknown."""

    part: Predicate


@dataclass(frozen=True)
class All:
    """SQL's AND."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True)
class Any_:  # noqa: N801 - `Any` is taken by typing
    """SQL's OR."""

    parts: tuple[Predicate, ...]


Predicate = Within | Among | Missing | Not | All | Any_


@dataclass(frozen=True)
class Group:
    """Cells by category or boolean: cell i is the i-th declared category; False is 0, True is 1."""

    column: str
    cells: int


@dataclass(frozen=True)
class Bin:
    """Cells of `width` steps: cell = floor(steps / width) − first, 0 ≤ cell < cells."""

    column: str
    width: int
    first: int
    cells: int


@dataclass(frozen=True)
class Calendar:
    """Cells by calendar unit of a date or datetime.

    cell = index(value) − first, where index counts years, quarters (4·year + quarter − 1), months
    (12·year + month − 1), weeks from Monday (floor((days since 1970-01-01 + 3) / 7)), days since
    1970-01-01, hours since then.
    """

    column: str
    part: Literal["year", "quarter", "month", "week", "day", "hour"]
    first: int
    cells: int


Key = Group | Bin | Calendar


@dataclass(frozen=True)
class Measure:
    """One whole number of each cell.

    rows: how many rows; present: how many have the column; total: the sum of the column's steps
    over the rows that have it.
    """

    kind: Literal["rows", "present", "total"]
    column: str | None = None


@dataclass(frozen=True)
class Request:
    """The whole numbers of each cell, over the rows for which `where` is true.

    A row whose key is missing is in no cell. Without keys there is one cell.
    """

    measures: tuple[Measure, ...]
    where: Predicate | None = None
    keys: tuple[Key, ...] = ()
