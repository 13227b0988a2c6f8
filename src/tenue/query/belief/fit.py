"""Whether a belief fits what is asked: decided from schema and belief, without a row.

A belief about a number is put on the grid of the answer, so that whatever is drawn is a possible
answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ...errors import Refused, refuse
from ...prior import Belief
from ...prior.counts import Counts
from ...prior.density import Density
from ...prior.joint import Joint
from ...prior.points import Points
from ...schema import Boolean, Bounded, Category, Column, Number


def fit_columns(prior: object, columns: Sequence[Column]) -> Any:
    """The belief on the columns' own values, or a refusal."""
    belief = _belief(prior)
    for column in columns:
        if not isinstance(column, Number | Category | Boolean):
            raise refuse("query.column-not-refinable", name=column.name, type=column.type)
    if len(columns) == 1:
        return _on_column(belief, columns[0])
    joint = _joint(belief, [column.name for column in columns])
    for place, column in enumerate(columns):
        _check_values({value[place] for value in joint.values}, column)
    return joint


def fit_statistics(prior: object, names: Sequence[str], grids: Sequence[Fraction | None]) -> Any:
    """The belief about one number or several, each on its grid; None is a number of any kind."""
    belief = _belief(prior)
    if len(names) == 1:
        return _on_grid(belief, names[0], grids[0])
    joint = _joint(belief, names)
    for place, (name, grid) in enumerate(zip(names, grids, strict=True)):
        values = {value[place] for value in joint.values}
        if not all(isinstance(value, Fraction) for value in values):
            raise _no_number(name)
        if grid is not None and any((value / grid).denominator != 1 for value in values):
            raise _off_grid(name, grid)
    return joint


def _belief(prior: object) -> Belief:
    if isinstance(prior, Belief):
        return prior
    raise refuse("query.prior-wrong-type", type=type(prior).__name__)


def _joint(belief: Belief, names: Sequence[str]) -> Joint:
    if isinstance(belief, Joint) and belief.width == len(names):
        return belief
    raise refuse("query.prior-not-joint", many=len(names), names=", ".join(names))


# -- values of a column ----------------------------------------------------------------------------


def _on_column(belief: Belief, column: Column) -> Any:
    if not isinstance(column, Number):
        _check_values(set(getattr(belief, "values", (None,))), column)
        return belief
    if not isinstance(belief, Points | Counts | Density):
        raise _no_number(column.name)
    if isinstance(belief, Density) and not column.low <= belief.low < belief.high <= column.high:
        raise _out_of_bounds(column)
    fitted = belief.on_grid(column.grid)
    _check_values(set(getattr(fitted, "values", ())), column)
    return fitted


def _check_values(values: set[Any], column: Column) -> None:
    if isinstance(column, Number):
        if not all(isinstance(value, Fraction) for value in values):
            raise _no_number(column.name)
        if not all(column.low <= value <= column.high for value in values):
            raise _out_of_bounds(column)
        if any((value / column.grid).denominator != 1 for value in values):
            raise _off_grid(column.name, column.grid)
        return
    if isinstance(column, Category):
        allowed: tuple[Any, ...] = tuple(column.categories)
        strange = not all(isinstance(value, str) and value in allowed for value in values)
    else:
        allowed = (False, True)
        strange = not all(isinstance(value, bool) for value in values)
    if strange:
        raise refuse("query.prior-foreign-values", name=column.name, many=len(allowed))


# -- statistics ------------------------------------------------------------------------------------


def _on_grid(belief: Belief, name: str, grid: Fraction | None) -> Any:
    if not isinstance(belief, Points | Counts | Density):
        raise _no_number(name)
    if grid is None:
        return belief.points if isinstance(belief, Counts) else belief
    if isinstance(belief, Counts):
        if (1 / grid).denominator != 1:
            raise _off_grid(name, grid)
        return belief
    return belief.on_grid(grid)


def _no_number(name: str) -> Refused:
    return refuse("query.prior-not-numeric", name=name)


def _out_of_bounds(column: Bounded) -> Refused:
    return refuse(
        "query.prior-outside-bounds",
        name=column.name,
        low=float(column.low),
        high=float(column.high),
    )


def _off_grid(name: str, grid: Fraction) -> Refused:
    return refuse("query.prior-off-grid", name=name, grid=float(grid))
