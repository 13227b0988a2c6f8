"""One number, or one row, for each unit: what its rows add up to.

Guarantee
    One unit more or less is one row more or less: nothing that other units have changes it. Every
    value lies between the ends that the request states, whatever the rows of the unit hold. Nothing
    is chosen or left out, so nothing is drawn. Rows that belong to nobody are in no row.

Guarantee
    One unit more or less is one number more or less: nothing that other units have changes any of
    them. No row is chosen or left out, so nothing is drawn.
"""

from __future__ import annotations

from fractions import Fraction

from ...errors import refuse
from ...schema import Bounded, Named, Number
from ..computed_column import MOST_STEPS
from ..contract import Profile
from ..request import (
    Contribution,
    ContributionRequest,
    Measure,
    People,
    RankRequest,
    Units,
    UnitValue,
)
from ..sql.dialect import Dialect
from ..sql.grid_values import first_step, last_step
from ..sql.logical_table import Held, Logical, Stored, logical_table, unfit, with_computed
from ..sql.order_statistics import Run, check_windows, counted, met_by_cell
from ..sql.statement import group_by, total
from ..storage import Integer
from .rows_by_unit import crowd


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


# -- One number for each unit, and how these numbers lie in order ----------------------------------

_NOBODY = Profile(0, ())


def contributions(request: ContributionRequest, table: Stored, run: Run) -> Profile:
    """The profile of the contributions of all units."""
    check_windows(request.windows)
    logical, asked, dialect = logical_table(request, table), request.contribution, table.dialect
    columns = [*asked.columns, *([] if asked.column is None else [asked.column])]
    everybody = People(request.unit, 1, None)  # whose limits are not applied here
    rows = crowd(everybody, logical, where=request.where, keys=request.keys, columns=columns)
    keys = [f"k{i}" for i in range(len(request.keys))]
    of_units = _of_units(asked, dialect.nested(rows.sql), keys, logical)
    first, last = _whole(request.first, dialect), _whole(request.last, dialect)
    cut = f"CASE WHEN x < {first} THEN {first} WHEN x > {last} THEN {last} ELSE x END"
    values = dialect.nested(f"SELECT {cut} AS v FROM {dialect.nested(of_units)}")  # noqa: S608
    ranked = RankRequest("", request.windows)
    return met_by_cell(ranked, counted(values, 0), dialect, run).get((), _NOBODY)


def _of_units(asked: Contribution, rows: str, keys: list[str], logical: Logical) -> str:
    """The SELECT of x for each unit; NULL where it has none."""
    dialect = logical.dialect
    counts = [f"COUNT({logical.value(name)})" for name in asked.columns] or ["COUNT(*)"]
    if asked.kind == "rows":
        return f"SELECT u, {_most(counts)} AS x FROM {rows}{group_by(1)}"  # noqa: S608
    by_cell = group_by(1 + len(keys))
    if asked.kind == "cells":
        there = [f"{count} AS n{i}" for i, count in enumerate(counts)]
        sql = f"SELECT {', '.join(['u', *keys, *there])} FROM {rows}{by_cell}"  # noqa: S608
        cells = [f"COUNT(CASE WHEN n{i} > 0 THEN 1 END)" for i in range(len(counts))]
        return f"SELECT u, {_most(cells)} AS x FROM {dialect.nested(sql)}{group_by(1)}"  # noqa: S608
    own = total(Measure("total", asked.column), logical)
    sums = f"SELECT {', '.join(['u', *keys, f'{own} AS t'])} FROM {rows}{by_cell}"  # noqa: S608
    low, high = _whole(asked.low, dialect), _whole(asked.high, dialect)
    number = {
        "least": "MIN(t)",
        "largest": "MAX(t)",
        "beyond": f"SUM(CASE WHEN t < {low} OR t > {high} THEN 1 ELSE 0 END)",
    }[asked.kind]
    return f"SELECT u, {number} AS x FROM {dialect.nested(sums)}{group_by(1)}"  # noqa: S608


def _most(counts: list[str]) -> str:
    """The largest of some counts; NULL if all are 0."""
    most = counts[0] if len(counts) == 1 else f"GREATEST({', '.join(counts)})"
    return f"NULLIF({most}, 0)"


def _whole(number: int, dialect: Dialect) -> str:
    return f"CAST({number} AS {dialect.huge})"
