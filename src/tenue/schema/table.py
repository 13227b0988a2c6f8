"""Everything that is public about a table: its columns, its lookups, how it may be asked."""

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
"""A text, a number, or NULL."""


@dataclass(frozen=True, kw_only=True)
class Lookup:
    """A public table.

    key: the column whose values, `keys`, are all different.
    columns: the other columns, in the order of `keys`.
    """

    name: str
    key: str
    keys: tuple[str, ...]
    columns: Named[tuple[Cell, ...]]

    @property
    def digest(self) -> str:
        """The SHA-256 of its content, independent of the order of rows."""
        cells = [
            [None if cell is None else str(cell) for cell in self.columns[c]] for c in self.columns
        ]
        rows = sorted(zip(self.keys, *cells, strict=True), key=lambda row: row[0])
        names = [self.key.lower(), *(name.lower() for name in self.columns)]
        return hashlib.sha256(json.dumps([names, rows]).encode()).hexdigest()


# The interactive protocols of the thesis, section 5.4.1.

FIXED_NOISE = "fixed-noise"
REFINEMENT = "refinement"
PROTOCOLS = (FIXED_NOISE, REFINEMENT)


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """How every question about the table is answered.

    kind: "fixed-noise": each answer has discrete Laplace noise of exactly the scale and costs its
        sensitivity over the scale, while the budget lasts (protocol 1). "refinement": each question
        comes with a prior and an epsilon of its own and is answered by refinement (protocol 2).
    scale: the scale of the noise, in units of the answer; None for refinement.
    """

    kind: str
    scale: Fraction | None = None

    def __str__(self) -> str:
        return self.kind if self.scale is None else f"{self.kind} of scale {show(self.scale)}"


RECORD = "record"
"""The unit of a table in which every person has one row."""

NEIGHBOURS = ("replace", "add-or-remove")
PROMISES = ("individual", "pure")
_WIDEST = 40


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What may ever be spent on the table, in all and by each analyst.

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
    """Everything public about a table.

    unit: who is protected: "record", or the column that names a person.
    rows: the number of rows, if it is public.
    rows_per_unit, groups_per_unit: the contribution limits.
    separator: between the fields of a CSV file; None to find it in the first line.
    ledger: its file or address; None for the usual location.
    version: the holder's name for the state of the data.
    bounds_from_data: whether bounds were read from the rows, which breaks every promise.
    columns: those declared; others are invisible.
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
        """The columns that an intruder may know of a person."""
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
        """The column of that name, in upper or lower case, if it is declared."""
        if name in self.columns:
            return self.columns[name]
        near = nearest(str(name), self.columns)
        raise refuse("schema.column-not-declared", name=self.name, name2=show(name), nearest=near)

    def _of_role(self, role: str) -> tuple[Column, ...]:
        return tuple(column for column in self.columns.values() if column.role == role)

    def _heads(self) -> list[str]:
        unit = f"{self.unit} (at most {self.rows_per_unit} rows)"
        unit = RECORD if self.unit == RECORD else unit
        lines = [f"{self.name}: protects each {unit}, neighbours {self.neighbours}"]
        if self.rows is not None:
            lines[0] += f", {self.rows} rows"
        if self.bounds_from_data:
            lines.append("NOT PRIVATE: bounds were read from the data")
        return lines

    def _cells(self) -> list[list[str]]:
        rows = []
        for name, column in self.columns.items():
            markers = ", ".join(map(show, column.marks))
            domain = [_domain(column), markers and f"missing where {markers}"]
            role = column.role + ", sensitive" * column.sensitive
            rows.append([name, column.type, "; ".join(filter(None, domain)), role])
        return rows

    def _foots(self) -> list[str]:
        lines = []
        if self.budget is not None:
            budget = f"budget: epsilon {show(self.budget.total)}"
            if self.budget.per_analyst is not None:
                budget += f", {show(self.budget.per_analyst)} for each analyst"
            if self.budget.individual is not None:
                budget += f"; individual epsilon {show(self.budget.individual)}, counted apart"
            lines.append(budget)
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


def _domain(column: Column) -> str:
    if isinstance(column, Bounded):
        low, high = map(show, column.bounds)
        domain = f"{low} to {high} by {show(column.grid)}"
        if isinstance(column, Number) and column.bounds_per_unit is not None:
            least, most = map(show, column.bounds_per_unit)
            domain += f", a person's sum {least} to {most}"
        return domain
    if not isinstance(column, Category):
        return ""
    categories = ", ".join(column.categories)
    if len(categories) <= _WIDEST:
        return categories
    first = categories[:_WIDEST].rpartition(", ")[0] or categories[:_WIDEST]
    return f"{len(column.categories)} categories: {first}, …"
