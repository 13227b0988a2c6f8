"""Aggregates and the post-processing of their answers: arithmetic, ROUND, COALESCE, CAST."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Literal

from sqlglot import exp

from ...engine.computed_column import columns_in
from ...errors import Refused, nearest, refuse
from ...schema import Boolean, Bounded, Category, Column, Number
from ...schema.table import RECORD
from ...schema.toml_values import show
from ..aggregates.contract import Function
from ..aggregates.noise import MOST_VALUES
from ..aggregates.reading import OPERATIONS
from ..aggregates.registry import FAMILY_OF, SQL_FUNCTIONS
from ..question import Aggregate, Applied, Arithmetic, Constant, Expression, Over, parts_of
from .constant import Constant as Constant_
from .constant import in_reach, limited, read_constant
from .exact_expr import Amount, chosen
from .exact_expr import constant as exact
from .logic import Absent, Rows, several, written
from .predicate import known_columns, read_both, read_where
from .scope import (
    Scope,
    find_column,
    is_column,
    is_unit,
    read_name,
    read_reference,
    refuse_unquoted,
)
from .tree import Tree
from .unsupported import INSTEAD, MOST_NESTED, list_words, name_called, refuse_word, too_deep
from .value import (
    amount_of,
    computed_column,
    is_computed,
    labelled_column,
    not_a_value,
    read_value,
    where_true,
)

ZERO = Constant(Fraction(0))
Operator = Literal["+", "-", "*", "/"]
_OF_CONDITIONS = ("sum", "avg")
_ROOTS = {"variance": "stddev", "var_pop": "stddev_pop"}
"""The aggregates whose square root is an aggregate."""


def computed(operator: Operator, left: Expression, right: Expression) -> Expression:
    """An operation on two expressions: constants are folded, the sides of + and * sorted."""
    if operator == "/" and right == ZERO:
        raise refuse("ask.division-by-zero")
    if isinstance(left, Constant) and isinstance(right, Constant):
        return Constant(limited(OPERATIONS[operator](left.value, right.value)))
    if operator in ("+", "*") and not isinstance(left, Arithmetic):
        left, right = sorted(
            (left, right), key=lambda side: (not isinstance(side, Arithmetic), repr(side))
        )
    found = Arithmetic(operator, left, right)
    in_reach(_factor(found))
    return found


def _factor(expression: Expression) -> int:
    """The factor by which its constants may scale an answer, up or down."""
    if isinstance(expression, Constant):
        return max(abs(expression.value.numerator), expression.value.denominator)
    if isinstance(expression, Applied | Over):
        return max(map(_factor, parts_of(expression)), default=1)
    if not isinstance(expression, Arithmetic):
        return 1
    left, right = _factor(expression.left), _factor(expression.right)
    return left * right if expression.operator in ("*", "/") else max(left, right)


def levels(expression: Expression) -> int:
    """The depth of its text, in which chains of one operator need no parentheses."""
    if isinstance(expression, Applied | Over):
        return 1 + max(map(levels, parts_of(expression)), default=1)
    if not isinstance(expression, Arithmetic):
        return 2
    left = levels(expression.left) + needs_parentheses(expression, expression.left)
    return max(left, levels(expression.right) + 2)


def needs_parentheses(outer: Arithmetic, left: Expression) -> bool:
    """Whether the left side of an operation needs parentheses."""
    if not isinstance(left, Arithmetic):
        return False
    return left.left == ZERO or (outer.operator in ("*", "/") and left.operator in ("+", "-"))


def has_aggregate(expression: Expression) -> bool:
    return isinstance(expression, Aggregate | Over) or any(map(has_aggregate, parts_of(expression)))


def taken(
    tree: Tree, node: exp.Expr | None, scope: Scope, function: Function, only: Rows | None = None
) -> Column:
    """The one argument, a declared or computed column of a type that fits.

    only: the rows that FILTER leaves; in the others the column is missing.
    """
    node = None if node is None else tree.unwrap(node)
    column = None if only is not None else labelled_column(tree, node, scope)
    if column is None and is_computed(node):
        column = _valued(tree, read_value(tree, node, scope), scope, function, only)
    if column is not None:
        return _fitting(column, function)
    if not is_column(node):
        refuse_unquoted(node, scope)
        if isinstance(node, exp.Predicate | exp.And | exp.Or | exp.Not):
            if function.kind not in _OF_CONDITIONS:
                raise refuse("ask.aggregate-of-condition", name=function.name)
            return _valued(tree, _truth(tree, node, scope), scope, function, only)
        if isinstance(node, exp.Func | exp.Mod):
            raise not_a_value(tree, node)
        takes = "one column, or *" if function.rows else "one column"
        takes = "two columns" if function.columns == 2 else takes
        raise refuse("ask.aggregate-arguments", name=function.name, takes=takes)
    column = find_column(tree, node, scope)
    as_number = isinstance(column, Boolean) and Number in function.takes.types
    if not as_number:
        column = _fitting(column, function)
    if as_number or (only is not None and isinstance(column, Number)):
        return _valued(tree, amount_of(tree, column), scope, function, only)
    if only is None:
        return column
    if function.rows:
        there = several(True, [only, Absent(column.name, absent=False)])
        return computed_column(tree, where_true(written(there, known_columns(tree, scope))), scope)
    raise refuse("ask.filter-not-applicable", name=function.name, of=f"a {column.type}")


def _truth(tree: Tree, node: exp.Expr, scope: Scope) -> Amount:
    """1 where a condition is true, 0 where it is false, and missing where it is unknown."""
    true, false = read_both(tree, node, scope)
    one, zero = exact(Fraction(1)), exact(Fraction(0))
    columns = known_columns(tree, scope)
    if all(getattr(columns[name], "missing", None) is not None for name in columns_in(true)):
        return chosen([(true, one)], zero)
    return chosen([(true, one), (false, zero)])


def _valued(
    tree: Tree, amount: Amount, scope: Scope, function: Function, only: Rows | None
) -> Column:
    """The column that an amount is, in the rows that FILTER leaves."""
    if amount.number is not None:
        raise refuse("ask.aggregate-of-constant", name=function.name)
    if only is not None:
        amount = where_true(written(only, known_columns(tree, scope)), amount)
    return computed_column(tree, amount, scope)


def _fitting(column: Column, function: Function) -> Column:
    if isinstance(column, function.takes.types):
        return column
    raise refuse(
        "ask.aggregate-column-type",
        name=function.name,
        name2=column.name,
        type=column.type,
        takes=function.takes.words,
        instead=_instead(column),
    )


def _instead(column: Column) -> str:
    """Aggregates of a column that has no sum or mean."""
    if isinstance(column, Boolean):
        return f"Ask COUNT(*) with WHERE `{column.name}`, or GROUP BY `{column.name}`"
    if isinstance(column, Category):
        return f"Ask COUNT(*) with GROUP BY `{column.name}`, or MODE(`{column.name}`)"
    if isinstance(column, Number):
        return f"Ask COUNT(*) with GROUP BY BIN(`{column.name}`, width), or MEDIAN"
    return f"Ask MEDIAN(`{column.name}`), MIN or MAX"


_LONGEST_CHAIN = 100
_MOST_DECIMALS = 15
_FINEST = 10**6  # a quantile's denominator is the unit its ranks are counted in


AGGREGATES: dict[type[exp.Expr], Function] = {
    exp.FUNCTION_BY_NAME[function.name]: function for function in SQL_FUNCTIONS
}
"""Every aggregate that can be asked, by the node that sqlglot makes of it."""

_NAMES = tuple(function.name for function in SQL_FUNCTIONS)
FUNCTIONS = (*_NAMES, "PERCENTILE_CONT", "QUANTILE_CONT", "BIN", "DATE_TRUNC")
"""Every function that a question may have."""

_OPERATORS: dict[type[exp.Expr], Operator] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
}
AnswerFunction = Literal["round", "coalesce", "nullif"]
_APPLIED: dict[type[exp.Expr], tuple[AnswerFunction, str]] = {
    exp.Round: ("round", "decimals"),
    exp.Coalesce: ("coalesce", "expressions"),
    exp.Nullif: ("nullif", "expression"),
}
"""Functions of an answer and a number, and where sqlglot puts the number."""


def read_expression(tree: Tree, node: exp.Expr, scope: Scope) -> Expression:
    """An aggregate, a number, or arithmetic on them; refused if it is anything else."""
    expression = _read(tree, node, scope, 0)
    if levels(expression) > MOST_NESTED:
        raise too_deep()
    return expression


def _read(tree: Tree, node: exp.Expr, scope: Scope, depth: int) -> Expression:
    node = tree.unwrap(node)
    kind = type(node)
    if depth > _LONGEST_CHAIN:
        raise too_deep()
    asked = _asked(tree, node, scope)
    if asked is not None:
        return asked
    if kind is exp.Window:
        from .window import read_window  # which reads expressions, too

        return read_window(tree, node, scope)
    if kind is exp.Cast:
        return _cast(tree, node, scope, depth)
    if kind in _APPLIED:
        return _applied(tree, node, scope, depth)
    if kind is exp.Sqrt:
        (this,) = tree.parts(node, "this")
        squared = _read(tree, this, scope, depth + 1)
        if isinstance(squared, Aggregate) and squared.kind in _ROOTS:
            return replace(squared, kind=_ROOTS[squared.kind])
        raise refuse("ask.root-of-an-answer")
    if kind is exp.Literal:
        value = read_constant(tree, node)
        if isinstance(value, Fraction):
            return Constant(value)
    if kind is exp.Neg:
        (this,) = tree.parts(node, "this")
        negated = _read(tree, this, scope, depth + 1)
        _refuse_moment(negated, scope)
        return computed("-", ZERO, negated)
    if kind in _OPERATORS:
        sides = tree.parts(node, "this", "expression")
        left, right = (_read(tree, side, scope, depth + 1) for side in sides)
        _refuse_moment(left, scope)
        _refuse_moment(right, scope)
        return computed(_OPERATORS[kind], left, right)
    raise _not_an_aggregate(tree, node, scope)


def _applied(tree: Tree, node: exp.Expr, scope: Scope, depth: int) -> Expression:
    function, argument = _APPLIED[type(node)]
    this, given = tree.read(node, "this", argument)
    if isinstance(given, list):
        given = given[0] if len(given) == 1 else node
    number = Fraction(0) if given is None else read_constant(tree, given)
    if type(number) is not Fraction:
        raise refuse("ask.answer-function-arguments", name=function.upper())
    if function == "round" and (number.denominator != 1 or abs(number) > _MOST_DECIMALS):
        raise refuse("ask.round-digits", most=_MOST_DECIMALS)
    return _made(function, _read(tree, this, scope, depth + 1), number, scope)


def _cast(tree: Tree, node: exp.Expr, scope: Scope, depth: int) -> Expression:
    """CAST to a type of numbers: whole numbers and decimals are rounded to."""
    this, to = tree.parts(node, "this", "to")
    kind, sizes = tree.read(to, "this", "expressions")
    inner = _read(tree, this, scope, depth + 1)
    if kind in (exp.DType.DOUBLE, exp.DType.FLOAT):
        _refuse_moment(inner, scope)
        return inner
    digits: Constant_ | None = Fraction(0)
    if kind is exp.DType.DECIMAL and sizes and len(sizes) == 2:
        _, digits = (read_constant(tree, tree.parts(size, "this")[0]) for size in sizes)
    elif kind not in (exp.DType.INT, exp.DType.BIGINT):
        raise refuse_word("CAST")
    if type(digits) is not Fraction or digits.denominator != 1 or abs(digits) > _MOST_DECIMALS:
        raise refuse("ask.round-digits", most=_MOST_DECIMALS)
    return _made("round", inner, digits, scope)


def _made(function: AnswerFunction, of: Expression, number: Fraction, scope: Scope) -> Expression:
    _refuse_moment(of, scope)
    if not has_aggregate(of):
        raise refuse("ask.answer-function-arguments", name=function.upper())
    return Applied(function, of, number)


def _asked(tree: Tree, node: exp.Expr, scope: Scope, only: Rows | None = None) -> Expression | None:
    """The aggregate of a function over all rows, or those of FILTER; None if it is none."""
    kind = type(node)
    if kind in AGGREGATES:
        return _aggregate(tree, node, scope, AGGREGATES[kind], only)
    if kind is exp.WithinGroup:
        return _within_group(tree, node, scope, only)
    if kind is exp.PercentileCont and node.args.get("expression") is not None:
        return _quantile_cont(tree, node, scope, only)
    if kind is exp.Filter and only is None:
        this, where = tree.parts(node, "this", "expression")
        asked = _asked(tree, this, scope, read_where(tree, where, scope))
        if asked is not None:
            return asked
    return None


def _refuse_moment(side: Expression, scope: Scope) -> None:
    """Refuses arithmetic with a date or a category."""
    if not isinstance(side, Aggregate) or not FAMILY_OF[side.kind].of_column:
        return
    if side.column not in scope.schema.columns:
        return  # computed, and so a number
    column = scope.schema.column(side.column or "")
    if not isinstance(column, Number):
        raise refuse(
            "ask.arithmetic-needs-numbers", name=side.name, name2=column.name, type=column.type
        )


def refuse_function(tree: Tree, node: exp.Func) -> Refused:
    """The refusal of a function outside the grammar, by its name in the text."""
    name = name_called(node, tree.called) or next(
        (word for word in tree.called if word not in FUNCTIONS), node.sql_name()
    )
    return refuse(
        "ask.unknown-aggregate",
        name=show(name),
        names=list_words(_NAMES),
        nearest=INSTEAD.get(name) or nearest(name[:100], FUNCTIONS),
    )


def _aggregate(
    tree: Tree, node: exp.Expr, scope: Scope, function: Function, only: Rows | None
) -> Expression:
    this, *rest = tree.read(node, "this", *_arguments(function))
    this = None if this is None else tree.unwrap(this)
    if function.rows and type(this) is exp.Star:
        tree.read(this)
        return _count(tree, scope, function, only)
    if type(this) is exp.Literal and (function.rows or function.kind == "sum"):
        value = read_constant(tree, this)
        if isinstance(value, Fraction):
            rows = _count(tree, scope, AGGREGATES[exp.Count], only)
            return rows if function.rows else computed("*", rows, Constant(value))
    if type(this) is exp.Distinct:
        return _distinct(tree, this, scope, function, only)
    column = taken(tree, this, scope, function, only)
    if function.columns == 2:
        other = taken(tree, rest[0], scope, function)
        pair = [column.name, other.name]
        first, second = pair if function.ordered else sorted(pair)
        return Aggregate(function.kind, first, second)
    q = _share(tree, rest[0], function) if function.share else function.q
    return Aggregate(function.kind, column.name, q=q)


def _arguments(function: Function) -> tuple[str, ...]:
    """The arguments of an aggregate after the first, where sqlglot puts them."""
    if function.columns == 2:
        return ("expression",)
    if function.rows:
        return ("big_int",)
    return ("quantile",) if function.share else ()


def _count(tree: Tree, scope: Scope, function: Function, only: Rows | None) -> Aggregate:
    """The number of rows, or of those of FILTER."""
    if only is None:
        return Aggregate(function.kind)
    left = where_true(written(only, known_columns(tree, scope)))
    return Aggregate(function.kind, computed_column(tree, left, scope).name)


def _within_group(tree: Tree, node: exp.Expr, scope: Scope, only: Rows | None) -> Aggregate:
    """PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY column)."""
    function = replace(AGGREGATES[exp.Quantile], name="PERCENTILE_CONT")
    this, order = tree.parts(node, "this", "expression")
    if type(this) is not exp.PercentileCont or type(order) is not exp.Order:
        raise refuse("ask.within-group-misplaced")
    (given,) = tree.read(this, "this")
    (ordered, *others) = tree.listed(order)
    column_node, descending, _ = tree.read(ordered, "this", "desc", "nulls_first")
    if others:
        raise refuse("ask.within-group-columns")
    column = taken(tree, column_node, scope, function, only)
    q = _share(tree, given, function)
    return Aggregate(function.kind, column.name, q=1 - q if descending else q)


def _quantile_cont(tree: Tree, node: exp.Expr, scope: Scope, only: Rows | None) -> Aggregate:
    """QUANTILE_CONT(column, q), which sqlglot parses as PERCENTILE_CONT."""
    function = replace(AGGREGATES[exp.Quantile], name="QUANTILE_CONT")
    this, given = tree.parts(node, "this", "expression")
    column = taken(tree, this, scope, function, only)
    return Aggregate(function.kind, column.name, q=_share(tree, given, function))


def _share(tree: Tree, node: exp.Expr | None, function: Function) -> Fraction:
    value = None if node is None else read_constant(tree, tree.unwrap(node))
    if isinstance(value, Fraction) and 0 < value < 1 and value.denominator <= _FINEST:
        return value
    raise refuse("ask.quantile-not-a-share", name=function.name, many=len(str(_FINEST)) - 1)


def _distinct(
    tree: Tree, node: exp.Expr, scope: Scope, function: Function, only: Rows | None
) -> Aggregate:
    """COUNT(DISTINCT column); also of the unit, for which nothing else may be asked."""
    found = tree.listed(node)
    if not function.rows or len(found) != 1:
        raise refuse_word("DISTINCT")
    counted = tree.unwrap(found[0])
    if scope.schema.unit != RECORD and only is None and is_column(counted):
        named = read_name(tree, read_reference(tree, counted, scope))
        if is_unit(scope.columns.get(named), scope):
            return Aggregate("units")
    if only is not None:
        raise refuse("ask.filter-not-applicable", name=function.name, of="DISTINCT")
    if not (is_column(counted) or is_computed(counted)):
        raise refuse_word("DISTINCT")
    column = taken(tree, counted, scope, function)
    if isinstance(column, Bounded) and column.steps >= MOST_VALUES:
        raise refuse("ask.too-many-distinct-values", name=column.name, most=MOST_VALUES)
    return Aggregate("distinct", column.name)


def _not_an_aggregate(tree: Tree, node: exp.Expr, scope: Scope) -> Refused:
    if isinstance(node, exp.Case | exp.Filter):
        return refuse_word(type(node).__name__)
    if isinstance(node, exp.Mod):
        return refuse_word("%")
    if isinstance(node, exp.Func):
        return refuse_function(tree, node)
    if isinstance(node, exp.Subquery | exp.Select):
        return refuse_word("EXISTS")
    if is_column(node):
        column = find_column(tree, node, scope)
        return refuse("ask.bare-column-selected", name=column.name, names=list_words(_NAMES))
    return refuse("ask.bare-expression-selected", names=list_words(_NAMES))
