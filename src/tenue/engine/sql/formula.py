"""The SQL of a computed column.

Guarantee
    No row makes it fail. Every number that is computed on the way lies in a range that follows from
    the bounds of the columns, and the type in which all of it is computed holds that range.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from ...schema import Date, Datetime, Named, Number
from ..formula import (
    Computed,
    DateField,
    Ends,
    Formula,
    Product,
    Quotient,
    Steps,
    Sum,
    check_range,
    largest_in,
    leaf_ends,
    range_of,
)
from ..request import ContributionRequest, RankRequest, Request
from .logical import Logical, Stored
from .moment import DAY, counts
from .predicate import truth
from .whole import integer

_HOUR = DAY // 24


def ends_in(logical: Logical, leaf: Steps | DateField) -> Ends:
    """What a column, or a field of one, may be."""
    return leaf_ends(logical.column(leaf.column), leaf)


def logical_table(request: Request | RankRequest | ContributionRequest, table: Stored) -> Logical:
    """The logical table of a request, with the columns that it computes."""
    return Logical(with_computed(table, request.computed))


def with_computed(table: Stored, computed: Iterable[Computed]) -> Stored:
    """The table with columns that a request computes; each may be made of those before it.

    To all else they are declared columns with steps of 1, between the ends of their ranges.
    """
    for one in computed:
        before = Logical(table)
        low, high = check_range(one.formula, lambda leaf: ends_in(before, leaf))  # noqa: B023
        column = Number(
            name=one.name, role="other", low=Fraction(low), high=Fraction(high), grid=Fraction(1)
        )
        declared = Named([*table.declared.items(), (one.name, column)])
        formulas = {**table.formulas, one.name.lower(): one.formula}
        table = replace(table, declared=declared, formulas=formulas)
    return table


def written(formula: Formula, logical: Logical) -> str:
    """The SQL of the steps; NULL where they are missing."""

    def ends(leaf: Steps | DateField) -> Ends:
        return ends_in(logical, leaf)

    low, high = check_range(formula, ends)
    largest = largest_in(formula, ends)
    writer = _Writer(logical, logical.dialect.holding(-largest, largest))
    return f"CAST({writer.write(formula)} AS {logical.dialect.holding(low, high)})"


class _Writer:
    def __init__(self, logical: Logical, kind: str) -> None:
        self.logical = logical
        self.kind = kind

    def write(self, formula: Formula) -> str:
        if isinstance(formula, Steps):
            return f"CAST({self.logical.value(formula.column)} AS {self.kind})"
        if isinstance(formula, DateField):
            return f"CAST({self._field(formula)} AS {self.kind})"
        if isinstance(formula, Sum):
            terms = [
                f"{self._constant(weight)} * {self.write(part)}" for weight, part in formula.terms
            ]
            return f"({' + '.join([self._constant(formula.constant), *terms])})"
        if isinstance(formula, Product):
            return f"({' * '.join(map(self.write, formula.factors))})"
        if isinstance(formula, Quotient):
            return self._quotient(formula)
        cases = [
            f"WHEN {truth(condition, self.logical)} THEN {self.write(part)}"
            for condition, part in formula.cases
        ]
        last = "" if formula.otherwise is None else f" ELSE {self.write(formula.otherwise)}"
        return f"(CASE {' '.join(cases)}{last} END)"

    def _constant(self, value: int) -> str:
        return f"CAST({integer(value)} AS {self.kind})"

    def _quotient(self, formula: Quotient) -> str:
        low, _ = range_of(formula.of, lambda leaf: ends_in(self.logical, leaf))
        up = -min(low // formula.divisor, 0)
        inside, divisor = self.write(formula.of), self._constant(formula.divisor)
        raised = f"({inside} + {self._constant(up * formula.divisor)})"
        return f"(({raised} {self.logical.dialect.divide} {divisor}) - {self._constant(up)})"

    def _field(self, leaf: DateField) -> str:
        logical, dialect = self.logical, self.logical.dialect
        column = logical.column(leaf.column)
        assert isinstance(column, Date | Datetime)  # noqa: S101 - `leaf_ends` refused the others
        low, _, grid = counts(column)
        count = logical.steps(column).times(grid).plus(low)
        if leaf.field == "hour":
            hours = count.floor_divide(_HOUR)
            days = count.floor_divide(DAY)
            return f"({hours.sql} - 24 * {days.sql})"
        days = count if isinstance(column, Date) else count.floor_divide(DAY)
        if leaf.field == "isodow":
            weeks = days.plus(3).floor_divide(7)
            return f"({days.sql} + 4 - 7 * {weeks.sql})"
        day = dialect.date(days.sql)
        return dialect.part(leaf.field, day)
