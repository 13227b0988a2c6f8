"""Aggregates, and arithmetic on them.

Arithmetic is done on private answers and costs nothing. It is exact, so it may be put in order:
constants are computed, and the sides of + and * stand in one order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from sqlglot import exp

from ..errors import InvalidQuestion, nearest
from ..schema import Column, Number
from ..schema.literal import show
from .constant import limited, read_constant
from .outside import GRAMMAR, MOST_NESTED, list_words, refuse, refuse_word, too_deep
from .question import Aggregate, Arithmetic, Constant, Expression
from .scope import Scope, find_column
from .tree import Tree

__all__ = [
    "AGGREGATES",
    "FUNCTIONS",
    "Rule",
    "has_aggregate",
    "needs_parentheses",
    "read_expression",
    "refuse_function",
]

_LONGEST_CHAIN = 100


@dataclass(frozen=True)
class Rule:
    """What one aggregate takes.

    rows: whether it takes * for all rows.
    fits: whether it takes the column.
    """

    kind: Literal["count", "sum", "avg"]
    rows: bool
    fits: Callable[[Column], bool]


def _is_number(column: Column) -> bool:
    return isinstance(column, Number)


AGGREGATES: dict[type[exp.Expr], Rule] = {
    exp.Count: Rule("count", rows=True, fits=lambda column: True),
    exp.Sum: Rule("sum", rows=False, fits=_is_number),
    exp.Avg: Rule("avg", rows=False, fits=_is_number),
}
"""Every aggregate that can be asked, by the node that sqlglot makes of it."""

_NAMES = tuple(rule.kind.upper() for rule in AGGREGATES.values())
FUNCTIONS = (*_NAMES, "BIN", "DATE_TRUNC")
"""Every function that a question may have."""

_OPERATORS: dict[type[exp.Expr], Literal["+", "-", "*", "/"]] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
}
_ZERO = Constant(Fraction(0))


def read_expression(tree: Tree, node: exp.Expr, scope: Scope) -> Expression:
    """An aggregate, a number, or arithmetic on them; refused if it is anything else."""
    expression = _read(tree, node, scope, 0)
    if _levels(expression) > MOST_NESTED:
        raise too_deep()
    return expression


def _read(tree: Tree, node: exp.Expr, scope: Scope, depth: int) -> Expression:
    node = tree.unwrap(node)
    kind = type(node)
    if depth > _LONGEST_CHAIN:
        raise too_deep()
    if kind in AGGREGATES:
        return _aggregate(tree, node, scope, AGGREGATES[kind])
    if kind is exp.Literal:
        value = read_constant(tree, node)
        if isinstance(value, Fraction):
            return Constant(value)
    if kind is exp.Neg:
        (this,) = tree.parts(node, "this")
        return _computed("-", _ZERO, _read(tree, this, scope, depth + 1))
    if kind in _OPERATORS:
        sides = tree.parts(node, "this", "expression")
        left, right = (_read(tree, side, scope, depth + 1) for side in sides)
        return _computed(_OPERATORS[kind], left, right)
    raise _not_an_aggregate(tree, node, scope)


def needs_parentheses(outer: Arithmetic, left: Expression) -> bool:
    """Whether the left side of an operation must be put in parentheses."""
    if not isinstance(left, Arithmetic):
        return False
    return left.left == _ZERO or (outer.operator in ("*", "/") and left.operator in ("+", "-"))


def has_aggregate(expression: Expression) -> bool:
    """Whether anything in it is asked of the table."""
    if isinstance(expression, Arithmetic):
        return has_aggregate(expression.left) or has_aggregate(expression.right)
    return isinstance(expression, Aggregate)


def refuse_function(node: exp.Func) -> InvalidQuestion:
    """The refusal of a function that no question has."""
    name = node.name.upper() if isinstance(node, exp.Anonymous) else node.sql_name()
    return refuse(
        "function",
        f"The function {show(name)} cannot be asked",
        f"{list_words(_NAMES)} can be asked; BIN and DATE_TRUNC make keys",
        nearest(name[:100], FUNCTIONS),
    )


def _aggregate(tree: Tree, node: exp.Expr, scope: Scope, rule: Rule) -> Aggregate:
    name = rule.kind.upper()
    (this, _) = tree.read(node, "this", "big_int")
    this = None if this is None else tree.unwrap(this)
    if rule.rows and type(this) is exp.Star:
        tree.read(this)
        return Aggregate(rule.kind)
    if rule.rows and type(this) is exp.Literal and isinstance(read_constant(tree, this), Fraction):
        return Aggregate(rule.kind)
    if type(this) is exp.Distinct:
        raise refuse_word("DISTINCT")
    if type(this) is not exp.Column or type(this.this) is not exp.Identifier:
        takes = "one column, or *" if rule.rows else "one column"
        raise refuse(
            "aggregate",
            f"{name} is not followed by {takes}",
            f"{name} takes {takes}; arithmetic goes outside, as in SUM(income) * 2",
            "Write the column alone, or ask the holder for a derived column",
        )
    column = find_column(tree, this, scope)
    if not rule.fits(column):
        raise refuse(
            "type",
            f"{name} is asked of `{column.name}`, which is a {column.type}",
            f"{name} takes a number column",
            f"Ask COUNT(`{column.name}`), or COUNT(*) with a condition",
        )
    return Aggregate(rule.kind, column.name)


def _computed(
    operator: Literal["+", "-", "*", "/"], left: Expression, right: Expression
) -> Expression:
    if operator == "/" and right == _ZERO:
        raise refuse("division", "The question divides by 0", GRAMMAR, "Divide by something else")
    if isinstance(left, Constant) and isinstance(right, Constant):
        return Constant(limited(_OPERATION[operator](left.value, right.value)))
    if operator in ("+", "*") and not isinstance(left, Arithmetic):
        left, right = sorted((left, right), key=lambda side: (_is_leaf(side), repr(side)))
    return Arithmetic(operator, left, right)


def _is_leaf(expression: Expression) -> bool:
    return not isinstance(expression, Arithmetic)


def _levels(expression: Expression) -> int:
    """How deep a text of it is nested, if chains of one operator need no parentheses."""
    if not isinstance(expression, Arithmetic):
        return 2
    inside = [_levels(expression.left) + needs_parentheses(expression, expression.left)]
    inside.append(_levels(expression.right) + 2)
    return max(inside)


_OPERATION: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right,
}


def _not_an_aggregate(tree: Tree, node: exp.Expr, scope: Scope) -> InvalidQuestion:
    if isinstance(node, exp.Func):
        return refuse_function(node)
    if isinstance(node, exp.Subquery | exp.Select):
        return refuse_word("EXISTS")
    if type(node) is exp.Column and type(node.this) is exp.Identifier:
        column = find_column(tree, node, scope)
        return refuse(
            "no-aggregate",
            f"`{column.name}` is asked as it stands in the rows",
            f"Only keys of GROUP BY and {list_words(_NAMES)} can be asked",
            f"Write COUNT(`{column.name}`), or GROUP BY",
        )
    return refuse(
        "no-aggregate",
        "The question asks for something that is not an aggregate",
        f"{list_words(_NAMES)} can be asked, and +, -, * and / on them",
        "Write COUNT(*), or SUM(income) / COUNT(*)",
    )
