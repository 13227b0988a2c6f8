"""A table with one row for each unit: what each unit's rows add up to.

Guarantee
    One unit more or less is one row more or less: nothing that other units have changes it. Every
    value lies between the ends that the request states, whatever the rows of the unit hold. Nothing
    is chosen or left out, so nothing is drawn. Rows that belong to nobody are in no row.
"""

from __future__ import annotations

from fractions import Fraction

from ...errors import refuse
from ...schema import Bounded, Named, Number
from ..formula import MOST_STEPS
from ..request import People, Units, UnitValue
from ..sql.formula import with_computed
from ..sql.logical import Held, Logical, Stored, unfit
from ..sql.statement import group_by
from ..sql.steps import first_step, last_step
from ..storage import Integer
from .crowd import crowd


def persons_table(units: Units, table: Stored) -> Stored:
    """The table of units, of which an engine measures as of any other; refused if what is taken of
    a unit may be too large to be the steps of a column."""
    if any(max(abs(value.low), abs(value.high)) > MOST_STEPS for value in units.values):
        raise refuse("engine.computed-value-too-large", bits=MOST_STEPS.bit_length() - 1)
    logical, dialect = Logical(with_computed(table, units.computed)), table.dialect
    everybody = People(units.unit, 1, None)  # whose limits are not applied here
    names = [value.column for value in units.values if value.column is not None]
    rows = crowd(everybody, logical, where=units.where, keys=(), columns=names)
    made = [f"{_own(value, logical)} AS p{i}" for i, value in enumerate(units.values)]
    sql = f"SELECT {', '.join(['u', *made])} FROM {dialect.nested(rows.sql)}{group_by(1)}"  # noqa: S608
    columns = [
        Number(
            name=value.name,
            role="other",
            low=Fraction(value.low),
            high=Fraction(value.high),
            grid=Fraction(1),
        )
        for value in units.values
    ]
    held = {
        column.name.lower(): Held(
            column, f"p{i}", Integer(dialect.long, int(column.low), int(column.high))
        )
        for i, column in enumerate(columns)
    }
    declared = Named((column.name, column) for column in columns)
    return Stored(dialect.nested(sql), held, declared, dialect)


def _own(value: UnitValue, logical: Logical) -> str:
    """The SQL of one unit's value, cut to its ends; NULL where it has none."""
    dialect = logical.dialect
    if value.kind == "rows":
        found = "COUNT(*)"
    elif value.kind == "present":
        found = f"COUNT({logical.value(str(value.column))})"
    else:
        column = logical.column(value.column)
        if not isinstance(column, Bounded):
            raise unfit(column, "has no order")
        steps = logical.value(column.name)
        largest = max(abs(first_step(column)), abs(last_step(column)))
        total, many = dialect.total(steps, largest), f"COUNT({steps})"
        found = {
            "total": total,
            "least": f"MIN({steps})",
            "largest": f"MAX({steps})",
            "mean": _mean(total, many, value.low, dialect.huge or dialect.long, dialect.divide),
        }[value.kind]
    wide = dialect.huge or dialect.long
    low, high, own = f"CAST({value.low} AS {wide})", f"CAST({value.high} AS {wide})", f"({found})"
    cut = f"CASE WHEN {own} < {low} THEN {low} WHEN {own} > {high} THEN {high} ELSE {own} END"
    return f"CAST({cut} AS {dialect.long})"


def _mean(total: str, many: str, low: int, wide: str, divide: str) -> str:
    """The mean in steps, rounded half up; no step is below `low`, so none is negative."""
    count = f"CAST({many} AS {wide})"
    above = f"(CAST({total} AS {wide}) - {count} * ({low}))"
    return f"(2 * {above} + {count}) {divide} NULLIF(2 * {count}, 0) + ({low})"
