"""WHERE: conditions on columns, typed against the schema.

A condition compares one column with constants and nothing else, so no row can make it fail or take
longer. Comparisons of bounded columns become whole grid steps, counted from the column's `origin`:
zero for numbers (value = steps · grid), the low bound for dates and datetimes (value = low +
steps · grid, in days or seconds).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Literal

from sqlglot import exp

from ...engine.computed_column import Predicate
from ...errors import Refused, nearest, refuse
from ...schema import Boolean, Bounded, Category, Column
from ...schema.toml_values import show
from .constant import Constant, instant, read_constant, refuse_value
from .logic import Absent, Held, Rows, Span, held, negated, origin, several, written
from .scope import Scope, find_column, read_name, read_reference, refuse_unquoted
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


class Conditions:
    """The conditions of one question, in its WHERE and in those of its derived tables."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def read_condition(self, node: exp.Expr, scope: Scope) -> Predicate:
        """The predicate that a condition is."""
        return written(self._rows(node, scope), known_columns(self._tree, scope))

    def read_both(self, node: exp.Expr, scope: Scope) -> tuple[Predicate, Predicate]:
        """The predicate that a condition is, and its negation."""
        rows, columns = self._rows(node, scope), known_columns(self._tree, scope)
        return written(rows, columns), written(negated(rows), columns)

    def read_where(self, where: exp.Expr | None, scope: Scope) -> Rows | None:
        """The rows that a WHERE keeps; None for all."""
        return None if where is None else self._rows(self._tree.parts(where, "this")[0], scope)

    def _rows(self, node: exp.Expr, scope: Scope) -> Rows:
        tree, kind = self._tree, type(node)
        if kind is exp.Paren:
            return self._rows(tree.unwrap(node), scope)
        if kind is exp.And or kind is exp.Or:
            parts = (self._rows(part, scope) for part in chain(tree, node, kind))
            return several(kind is exp.And, parts)
        if kind is exp.Not:
            return negated(self._rows(tree.parts(node, "this")[0], scope))
        self._count(1)
        if kind in COMPARISONS:
            return self._comparison(node, scope)
        if kind is exp.Between:
            return self._between(node, scope)
        if kind is exp.In:
            return self._in(node, scope)
        if kind is exp.Like:
            return self._like(node, scope)
        if kind is exp.Is:
            return self._is(node, scope)
        column = self._column(node, scope)
        if not isinstance(column, Boolean):
            raise refuse("ask.condition-not-boolean", name=column.name)
        return held(column, (1, 1))

    def _count(self, parts: int) -> None:
        self._tree.conditions += parts
        if self._tree.conditions > _MOST_PARTS:
            raise refuse("ask.too-many-conditions", most_parts=_MOST_PARTS)

    def _column(self, node: exp.Expr, scope: Scope) -> Column:
        node = self._tree.unwrap(node)
        if type(node) is exp.Column and type(node.this) is exp.Identifier:
            return find_column(self._tree, node, scope)
        from .value import condition_column, labelled_column

        column: Column | None = labelled_column(self._tree, node, scope)
        column = column or condition_column(self._tree, node, scope)
        if column is not None:
            return column
        refuse_unquoted(node, scope)
        raise _not_a_condition(node, self._tree.called)

    def _constant(self, node: exp.Expr, scope: Scope) -> Constant:
        value = read_constant(self._tree, node)
        if value is not None:
            return value
        node = self._tree.unwrap(node)
        if type(node) is exp.Column and type(node.this) is exp.Identifier:
            name = read_name(self._tree, read_reference(self._tree, node, scope))
            if name in scope.columns:
                raise refuse("ask.two-columns-compared")
            refuse_unquoted(node, scope)
            raise refuse("ask.text-needs-quotes", name=name[:100])
        refuse_unquoted(node, scope)
        raise _not_a_condition(node, self._tree.called)

    def _comparison(self, node: exp.Expr, scope: Scope) -> Rows:
        left, right = self._tree.parts(node, "this", "expression")
        operator = COMPARISONS[type(node)]
        value = read_constant(self._tree, left)
        if value is not None:
            left, right, operator = right, left, FLIPPED[operator]
        column = self._column(left, scope)
        if value is None:
            value = self._constant(right, scope)
        if operator == "<>":
            return negated(_compared(column, "=", value))
        return _compared(column, operator, value)

    def _between(self, node: exp.Expr, scope: Scope) -> Rows:
        this, low, high = self._tree.parts(node, "this", "low", "high")
        column = self._column(this, scope)
        above = _compared(column, ">=", self._constant(low, scope))
        below = _compared(column, "<=", self._constant(high, scope))
        return several(True, [above, below])

    def _in(self, node: exp.Expr, scope: Scope) -> Rows:
        this, listed = self._tree.read(node, "this", "expressions")
        column = self._column(this, scope)
        if not listed:
            raise refuse("ask.empty-list")
        if isinstance(column, Bounded):  # a list of categories can only become shorter
            self._count(len(listed) - 1)
        values = [self._constant(value, scope) for value in listed]
        if isinstance(column, Category):
            return held(column, *find_categories(column, values))
        return several(False, [_compared(column, "=", value) for value in values])

    def _like(self, node: exp.Expr, scope: Scope) -> Rows:
        this, expression, negate = self._tree.read(node, "this", "expression", "negate")
        column, pattern = self._column(this, scope), self._constant(expression, scope)
        if not isinstance(column, Category) or not isinstance(pattern, str):
            raise refuse("ask.like-needs-category", name=column.name, type=column.type)
        found = (
            (place, place)
            for place, category in enumerate(column.categories)
            if is_like(category, pattern)
        )
        rows = held(column, *found)
        return negated(rows) if negate else rows

    def _is(self, node: exp.Expr, scope: Scope) -> Rows:
        this, expression = self._tree.parts(node, "this", "expression")
        if type(expression) is exp.Boolean:
            return self._is_truth(self._column(this, scope), read_constant(self._tree, expression))
        if type(expression) is not exp.Null:
            raise refuse_word("UNKNOWN")
        self._tree.read(expression)
        return Absent(self._column(this, scope).name)

    def _is_truth(self, column: Column, value: Constant | None) -> Rows:
        """IS TRUE and IS FALSE, which a missing value does not make unknown."""
        if not isinstance(column, Boolean):
            raise refuse("ask.condition-not-boolean", name=column.name)
        there = held(column, (int(value is True), int(value is True)))
        return several(True, [there, Absent(column.name, absent=False)])


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


def _not_a_condition(node: exp.Expr, called: Sequence[str]) -> Refused:
    """The refusal of anything but a column or a constant."""
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
    instead = INSTEAD.get(name_called(node, called), plain)
    return refuse("ask.not-a-condition", said=what, instead=instead)
