"""What an aggregate is asked of: one column, declared or computed, that fits the function."""

from __future__ import annotations

from sqlglot import exp

from ....errors import refuse
from ....schema import Boolean, Bounded, Category, Column, Number
from ...family.contract import Function
from ..logic import Absent, Rows, several, written
from ..predicate import known_columns
from ..scope import Scope, find_column, refuse_unquoted
from ..tree import Tree
from .amount import Amount
from .key import labelled_column
from .value import (
    amount_of,
    computed_column,
    is_computed,
    not_a_value,
    read_value,
    where_true,
)


def taken(
    tree: Tree, node: exp.Expr | None, scope: Scope, function: Function, only: Rows | None = None
) -> Column:
    """The one column that stands there and fits, declared or computed.

    only: the rows that FILTER leaves; in the others the column is missing.
    """
    node = None if node is None else tree.unwrap(node)
    named = None if node is None or only is not None else labelled_column(tree, node, scope)
    if named is not None:
        return _fitting(named, function)
    if is_computed(node):
        column: Column = _valued(tree, read_value(tree, node, scope), scope, function, only)  # type: ignore[arg-type]
        return _fitting(column, function)
    if type(node) is not exp.Column or type(node.this) is not exp.Identifier:
        refuse_unquoted(node, scope)
        if isinstance(node, exp.Predicate | exp.And | exp.Or | exp.Not):
            raise refuse("query.aggregate-of-condition", name=function.name)
        if isinstance(node, exp.Func | exp.Mod):
            raise not_a_value(tree, node)
        takes = "one column, or *" if function.rows else "one column"
        takes = "two columns" if function.columns == 2 else takes
        raise refuse("query.aggregate-arguments", name=function.name, takes=takes)
    column = find_column(tree, node, scope)
    as_number = isinstance(column, Boolean) and Number in function.takes.types
    if not as_number:
        column = _fitting(column, function)
    if only is not None and function.rows and not isinstance(column, Number):
        there = several(True, [only, Absent(column.name, absent=False)])
        return computed_column(tree, where_true(written(there, known_columns(tree, scope))), scope)
    if only is not None and not as_number and not isinstance(column, Number):
        raise refuse("query.filter-not-applicable", name=function.name, of=f"a {column.type}")
    if as_number or only is not None:
        return _valued(tree, amount_of(tree, column), scope, function, only)
    return column


def _valued(
    tree: Tree, amount: Amount, scope: Scope, function: Function, only: Rows | None
) -> Column:
    """The column that an amount is, in the rows that FILTER leaves."""
    if amount.number is not None:
        raise refuse("query.aggregate-of-constant", name=function.name)
    if only is not None:
        amount = where_true(written(only, known_columns(tree, scope)), amount)
    return computed_column(tree, amount, scope)


def _fitting(column: Column, function: Function) -> Column:
    """The column, refused if the function does not take its type."""
    if isinstance(column, function.takes.types):
        return column
    raise refuse(
        "query.aggregate-column-type",
        name=function.name,
        name2=column.name,
        type=column.type,
        takes=function.takes.words,
        instead=_instead(column),
    )


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
