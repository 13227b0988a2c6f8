"""Declared workloads: every threshold, every range, every table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...arguments import Number, checked_call, exact, whole
from ...errors import refuse
from ...schema import Bounded, Schema
from ...schema.toml_values import show
from ..question import Aggregate, Question
from .level import Runs

MOST_VALUES = 10_000


@dataclass(frozen=True)
class Line:
    """Every threshold, or every range, of one column.

    It is asked as one histogram, whose noise is shaped to the declared sums of its cells:
    `answers.up_to` and `answers.between` give any of these with its own interval.
    """

    column: str
    width: Number | None
    ranges: bool
    where: str | None = None

    def texts(self, schema: Schema) -> list[str]:
        column = schema.column(self.column)
        if not isinstance(column, Bounded) or column.type != "number":
            raise refuse("ask.workload-of-non-number", name=column.name, type=column.type)
        width = show(column.grid if self.width is None else exact(self.width, "width"))
        name = _quoted(column.name, schema)
        return [_counts(f"BIN({name}, {width}) AS {name}", 1, self.where, schema)]

    def check(self, questions: Sequence[Question]) -> None:
        """Refuses questions that are not the one histogram."""
        _check_counts(questions)
        if len(questions[0].keys) != 1:
            raise refuse("ask.workload-unknown-parts")

    def rows(self, atoms: int) -> Runs:
        """The declared sums over cells of the histogram."""
        first, last = np.zeros(atoms, dtype=np.int64), np.arange(atoms)
        if self.ranges:
            first, last = np.triu_indices(atoms)
        return Runs(atoms, np.arange(len(first) + 1), first, last + 1)


@dataclass(frozen=True)
class Tables:
    """Every table of counts by so many of the columns."""

    columns: tuple[str, ...]
    ways: int
    where: str | None = None

    def texts(self, schema: Schema) -> list[str]:
        quoted = [_quoted(name, schema) for name in self.columns]
        tables = combinations(quoted, self.ways)
        return [_counts(", ".join(keys), self.ways, self.where, schema) for keys in tables]

    def check(self, questions: Sequence[Question]) -> None:
        """Refuses questions that are not tables of counts."""
        _check_counts(questions)


Declared = Line | Tables


def _counts(keys: str, many: int, where: str | None, schema: Schema) -> str:
    condition = "" if where is None else f" WHERE {where}"
    numbers = ", ".join(str(i + 1) for i in range(many))
    return f"SELECT {keys}, COUNT(*) AS count FROM {schema.name}{condition} GROUP BY {numbers}"  # noqa: S608


def _quoted(name: str, schema: Schema) -> str:
    """Columns in quotes, because a name may have several words; keys such as BIN(age, 10) as is."""
    return f'"{name}"' if name in schema.columns else name


def _check_counts(questions: Sequence[Question]) -> None:
    """Refuses a `where` with further clauses, since it is inserted into SQL."""
    for question in questions:
        after = question.having or question.order or question.limit is not None
        if after or question.persons is not None or question.aggregates() != (Aggregate("count"),):
            raise refuse("ask.workload-unknown-parts")


@checked_call
def prefixes(column: str, *, width: Number | None = None, where: str | None = None) -> Line:
    """How many rows are at most x, for every x of a number: a cumulative histogram.

    Parameters
        column: a number, of at most 10,000 values or bins.
        width: how wide a bin is; None for the column's grid.
        where: which rows, as SQL writes a condition; None for all.
    """
    return Line(column, width, False, where)


@checked_call
def ranges(column: str, *, width: Number | None = None, where: str | None = None) -> Line:
    """How many rows are from x to y, for all x and y of a number; parameters as in `prefixes`."""
    return Line(column, width, True, where)


@checked_call
def marginals(columns: Sequence[str], *, ways: int = 2, where: str | None = None) -> Tables:
    """The tables of counts by every combination of so many columns.

    Parameters
        columns: categories, booleans, or keys such as "BIN(age, 10)".
        ways: how many columns a table has.
        where: which rows, as SQL writes a condition; None for all.
    """
    names = tuple(columns) if isinstance(columns, list | tuple) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise refuse("ask.workload-columns-not-list")
    many = whole(ways, "ways", least=1)
    if many > len(names):
        raise refuse("ask.workload-dimension", ways=many, columns=len(names))
    return Tables(names, many, where)
