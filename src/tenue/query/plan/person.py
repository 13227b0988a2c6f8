"""What of each person is counted, in words."""

from __future__ import annotations

from fractions import Fraction

from ...mechanism.part import Component
from ...schema import Number, Schema
from ...schema.table import RECORD
from ...screen.number import exactly
from .strategy import Strategy


def counted(strategy: Strategy, schema: Schema, *, grouped: bool) -> str:
    """Which rows of a person count, and where sums are cut; empty if every record is a unit.

    Rows beyond a limit, and what a cut takes away, are in no error that is told: how much they are
    is a fact about the rows.
    """
    if schema.unit == RECORD:
        return ""
    cuts: dict[str, None] = {}
    rows = bool(strategy.choices)
    for component in (component for part in strategy.parts for component in part.components):
        if not isinstance(component, Component):
            rows = True
        elif "unit-total" in component.kind:
            cuts[_cut(component, schema)] = None
        elif component.kind != "units":
            rows = True
    said = list(cuts)
    groups = schema.groups_per_unit if grouped else None
    if rows:
        said.append(f"at most {schema.rows_per_unit} rows of each {schema.unit} count")
    if groups is not None:
        said.append(f"each {schema.unit} counts in at most {groups} groups")
    return ", ".join(said) + (", chosen at random" if rows or groups is not None else "")


def _cut(component: Component, schema: Schema) -> str:
    column = schema.column(component.column)
    grid = column.grid if isinstance(column, Number) else Fraction(1)
    low, high = exactly(component.low * grid), exactly(component.high * grid)
    whose = f"the sum of `{column.name}` of each {schema.unit}"
    return f"{whose}, over all rows, counts from {low} to {high}"
