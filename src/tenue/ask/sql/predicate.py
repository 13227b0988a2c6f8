"""WHERE: conditions on columns, typed against the schema.

A condition compares one column with constants and nothing else, so no row can make it fail or take
longer. Comparisons of bounded columns become whole grid steps, counted from the column's `origin`:
zero for numbers (value = steps · grid), the low bound for dates and datetimes (value = low +
steps · grid, in days or seconds).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Literal

from sqlglot import exp

from ...engine.computed_column import Predicate
from ...errors import Refused, nearest, refuse
from ...schema import Boolean, Bounded, Category, Column
from ...schema.toml_values import show
from .constant import Constant, instant, read_constant, refuse_value
from .logic import Absent, Held, Rows, Span, held, negated, origin, several, written
from .scope import Scope, find_column, is_column, read_name, read_reference, refuse_unquoted
from .tree import Tree
from .unsupported import INSTEAD, name_called, refuse_word

Operator = Literal["=", "<>", "<", "<=", ">", ">="]

COMPARISONS: dict[type[exp.Expr], Operator] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
FLIPPED: dict[Operator, Operator] = {
    "=": "=",
    "<>": "<>",
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
}
"""The same comparison with its sides exchanged."""

_MOST_PARTS = 1_000


def read_condition(tree: Tree, node: exp.Expr, scope: Scope) -> Predicate:
    """The predicate that a condition is."""
    return written(_rows(tree, node, scope), known_columns(tree, scope))


def read_condition_rows(tree: Tree, node: exp.Expr, scope: Scope) -> Rows:
    """The rows for which a condition is true."""
    return _rows(tree, node, scope)


def read_both(tree: Tree, node: exp.Expr, scope: Scope) -> tuple[Predicate, Predicate]:
    """The predicate that a condition is, and its negation."""
    rows, columns = _rows(tree, node, scope), known_columns(tree, scope)
    return written(rows, columns), written(negated(rows), columns)


def read_where(tree: Tree, where: exp.Expr | None, scope: Scope) -> Rows | None:
    """The rows that a WHERE keeps; None for all."""
    return None if where is None else _rows(tree, tree.parts(where, "this")[0], scope)


def _rows(tree: Tree, node: exp.Expr, scope: Scope) -> Rows:
    kind = type(node)
    if kind is exp.Paren:
        return _rows(tree, tree.unwrap(node), scope)
    if kind is exp.And or kind is exp.Or:
        parts = (_rows(tree, part, scope) for part in chain(tree, node, kind))
        return several(kind is exp.And, parts)
    if kind is exp.Not:
        return negated(_rows(tree, tree.parts(node, "this")[0], scope))
    _count(tree, 1)
    if kind in COMPARISONS:
        return _comparison(tree, node, scope)
    if kind is exp.Between:
        return _between(tree, node, scope)
    if kind is exp.In:
        return _in(tree, node, scope)
    if kind is exp.Like:
        return _like(tree, node, scope)
    if kind is exp.Is:
        return _is(tree, node, scope)
    return held(_boolean(tree, node, scope), (1, 1))


def _count(tree: Tree, parts: int) -> None:
    tree.conditions += parts
    if tree.conditions > _MOST_PARTS:
        raise refuse("ask.too-many-conditions", most_parts=_MOST_PARTS)


def _column(tree: Tree, node: exp.Expr, scope: Scope) -> Column:
    from .value import condition_column

    node = tree.unwrap(node)
    if is_column(node):
        return find_column(tree, node, scope)
    column = condition_column(tree, node, scope)
    if column is not None:
        return column
    raise _not_a_condition(tree, node, scope)


def _boolean(tree: Tree, node: exp.Expr, scope: Scope) -> Boolean:
    column = _column(tree, node, scope)
    if isinstance(column, Boolean):
        return column
    raise refuse("ask.condition-not-boolean", name=column.name)


def _constant(tree: Tree, node: exp.Expr, scope: Scope) -> Constant:
    value = read_constant(tree, node)
    if value is not None:
        return value
    node = tree.unwrap(node)
    if is_column(node):
        name = read_name(tree, read_reference(tree, node, scope))
        if name in scope.columns:
            raise refuse("ask.two-columns-compared")
        refuse_unquoted(node, scope)
        raise refuse("ask.text-needs-quotes", name=name[:100])
    raise _not_a_condition(tree, node, scope)


def _comparison(tree: Tree, node: exp.Expr, scope: Scope) -> Rows:
    left, right = tree.parts(node, "this", "expression")
    operator = COMPARISONS[type(node)]
    value = read_constant(tree, left)
    if value is not None:
        left, right, operator = right, left, FLIPPED[operator]
    column = _column(tree, left, scope)
    if value is None:
        value = _constant(tree, right, scope)
    if operator == "<>":
        return negated(_compared(column, "=", value))
    return _compared(column, operator, value)


def _between(tree: Tree, node: exp.Expr, scope: Scope) -> Rows:
    this, low, high = tree.parts(node, "this", "low", "high")
    column = _column(tree, this, scope)
    above = _compared(column, ">=", _constant(tree, low, scope))
    below = _compared(column, "<=", _constant(tree, high, scope))
    return several(True, [above, below])


def _in(tree: Tree, node: exp.Expr, scope: Scope) -> Rows:
    this, listed = tree.read(node, "this", "expressions")
    column = _column(tree, this, scope)
    if not listed:
        raise refuse("ask.empty-list")
    if isinstance(column, Bounded):  # a list of categories can only become shorter
        _count(tree, len(listed) - 1)
    values = [_constant(tree, value, scope) for value in listed]
    if isinstance(column, Category):
        return held(column, *find_categories(column, values))
    return several(False, [_compared(column, "=", value) for value in values])


def _like(tree: Tree, node: exp.Expr, scope: Scope) -> Rows:
    this, expression, negate = tree.read(node, "this", "expression", "negate")
    column, pattern = _column(tree, this, scope), _constant(tree, expression, scope)
    if not isinstance(column, Category) or not isinstance(pattern, str):
        raise refuse("ask.like-needs-category", name=column.name, type=column.type)
    found = (
        (place, place)
        for place, category in enumerate(column.categories)
        if is_like(category, pattern)
    )
    rows = held(column, *found)
    return negated(rows) if negate else rows


def _is(tree: Tree, node: exp.Expr, scope: Scope) -> Rows:
    """IS TRUE and IS FALSE, which a missing value does not make unknown, and IS NULL."""
    this, expression = tree.parts(node, "this", "expression")
    if type(expression) is exp.Boolean:
        truth = int(read_constant(tree, expression) is True)
        column = _boolean(tree, this, scope)
        return several(True, [held(column, (truth, truth)), Absent(column.name, absent=False)])
    if type(expression) is not exp.Null:
        raise refuse_word("UNKNOWN")
    tree.read(expression)
    return Absent(_column(tree, this, scope).name)


def known_columns(tree: Tree, scope: Scope) -> Mapping[str, Column]:
    """The columns that conditions may name: declared and computed ones."""
    return {**scope.schema.columns, **tree.columns}


def chain(tree: Tree, node: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    """The parts of a AND b AND c in order; sqlglot makes a deep tree of them."""
    parts: list[exp.Expr] = []
    while type(node) is kind:
        node, right = tree.parts(node, "this", "expression")
        parts.append(right)
    return [node, *reversed(parts)]


def find_categories(column: Category, values: Iterable[Constant]) -> list[Span]:
    """The indices of the categories; refused if one is not declared."""
    places = {category: place for place, category in enumerate(column.categories)}
    found = []
    for value in values:
        if not isinstance(value, str):
            raise refuse_value(column, value)
        if value not in places:
            raise refuse(
                "ask.unknown-category",
                value=show(value),
                name=column.name,
                nearest=nearest(value[:100], places),
            )
        found.append((places[value], places[value]))
    return found


def is_like(text: str, pattern: str) -> bool:
    """Whether the text matches a pattern of LIKE, in time bounded by the product of their lengths.

    Example
        >>> is_like("Tech-support", "Tech%"), is_like("Sales", "_ales"), is_like("Sales", "ales")
        (True, True, False)
    """
    at = star = mark = 0
    place = -1
    while at < len(text):
        if star < len(pattern) and pattern[star] == "%":
            place, mark = star, at
            star += 1
        elif star < len(pattern) and pattern[star] in ("_", text[at]):
            at, star = at + 1, star + 1
        elif place >= 0:
            mark += 1
            at, star = mark, place + 1
        else:
            return False
    return pattern[star:].strip("%") == ""


def compared_with(
    column: Column, operator: Operator, value: Constant, *, negate: bool = False
) -> Predicate:
    """The predicate of one comparison, or of its negation."""
    rows: Rows = _compared(column, operator, value)
    return written(negated(rows) if negate else rows, {column.name: column})


def _compared(column: Column, operator: Operator, value: Constant) -> Held:
    if isinstance(column, Bounded):
        steps = (instant(column, value) - origin(column)) / column.grid
        return held(column, _steps(operator, steps))
    if isinstance(column, Category):
        spans = find_categories(column, [value])
    elif isinstance(value, bool):
        spans = [(int(value), int(value))]
    else:
        raise refuse_value(column, value)
    if operator != "=":
        raise refuse("ask.column-without-order", name=column.name, type=column.type)
    return held(column, *spans)


def _steps(operator: Operator, value: Fraction) -> tuple[int | None, int | None]:
    if operator == "=":
        return math.ceil(value), math.floor(value)
    if operator in (">", ">="):
        return math.floor(value) + 1 if operator == ">" else math.ceil(value), None
    return None, math.ceil(value) - 1 if operator == "<" else math.floor(value)


def _not_a_condition(tree: Tree, node: exp.Expr, scope: Scope) -> Refused:
    """The refusal of anything but a column or a constant."""
    refuse_unquoted(node, scope)
    if isinstance(node, exp.Column):
        what = "A condition compares two columns"
    elif isinstance(node, exp.Subquery | exp.Select):
        return refuse_word("EXISTS")
    elif isinstance(node, exp.Literal | exp.Boolean | exp.Null):
        what = "A condition is about constants only"
    elif isinstance(node, exp.And | exp.Or | exp.Not | exp.Predicate):
        what = "A condition stands inside another comparison"
    elif isinstance(node, exp.Func):
        what = "A condition has a function"
    else:
        what = "A condition computes something"
    plain = "Compare a column with constants, or ask the holder for a derived column"
    instead = INSTEAD.get(name_called(node, tree.called), plain)
    return refuse("ask.not-a-condition", said=what, instead=instead)
