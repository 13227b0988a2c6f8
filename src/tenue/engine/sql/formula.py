"""The SQL of a computed column.

Guarantee
    No row makes it fail, by construction: every node is computed in a type that holds all of its
    numbers (`Sized.reach`), which follow from the bounds of the columns, and nothing is cast to a
    narrower type but what lies in a range that this holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from ...schema import Date, Datetime, Named, Number
from ...schema.named import folded
from ..formula import (
    Computed,
    DateField,
    Ends,
    Formula,
    Product,
    Quotient,
    Sized,
    Steps,
    Sum,
    check_range,
    check_sizes,
    leaf_ends,
    raised_by,
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
        formulas = {**table.formulas, folded(one.name): one.formula}
        table = replace(table, declared=declared, formulas=formulas)
    return table


def written(formula: Formula, logical: Logical) -> str:
    """The SQL of the steps; NULL where they are missing."""
    found = check_sizes(formula, lambda leaf: ends_in(logical, leaf))
    return _Writer(logical).write(found, logical.dialect.holding(*found.ends))


class _Writer:
    """Writes each node in a type of its own, which holds its reach."""

    def __init__(self, logical: Logical) -> None:
        self.logical = logical
        self.dialect = logical.dialect

    def write(self, node: Sized, kind: str) -> str:
        """The SQL of a node, cast to a type that holds its ends."""
        own = self.dialect.holding(-node.reach, node.reach)
        sql = self._computed(node, own)
        return sql if own == kind else f"CAST({sql} AS {kind})"

    def _computed(self, node: Sized, own: str) -> str:
        formula = node.formula
        if isinstance(formula, Steps):
            return f"CAST({self.logical.value(formula.column)} AS {own})"
        if isinstance(formula, DateField):
            return f"CAST({self._field(formula)} AS {own})"
        parts = [self.write(part, own) for part in node.parts]
        if isinstance(formula, Sum):
            terms = [
                part if weight == 1 else f"{self._constant(weight, own)} * {part}"
                for (weight, _), part in zip(formula.terms, parts, strict=True)
            ]
            first = [self._constant(formula.constant, own)] if formula.constant or not terms else []
            return f"({' + '.join([*first, *terms])})"
        if isinstance(formula, Product):
            return f"({' * '.join(parts)})"
        if isinstance(formula, Quotient):
            return self._quotient(parts[0], node.parts[0].ends[0], formula.divisor, own)
        cases = [
            f"WHEN {truth(condition, self.logical)} THEN {part}"
            for (condition, _), part in zip(formula.cases, parts, strict=False)
        ]
        last = "" if formula.otherwise is None else f" ELSE {parts[-1]}"
        return f"(CASE {' '.join(cases)}{last} END)"

    def _constant(self, value: int, kind: str) -> str:
        return f"CAST({integer(value)} AS {kind})"

    def _quotient(self, inside: str, low: int, divisor: int, kind: str) -> str:
        up = raised_by(low, divisor)
        raised = f"({inside} + {self._constant(up * divisor, kind)})" if up else inside
        found = self.dialect.quotient(raised, divisor, kind)
        return f"({found} - {self._constant(up, kind)})" if up else found

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
