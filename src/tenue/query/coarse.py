"""Correlations of columns that are too fine: their grids are made coarser, as far as needed.

The noise of products of fine columns could not be drawn exactly. A correlation hardly changes if
its columns are rounded, so they are: half up, to a power of two of their steps. The text of the
question then says so, and the true answer is that of the rounded columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from ..engine.formula import Steps
from ..errors import NotPromised
from ..schema import Number, Schema
from .computed import seen_by
from .question import (
    Aggregate,
    Applied,
    Arithmetic,
    ComputedColumn,
    Expression,
    Output,
    Question,
    used_columns,
)
from .read.row.amount import Amount, added, constant, rounded_down, scaled
from .read.row.text import name_of

Made = TypeVar("Made")

_COARSEST = 40
_KIND = "corr"


def planned_coarsely(question: Question, schema: Schema, make: Callable[[Question], Made]) -> Made:
    """What `make` makes of the question, or of the first coarser one that it does not refuse."""
    try:
        return make(question)
    except NotPromised:
        if all(aggregate.kind != _KIND for aggregate in question.aggregates()):
            raise
        for power in range(1, _COARSEST):
            try:
                return make(coarser(question, schema, 2**power))
            except NotPromised:
                continue
        raise


def coarser(question: Question, schema: Schema, steps: int) -> Question:
    """The question, with the columns of correlations rounded to so many of their steps."""
    seen = seen_by(question, schema)
    known = {one.name: one for one in question.computed}

    def rounded(name: str | None) -> str | None:
        column = seen.columns.get(name or "")
        if not isinstance(column, Number) or column.steps < 2 * steps:
            return name
        own = known.get(column.name)
        amount = Amount(column.grid, Steps(column.name) if own is None else own.formula)
        width = column.grid * steps
        down = rounded_down(added([scaled(amount, 1 / width), constant(Fraction(1, 2))]))
        coarse = scaled(down, width)
        made = ComputedColumn(name_of(coarse, seen), coarse.formula, coarse.grid)
        known[made.name] = made
        return made.name

    def walk(expression: Expression) -> Expression:
        if isinstance(expression, Aggregate) and expression.kind == _KIND:
            first, second = sorted(
                str(rounded(name)) for name in (expression.column, expression.other)
            )
            return replace(expression, column=first, other=second)
        if isinstance(expression, Arithmetic):
            return replace(expression, left=walk(expression.left), right=walk(expression.right))
        if isinstance(expression, Applied):
            return replace(expression, of=walk(expression.of))
        return expression

    outputs = tuple(
        replace(output, expression=walk(output.expression))
        if isinstance(output, Output)
        else output
        for output in question.outputs
    )
    changed = replace(question, outputs=outputs, computed=())
    return replace(changed, computed=used_columns(changed, known))
