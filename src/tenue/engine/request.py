"""What an engine is asked: which rows, which cells, which whole numbers of each cell.

A request is already typed against the schema: bounded columns are compared in whole grid steps,
categories by their declared names. An engine writes it anew in its own language; nothing an analyst
typed reaches it.

The logical table. Every bounded column holds whole steps: the value is clamped to the bounds
(±infinity too) and rounded by floor(x/grid + 1/2) to the grid. The steps of a number count from
zero, so the number is `steps`·grid, with low/grid ≤ steps ≤ high/grid; those of a date or datetime
count from `low`, with 0 ≤ steps ≤ (high − low)/grid. NULL, NaN, and categories that are not
declared are missing; a column with a declared `missing` value has that value there instead and is
never missing. A comparison with a missing value is neither true nor false, as in SQL.

The order of things. `where` first; then rows in no cell are dropped, and rows that belong to
nobody; then the limits of `people`; what is left is measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .computed_column import Computed, Predicate


@dataclass(frozen=True)
class Group:
    """Cells by category or boolean: cell i is the i-th declared category; False is 0, True is 1.

    Of a computed column cell i is where its steps are i.
    """

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


@dataclass(frozen=True)
class Pieces:
    """Cells that are pieces of one column's domain: every row is in one of them, and in one only.

    Rows without a value are in the last cell. The others are in the cell that the value decides.

    starts: for a bounded column, the first step of every piece but the lowest, in increasing order:
        cell = how many of them are at most the steps.
    classes: for a category or boolean, the cell of each declared category, or of False and True.
    """

    column: str
    cells: int
    starts: tuple[int, ...] = ()
    classes: tuple[int, ...] = ()


Key = Group | Bin | Calendar
"""What a question may group by: a row may be in no cell."""
CellKey = Key | Pieces


@dataclass(frozen=True)
class Factor:
    """(steps − shift)^power of one column; power 0 only asks that the column is there."""

    column: str
    shift: int
    power: int


@dataclass(frozen=True)
class Measure:
    """One whole number of each cell.

    rows: how many rows.
    present: how many have the column.
    total: the sum of the column's steps over the rows that have it.
    moment: the sum, over the rows that have the columns of all factors, of the factors' product.
    units: how many different units of the request's `people` have a row in the cell, if it is one
        that was kept of them: `people.rows` is no limit.
    unit-total: of each unit of `people` the sum of the column's steps over its rows in the cell,
        cut to `low` and `high`, and the sum of these. Here all rows of the unit count that are in
        cells kept of it: `people.rows` is no limit. Who has no value adds nothing.
    """

    kind: Literal["rows", "present", "total", "moment", "units", "unit-total"]
    column: str | None = None
    factors: tuple[Factor, ...] = ()
    low: int = 0
    high: int = 0


@dataclass(frozen=True)
class People:
    """At most so many rows, and so many cells, of each unit are measured.

    Guarantee
        Of each unit at most `rows` rows are kept, in at most `groups` cells, whatever is drawn.
        First each set of so many of the unit's cells is as likely as any other, then each set of so
        many of its rows in those cells, drawn from `noise.source`, for each unit by itself and for
        each request anew. So one unit more or less changes the law of the kept rows as if at most
        `rows` rows, in at most `groups` cells, were added or left out.

    Rows in no cell use up no limit. A row without a unit belongs to nobody and is never measured.

    Parameters
        unit: an identifier or a category column. Its values are compared exactly: texts byte by
            byte, numbers as numbers; NULL and NaN, and categories that are not declared, are
            nobody, unless the category has a declared `missing` value.
        rows: the most rows of a unit, at least 1.
        groups: the most cells of a unit, at least 1; None for no such limit. Without keys there is
            one cell, and it changes nothing.
    """

    unit: str
    rows: int
    groups: int | None


@dataclass(frozen=True)
class UnitValue:
    """One whole number of a unit's own rows, cut to `low` and `high`.

    rows, present: how many rows; how many have the column.
    total, least, largest: of the column's steps. mean: of them, rounded half up to a step.
    A unit without any value of the column has none of the last four.
    """

    name: str
    kind: Literal["rows", "present", "total", "least", "largest", "mean"]
    column: str | None
    low: int
    high: int


@dataclass(frozen=True)
class Units:
    """A table with one row for each unit that has a row for which `where` is true.

    Its columns are `values`, and no others; all rows of a unit count.
    """

    unit: str
    values: tuple[UnitValue, ...]
    where: Predicate | None = None
    computed: tuple[Computed, ...] = ()


@dataclass(frozen=True)
class Request:
    """The whole numbers of each cell, over the rows for which `where` is true.

    A row whose key is missing is in no cell. Without keys there is one cell. Whatever names a
    column may name one of `computed`, too, whose steps count from zero. With `units` all of it is
    about the table of units.
    """

    measures: tuple[Measure, ...]
    where: Predicate | None = None
    keys: tuple[CellKey, ...] = ()
    people: People | None = None
    computed: tuple[Computed, ...] = ()
    units: Units | None = None


@dataclass(frozen=True)
class Window:
    """The values whose score is below `reach`.

    With n rows in the cell that have the column, L of them smaller than v and C of them at most v,
    the score of v is max(b·L − (a·n + c1), (a·n + c2) − b·C, 0). All are whole numbers of any size,
    with 0 ≤ a ≤ b and 1 ≤ b.
    """

    b: int
    a: int
    c1: int
    c2: int
    reach: int


@dataclass(frozen=True)
class RankRequest:
    """The stored values of a bounded column near some ranks of each cell; see `Window`.

    A row that lacks the column has no rank: it is dropped together with those for which `where` is
    not true, and uses up no limit of `people`.
    """

    column: str
    windows: tuple[Window, ...]
    where: Predicate | None = None
    keys: tuple[CellKey, ...] = ()
    people: People | None = None
    computed: tuple[Computed, ...] = ()
    units: Units | None = None


@dataclass(frozen=True)
class Contribution:
    """One whole number of each unit, over all of its rows in cells: no limit applies to it.

    rows: how many rows; with `columns`, how many rows have each of them, and the most of these.
    cells: in how many cells; with `columns`, in how many each of them has a value, and the most of
        these. A unit without any value of the columns has no such number.
    least, largest: the least and the largest sum of the column's steps that it has in a cell. A
        unit without any value of the column has no such number.
    beyond: in how many cells that sum is less than `low` or more than `high`.
    """

    kind: Literal["rows", "cells", "least", "largest", "beyond"]
    column: str | None = None
    low: int = 0
    high: int = 0
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class ContributionRequest:
    """The contributions of all units near some ranks; see `Window`, with units in place of rows.

    unit: as in `People`; a row without a unit belongs to nobody.
    first, last: a contribution beyond these counts as the nearer one.
    """

    contribution: Contribution
    unit: str
    windows: tuple[Window, ...]
    first: int
    last: int
    where: Predicate | None = None
    keys: tuple[CellKey, ...] = ()
    computed: tuple[Computed, ...] = ()
