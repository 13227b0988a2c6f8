"""Aggregates, and arithmetic on them.

Arithmetic is done on private answers and costs nothing. It is exact, so it may be put in order:
constants are computed, and the sides of + and * stand in one order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from sqlglot import exp

from ...errors import Refused, nearest, refuse
from ...schema import Boolean, Bounded, Category, Column, Number
from ...schema.literal import show
from ...schema.table import RECORD
from ..family.contract import Function
from ..family.registry import FAMILY_OF, SQL_FUNCTIONS
from ..question import Aggregate, Arithmetic, Constant, Expression
from .constant import limited, read_constant
from .scope import Scope, find_column, read_name, read_reference, refuse_unquoted
from .tree import Tree
from .unsupported import MOST_NESTED, list_words, refuse_word, too_deep

_LONGEST_CHAIN = 100
_FINEST = 10**6  # a quantile's denominator is the unit its ranks are counted in


AGGREGATES: dict[type[exp.Expr], Function] = {
    exp.FUNCTION_BY_NAME[function.name]: function for function in SQL_FUNCTIONS
}
"""Every aggregate that can be asked, by the node that sqlglot makes of it."""

_NAMES = tuple(function.name for function in SQL_FUNCTIONS)
FUNCTIONS = (*_NAMES, "PERCENTILE_CONT", "QUANTILE_CONT", "BIN", "DATE_TRUNC")
"""Every function that a question may have."""

_KEYS_INSTEAD = {
    **{
        part: f"Write DATE_TRUNC('{part.lower()}', column) in SELECT and GROUP BY"
        for part in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR")
    },
    **dict.fromkeys(
        ("EXTRACT", "DATE_PART", "STRFTIME", "TO_CHAR"),
        "Write DATE_TRUNC('month', column) in SELECT and GROUP BY",
    ),
    **dict.fromkeys(
        ("ROUND", "FLOOR", "CEIL", "CEILING", "TRUNC", "WIDTH_BUCKET"),
        "Write BIN(column, width) in SELECT and GROUP BY",
    ),
}
"""What groups rows in place of a function that many try first."""

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
    if kind is exp.WithinGroup:
        return _within_group(tree, node, scope)
    if kind is exp.PercentileCont and node.args.get("expression") is not None:
        return _quantile_cont(tree, node, scope)
    if kind is exp.Literal:
        value = read_constant(tree, node)
        if isinstance(value, Fraction):
            return Constant(value)
    if kind is exp.Neg:
        (this,) = tree.parts(node, "this")
        negated = _read(tree, this, scope, depth + 1)
        _refuse_moment(negated, scope)
        return _computed("-", _ZERO, negated)
    if kind in _OPERATORS:
        sides = tree.parts(node, "this", "expression")
        left, right = (_read(tree, side, scope, depth + 1) for side in sides)
        for side in (left, right):
            _refuse_moment(side, scope)
        return _computed(_OPERATORS[kind], left, right)
    raise _not_an_aggregate(tree, node, scope)


def _refuse_moment(side: Expression, scope: Scope) -> None:
    """Refuses arithmetic with a date or a category."""
    if not isinstance(side, Aggregate) or not FAMILY_OF[side.kind].of_column:
        return
    column = scope.schema.column(side.column or "")
    if not isinstance(column, Number):
        raise refuse("query.nothing-can-added", name=side.name, name2=column.name, type=column.type)


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


def refuse_function(tree: Tree, node: exp.Func) -> Refused:
    """The refusal of a function that no question has, by the name that the text has for it."""
    name = node.name.upper() if isinstance(node, exp.Anonymous) else node.sql_name()
    if name not in tree.called:
        name = next((word for word in tree.called if word not in FUNCTIONS), name)
    return refuse(
        "query.function-cannot-be-asked",
        name=show(name),
        names=list_words(_NAMES),
        nearest=_KEYS_INSTEAD.get(name) or nearest(name[:100], FUNCTIONS),
    )


def _aggregate(tree: Tree, node: exp.Expr, scope: Scope, function: Function) -> Aggregate:
    this, *rest = tree.read(node, "this", *_arguments(function))
    this = None if this is None else tree.unwrap(this)
    if function.rows and type(this) is exp.Star:
        tree.read(this)
        return Aggregate(function.kind)
    if (
        function.rows
        and type(this) is exp.Literal
        and isinstance(read_constant(tree, this), Fraction)
    ):
        return Aggregate(function.kind)
    if type(this) is exp.Distinct:
        return _units(tree, this, scope, function)
    column = _taken(tree, this, scope, function)
    if function.columns == 2:
        other = _taken(tree, rest[0], scope, function)
        pair = [column.name, other.name]
        first, second = pair if function.ordered else sorted(pair)
        return Aggregate(function.kind, first, second)
    q = _share(tree, rest[0], function) if function.share else function.q
    return Aggregate(function.kind, column.name, q=q)


def _arguments(function: Function) -> tuple[str, ...]:
    """What sqlglot puts beside the first argument of an aggregate."""
    if function.columns == 2:
        return ("expression",)
    if function.rows:
        return ("big_int",)
    return ("quantile",) if function.share else ()


def _within_group(tree: Tree, node: exp.Expr, scope: Scope) -> Aggregate:
    """PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY column)."""
    function = replace(AGGREGATES[exp.Quantile], name="PERCENTILE_CONT")
    this, order = tree.parts(node, "this", "expression")
    if type(this) is not exp.PercentileCont or type(order) is not exp.Order:
        raise refuse("query.within-group-does-not-follow-percentile-cont")
    (given,) = tree.read(this, "this")
    (ordered, *others) = tree.listed(order)
    column_node, descending, _ = tree.read(ordered, "this", "desc", "nulls_first")
    if others:
        raise refuse("query.within-group-orders-by-several-columns")
    column = _taken(tree, column_node, scope, function)
    q = _share(tree, given, function)
    return Aggregate(function.kind, column.name, q=1 - q if descending else q)


def _quantile_cont(tree: Tree, node: exp.Expr, scope: Scope) -> Aggregate:
    """QUANTILE_CONT(column, q), which sqlglot takes for the other one."""
    function = replace(AGGREGATES[exp.Quantile], name="QUANTILE_CONT")
    this, given = tree.parts(node, "this", "expression")
    column = _taken(tree, this, scope, function)
    return Aggregate(function.kind, column.name, q=_share(tree, given, function))


def _share(tree: Tree, node: exp.Expr | None, function: Function) -> Fraction:
    value = None if node is None else read_constant(tree, tree.unwrap(node))
    if isinstance(value, Fraction) and 0 < value < 1 and value.denominator <= _FINEST:
        return value
    raise refuse("query.not-given-number-between-0", name=function.name, many=len(str(_FINEST)) - 1)


def _taken(tree: Tree, node: exp.Expr | None, scope: Scope, function: Function) -> Column:
    """The one column that stands there and fits."""
    node = None if node is None else tree.unwrap(node)
    if type(node) is not exp.Column or type(node.this) is not exp.Identifier:
        refuse_unquoted(node, scope)
        takes = "one column, or *" if function.rows else "one column"
        takes = "two columns" if function.columns == 2 else takes
        raise refuse("query.is-not-followed-by", name=function.name, takes=takes)
    column = find_column(tree, node, scope)
    if not isinstance(column, function.takes.types):
        raise refuse(
            "query.is-asked-of-which-is",
            name=function.name,
            name2=column.name,
            type=column.type,
            takes=function.takes.words,
            instead=_instead(column),
        )
    return column


def _instead(column: Column) -> str:
    """What can be asked of a column that has no sum or mean."""
    if isinstance(column, Boolean):
        return f"Ask COUNT(*) with WHERE `{column.name}`, or GROUP BY `{column.name}`"
    if isinstance(column, Category):
        return f"Ask COUNT(*) with GROUP BY `{column.name}`, or MODE(`{column.name}`)"
    if isinstance(column, Bounded) and not isinstance(column, Number):
        return f"Ask MEDIAN(`{column.name}`), MIN or MAX"
    if isinstance(column, Number):
        return f"Ask COUNT(*) with GROUP BY BIN(`{column.name}`, width), or MEDIAN"
    return f"Ask COUNT(`{column.name}`), or COUNT(*) with a condition"


def _units(tree: Tree, node: exp.Expr, scope: Scope, function: Function) -> Aggregate:
    """COUNT(DISTINCT unit): the only thing that may be asked of what names people."""
    found = tree.listed(node)
    unit = scope.schema.unit
    if function.rows and unit != RECORD and len(found) == 1:
        column = tree.unwrap(found[0])
        if type(column) is exp.Column and type(column.this) is exp.Identifier:
            named = read_name(tree, read_reference(tree, column, scope))
            known = scope.columns.get(named)
            if known is not None and known.name.lower() == unit.lower():
                return Aggregate("units")
    raise refuse_word("DISTINCT")


def _computed(
    operator: Literal["+", "-", "*", "/"], left: Expression, right: Expression
) -> Expression:
    if operator == "/" and right == _ZERO:
        raise refuse("query.question-divides-by-0")
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


def _not_an_aggregate(tree: Tree, node: exp.Expr, scope: Scope) -> Refused:
    if isinstance(node, exp.Func):
        return refuse_function(tree, node)
    if isinstance(node, exp.Subquery | exp.Select):
        return refuse_word("EXISTS")
    if type(node) is exp.Column and type(node.this) is exp.Identifier:
        column = find_column(tree, node, scope)
        return refuse("query.asked-stands-rows", name=column.name, names=list_words(_NAMES))
    return refuse("query.question-asks-for-something-that-is-not", names=list_words(_NAMES))
