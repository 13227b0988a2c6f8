"""At which levels intervals are bought with part of the price, so that a question's outputs hold
theirs."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ...errors import refuse
from ...number import Number, fraction_of_one
from ..question import Aggregate, Arithmetic, Expression, Output, Question

_SUREST = 1 - Fraction(1, 10**9)
"""Selections cut their scores where less than that is left to miss."""


def levels_for(question: Question, interval: Number) -> Mapping[Aggregate, Fraction]:
    """For each value with a rank, the level at which its interval is bought.

    An operation on two answers holds both sides at once, each missing with half of what is allowed:
    so what stands deeper in an expression is bought at a higher level.
    """
    level = fraction_of_one(interval, "interval")
    found: dict[Aggregate, Fraction] = {}

    def walk(expression: Expression, outside: Fraction) -> None:
        if isinstance(expression, Arithmetic):
            walk(expression.left, outside / 2)
            walk(expression.right, outside / 2)
        elif isinstance(expression, Aggregate) and expression.selected:
            found[expression] = max(found.get(expression, level), 1 - outside)

    for output in question.outputs:
        if isinstance(output, Output):
            walk(output.expression, 1 - level)
    if not found:
        raise refuse("query.interval-is-given-and-question-asks-for")
    if max(found.values()) > _SUREST:
        raise refuse("query.interval-is-interval-may-miss-with-billionth", interval=interval)
    return found
