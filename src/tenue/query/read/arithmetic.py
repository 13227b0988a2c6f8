"""Arithmetic on private answers: it costs nothing, and is exact, so it may be put in one order."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Literal

from ...errors import refuse
from ..question import Aggregate, Applied, Arithmetic, Constant, Expression
from .constant import in_reach, limited

ZERO = Constant(Fraction(0))
Operator = Literal["+", "-", "*", "/"]
_OPERATIONS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right,
}


def computed(operator: Operator, left: Expression, right: Expression) -> Expression:
    """An operation on two expressions: constants are computed, the sides of + and * ordered."""
    if operator == "/" and right == ZERO:
        raise refuse("query.division-by-zero")
    if isinstance(left, Constant) and isinstance(right, Constant):
        return Constant(limited(_OPERATIONS[operator](left.value, right.value)))
    if operator in ("+", "*") and not isinstance(left, Arithmetic):
        left, right = sorted((left, right), key=lambda side: (_is_leaf(side), repr(side)))
    found = Arithmetic(operator, left, right)
    in_reach(_factor(found))
    return found


def _factor(expression: Expression) -> int:
    """By how much the numbers in it may scale an answer, up or down."""
    if isinstance(expression, Constant):
        return max(abs(expression.value.numerator), expression.value.denominator)
    if isinstance(expression, Applied):
        return _factor(expression.of)
    if not isinstance(expression, Arithmetic):
        return 1
    left, right = _factor(expression.left), _factor(expression.right)
    return left * right if expression.operator in ("*", "/") else max(left, right)


def _is_leaf(expression: Expression) -> bool:
    return not isinstance(expression, Arithmetic)


def levels(expression: Expression) -> int:
    """How deep a text of it is nested, if chains of one operator need no parentheses."""
    if isinstance(expression, Applied):
        return 1 + levels(expression.of)
    if not isinstance(expression, Arithmetic):
        return 2
    inside = [levels(expression.left) + needs_parentheses(expression, expression.left)]
    inside.append(levels(expression.right) + 2)
    return max(inside)


def needs_parentheses(outer: Arithmetic, left: Expression) -> bool:
    """Whether the left side of an operation must be put in parentheses."""
    if not isinstance(left, Arithmetic):
        return False
    return left.left == ZERO or (outer.operator in ("*", "/") and left.operator in ("+", "-"))


def has_aggregate(expression: Expression) -> bool:
    """Whether anything in it is asked of the table."""
    if isinstance(expression, Arithmetic):
        return has_aggregate(expression.left) or has_aggregate(expression.right)
    if isinstance(expression, Applied):
        return has_aggregate(expression.of)
    return isinstance(expression, Aggregate)
