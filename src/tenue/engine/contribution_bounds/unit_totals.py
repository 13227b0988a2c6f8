"""One number, or one row, for each unit: aggregates of its rows.

Guarantee
    One unit more or less is one number, or row, more or less: it does not depend on other units.
    Every value of such a row lies between the ends that the request states, whatever the values of
    the unit. No row is chosen or left out, so nothing is drawn. Rows of nobody count nowhere.
"""

from __future__ import annotations

from ...errors import refuse
from ...schema import Named
from ..computed_column import MOST_STEPS
from ..contract import Profile
from ..request import Contribution, ContributionRequest, Measure, RankRequest, Units, UnitValue
from ..sql.dialect import Dialect
from ..sql.grid_values import between, first_step, last_step
from ..sql.logical_table import (
    Held,
    Logical,
    Stored,
    logical_table,
    whole_column,
    with_computed,
)
from ..sql.order_statistics import Run, check_windows, counted, met_by_cell
from ..sql.statement import group_by, total
from ..storage import Integer
from .rows_by_unit import unit_rows


def persons_table(units: Units, table: Stored) -> Stored:
    """The table of units, measured like any other; refused if a unit's value may be too large to be
    the steps of a column."""
    if any(max(abs(value.low), abs(value.high)) > MOST_STEPS for value in units.values):
        raise refuse("engine.computed-value-too-large", bits=MOST_STEPS.bit_length() - 1)
    logical, dialect = Logical(with_computed(table, units.computed)), table.dialect
    names = [value.column for value in units.values if value.column is not None]
    rows = unit_rows(units.unit, logical, where=units.where, keys=(), columns=names)
    outputs = [f"{_own(value, logical)} AS p{i}" for i, value in enumerate(units.values)]
    sql = f"SELECT {', '.join(['u', *outputs])} FROM {dialect.nested(rows.sql)}{group_by(1)}"  # noqa: S608
    held = {}
    for i, value in enumerate(units.values):
        stored = Integer(dialect.long, value.low, value.high)
        column = whole_column(value.name, value.low, value.high)
        held[value.name.lower()] = Held(column, f"p{i}", stored)
    declared = Named((one.column.name, one.column) for one in held.values())
    return Stored(dialect.nested(sql), held, declared, dialect)


def _own(value: UnitValue, logical: Logical) -> str:
    """The SQL of one unit's value, clamped to its ends; NULL where it has none."""
    dialect = logical.dialect
    wide = dialect.huge or dialect.long
    if value.kind == "rows":
        number = "COUNT(*)"
    elif value.kind == "present":
        number = f"COUNT({logical.value(str(value.column))})"
    else:
        column = logical.bounded(value.column, "has no order")
        steps = logical.value(column.name)
        largest = max(abs(first_step(column)), abs(last_step(column)))
        total, many = dialect.total(steps, largest), f"COUNT({steps})"
        number = {
            "total": total,
            "least": f"MIN({steps})",
            "largest": f"MAX({steps})",
            "mean": _mean(total, many, value.low, wide, dialect.divide),
        }[value.kind]
    ends = (f"CAST({end} AS {wide})" for end in (value.low, value.high))
    return f"CAST({between(f'({number})', *ends)} AS {dialect.long})"


def _mean(total: str, many: str, low: int, wide: str, divide: str) -> str:
    """The mean in steps, rounded half up; no step is below `low`, so none is negative."""
    count = f"CAST({many} AS {wide})"
    above = f"(CAST({total} AS {wide}) - {count} * ({low}))"
    return f"(2 * {above} + {count}) {divide} NULLIF(2 * {count}, 0) + ({low})"


def contributions(request: ContributionRequest, table: Stored, run: Run) -> Profile:
    check_windows(request.windows)
    logical, asked, dialect = logical_table(request, table), request.contribution, table.dialect
    columns = [*asked.columns, *([] if asked.column is None else [asked.column])]
    rows = unit_rows(request.unit, logical, where=request.where, keys=request.keys, columns=columns)
    keys = [f"k{i}" for i in range(len(request.keys))]
    of_units = _of_units(asked, dialect.nested(rows.sql), keys, logical)
    inside = between("x", _whole(request.first, dialect), _whole(request.last, dialect))
    values = dialect.nested(f"SELECT {inside} AS v FROM {dialect.nested(of_units)}")  # noqa: S608
    ranked = RankRequest("", request.windows)
    return met_by_cell(ranked, counted(values, 0), dialect, run).get((), Profile(0, ()))


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
