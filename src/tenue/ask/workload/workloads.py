"""Workloads that are declared and not written out: every threshold, every range, every table."""

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

    Asked, it is one histogram, whose noise is shaped to what is added up from it: `answers.up_to`
    and `answers.between` give any of the declared answers with its own interval.
    """

    column: str
    width: Number | None
    ranges: bool
    where: str | None = None

    def texts(self, schema: Schema) -> list[str]:
        """The histogram, as SQL."""
        column = schema.column(self.column)
        if not isinstance(column, Bounded) or column.type != "number":
            raise refuse("ask.workload-of-non-number", name=column.name, type=column.type)
        width = show(column.grid if self.width is None else exact(self.width, "width"))
        name = _quoted(column.name, schema)
        where = "" if self.where is None else f" WHERE {self.where}"
        return [
            f"SELECT BIN({name}, {width}) AS {name}, COUNT(*) AS count FROM {schema.name}{where} "  # noqa: S608
            f"GROUP BY 1"
        ]

    def check(self, questions: Sequence[Question]) -> None:
        """Refuses texts that became anything but the one histogram."""
        _check_counts(questions)
        if len(questions[0].keys) != 1:
            raise refuse("ask.workload-unknown-parts")

    def rows(self, atoms: int) -> Runs:
        """What is added up, over the cells of the histogram."""
        if not self.ranges:
            ends = np.stack([np.zeros(atoms, dtype=np.int64), np.arange(1, atoms + 1)], axis=1)
        else:
            first, last = np.triu_indices(atoms)
            ends = np.stack([first, last + 1], axis=1)
        return Runs(atoms, np.arange(len(ends) + 1), ends[:, 0], ends[:, 1])


@dataclass(frozen=True)
class Tables:
    """Every table by so many of the columns."""

    columns: tuple[str, ...]
    ways: int
    where: str | None = None

    def texts(self, schema: Schema) -> list[str]:
        """The tables, as SQL."""
        where = "" if self.where is None else f" WHERE {self.where}"
        found = []
        for chosen in combinations(self.columns, self.ways):
            keys = ", ".join(_quoted(name, schema) for name in chosen)
            places = ", ".join(str(i + 1) for i in range(len(chosen)))
            found.append(
                f"SELECT {keys}, COUNT(*) AS count FROM {schema.name}{where} GROUP BY {places}"  # noqa: S608
            )
        return found

    def check(self, questions: Sequence[Question]) -> None:
        """Refuses texts that became anything but tables of counts."""
        _check_counts(questions)


Declared = Line | Tables


def _quoted(name: str, schema: Schema) -> str:
    """A declared name in quotes, for it need not be one word; a key such as BIN(age, 10) as is."""
    return f'"{name}"' if name in schema.columns else name


def _check_counts(questions: Sequence[Question]) -> None:
    """Refuses a condition that goes on after the condition: it is a part of a text."""
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
    """How many rows are from x to y, for all x and y of a number. Parameters as in `prefixes`."""
    return Line(column, width, True, where)


@checked_call
def marginals(columns: Sequence[str], *, ways: int = 2, where: str | None = None) -> Tables:
    """The tables of counts by every so many of the columns.

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
