"""Everything that is public about a table: its columns, its lookups, how it may be asked.

Nothing in it is about a person. Its rows are read with the schema, and are part of what it means.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from fractions import Fraction

from ..errors import nearest, refuse
from ..text import html_table, text_table
from .case_insensitive import Named
from .column import Bounded, Category, Column, Number
from .toml_values import show

Cell = str | Fraction | None
"""A text, a number, or nothing."""


@dataclass(frozen=True, kw_only=True)
class Lookup:
    """A public table.

    key: the column whose values are all different; keys: these values.
    columns: what each key stands for, in the order of `keys`.
    """

    name: str
    key: str
    keys: tuple[str, ...]
    columns: Named[tuple[Cell, ...]]

    @property
    def digest(self) -> str:
        """The SHA-256 of what it says, in whatever order."""
        cells = [
            [None if cell is None else str(cell) for cell in self.columns[c]] for c in self.columns
        ]
        rows = sorted(zip(self.keys, *cells, strict=True), key=lambda row: row[0])
        names = [self.key.lower(), *(name.lower() for name in self.columns)]
        return hashlib.sha256(json.dumps([names, rows]).encode()).hexdigest()


# How the holder lets a table be asked: the interactive protocols of the thesis, section 5.4.1.

FIXED_NOISE = "fixed-noise"
REFINEMENT = "refinement"
PROTOCOLS = (FIXED_NOISE, REFINEMENT)


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """What every question about the table is answered with.

    kind: "fixed-noise": each answer has discrete Laplace noise of exactly the scale and costs its
        sensitivity over the scale, while the budget lasts (protocol 1). "refinement": each question
        comes with a prior and an epsilon of its own and is answered by refinement (protocol 2).
    scale: the scale of the noise, in units of the answer; None for refinement.
    """

    kind: str
    scale: Fraction | None = None

    def __str__(self) -> str:
        return self.kind if self.scale is None else f"{self.kind} of scale {show(self.scale)}"


# -- Everything that is public about a table, as one frozen value ----------------------------------

RECORD = "record"
"""The unit of a table in which every person has one row."""

NEIGHBOURS = ("replace", "add-or-remove")
PROMISES = ("individual", "pure")
_WIDEST = 40


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What may ever be spent on the table: epsilon in total, of which each analyst a part.

    individual: the cap of individual differential privacy, which is never added to epsilon; without
        one, only the `times` of approved questions limit it.
    """

    total: Fraction
    per_analyst: Fraction | None = None
    delta: Fraction | None = None
    individual: Fraction | None = None


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question the holder has approved.

    epsilon: the least epsilon it may be asked with.
    times: how often it may be asked.
    """

    name: str
    sql: str
    promise: str
    epsilon: Fraction | None = None
    times: int | None = None

    @property
    def limited(self) -> bool:
        """Whether both limits are stated, without which individual DP stays off the gateway."""
        return self.epsilon is not None and self.times is not None


@dataclass(frozen=True, kw_only=True, repr=False)
class Table:
    """What is public about a table. Nothing in it was read from rows, unless it says so.

    unit: who is protected: "record", or the column that names a person.
    neighbours: "replace" or "add-or-remove".
    rows: the public number of rows, if there is one.
    rows_per_unit, groups_per_unit: how many rows of a person are kept, and in how many groups.
    separator: the sign between the fields of a CSV file; None to find it in the first line.
    ledger: the file in which is written what was spent and released; None for the usual place.
    version: the holder's name for the state of the data.
    bounds_from_data: whether bounds were read from the rows, which breaks every promise.
    columns: those declared; the others are invisible.
    protocol: how every question is answered, if the holder decided that.
    lookups: public tables that questions may join.
    """

    name: str
    unit: str
    neighbours: str
    columns: Named[Column]
    source: str | None = field(default=None, repr=False)  # it may hold a password
    rows: int | None = None
    rows_per_unit: int | None = None
    groups_per_unit: int | None = None
    separator: str | None = None
    ledger: str | None = field(default=None, repr=False)
    version: str | None = None
    bounds_from_data: bool = False
    budget: Budget | None = None
    protocol: Protocol | None = None
    questions: Named[Question] = field(default_factory=Named)
    lookups: Named[Lookup] = field(default_factory=Named)

    @property
    def private(self) -> bool:
        """Whether answers can keep their promise: False if bounds were read from the data."""
        return not self.bounds_from_data

    @property
    def quasi_identifiers(self) -> tuple[Column, ...]:
        """The columns by which an intruder may recognise a person."""
        return self._of_role("quasi-identifier")

    @property
    def confidential(self) -> tuple[Column, ...]:
        """The columns an intruder wants to know."""
        return self._of_role("confidential")

    @property
    def identifiers(self) -> tuple[Column, ...]:
        """The columns that name a person; no release has them."""
        return self._of_role("identifier")

    def column(self, name: str) -> Column:
        """The column of that name, in upper or lower case; refused if there is none."""
        if name in self.columns:
            return self.columns[name]
        near = nearest(str(name), self.columns)
        raise refuse("schema.column-not-declared", name=self.name, name2=show(name), nearest=near)

    def _of_role(self, role: str) -> tuple[Column, ...]:
        return tuple(column for column in self.columns.values() if column.role == role)

    def _heads(self) -> list[str]:
        """Who is protected, in words."""
        lines = [f"{self.name}: protects {_unit(self)}, neighbours {self.neighbours}"]
        if self.rows is not None:
            lines[0] += f", {self.rows} rows"
        if self.bounds_from_data:
            lines.append("NOT PRIVATE: bounds were read from the data")
        return lines

    def _cells(self) -> list[list[str]]:
        """A row for each column: its name, its type, what it may hold, its role."""
        return [
            [name, column.type, _said(column), column.role + ", sensitive" * column.sensitive]
            for name, column in self.columns.items()
        ]

    def _foots(self) -> list[str]:
        """What may be spent, and on what."""
        lines = []
        if self.budget is not None:
            each = self.budget.per_analyst
            part = "" if each is None else f", {show(each)} for each analyst"
            own = self.budget.individual
            part += "" if own is None else f"; individual epsilon {show(own)}, counted apart"
            lines.append(f"budget: epsilon {show(self.budget.total)}{part}")
        if self.protocol is not None:
            lines.append(f"protocol: {self.protocol}")
        if self.questions:
            lines.append("approved questions: " + ", ".join(self.questions))
        return lines

    def __str__(self) -> str:
        first, *more = self._heads()
        lines = [*more, *text_table(self._cells(), left=4), *self._foots()]
        return "\n".join([first, *(f"  {line}" for line in lines)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        header = ["column", "type", "may hold", "role"]
        return html_table([header, *self._cells()], self._heads(), self._foots())


def _unit(table: Table) -> str:
    if table.unit == RECORD:
        return "each record"
    return f"each {table.unit} (at most {table.rows_per_unit} rows)"


def _said(column: Column) -> str:
    marks = ", ".join(map(show, column.marks))
    return "; ".join(filter(None, (_domain(column), marks and f"missing where {marks}")))


def _domain(column: Column) -> str:
    if isinstance(column, Bounded):
        low, high = map(show, column.bounds)
        domain = f"{low} to {high} by {show(column.grid)}"
        if isinstance(column, Number) and column.bounds_per_unit is not None:
            least, most = map(show, column.bounds_per_unit)
            domain += f", a person's sum {least} to {most}"
        return domain
    if isinstance(column, Category):
        return _listed(column.categories)
    return ""


def _listed(categories: tuple[str, ...]) -> str:
    """The categories while they are few, else how many there are and the first of them."""
    whole = ", ".join(categories)
    if len(whole) <= _WIDEST:
        return whole
    first = whole[:_WIDEST].rpartition(", ")[0] or whole[:_WIDEST]
    return f"{len(categories)} categories: {first}, …"
